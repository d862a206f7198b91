package fault

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func cluster(nodes int, base string) Cluster {
	return Cluster{System: "toys", Provisioner: toys{}, Provision: system.Provision{Nodes: nodes}, Base: base}
}

func TestWhatCannotBeDoneIsSaidBefore(t *testing.T) {
	for _, c := range []struct {
		f    workload.Fault
		to   Cluster
		want string
	}{
		{workload.Fault{Do: "kill", Target: "one"}, Cluster{System: "kafka"}, "faults: the servers of kafka are not plimsoll's to break: leave the endpoints out"},
		{workload.Fault{Do: "kill", Target: "one"}, Cluster{System: "toys", Provisioner: toys{none: true}}, "live in one process and cannot be broken one by one"},
		{workload.Fault{Do: "kill", Target: "n4"}, cluster(3, ""), "fault kill n4: there is no node of that name: the nodes are n1, n2, n3"},
		{workload.Fault{Do: "kill", Target: "minority"}, cluster(2, ""), "a minority of 2 is none"},
		{workload.Fault{Do: "kill", Target: "follower"}, cluster(1, ""), "one node has no follower"},
		{workload.Fault{Do: "explode", Target: "one"}, cluster(3, ""), `there is no fault "explode": those that are: kill pause`},
	} {
		err := Check(t.Context(), []workload.Fault{{Do: "kill", Target: "one"}, c.f}, c.to)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %s: %v, want %q", c.f.Do, c.f.Target, err, c.want)
		}
	}
	for _, whom := range []workload.FaultTarget{"one", "leader", "follower", "minority", "majority", "all", "n3"} {
		if err := Check(t.Context(), []workload.Fault{{Do: "kill", Target: whom}}, cluster(3, "")); err != nil {
			t.Error(err)
		}
	}
	if err := Check(t.Context(), nil, Cluster{}); err != nil {
		t.Error(err)
	}
}

// Whoever is not root may kill, pause and restart, and is told of the rest in a
// sentence.
func TestNobody(t *testing.T) {
	if os.Geteuid() == 0 {
		program, err := os.Open(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		cmd := exec.Command("/proc/self/fd/3", "-test.run", "^TestNobody$")
		cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{}, "/", []*os.File{program}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	for _, kind := range workload.FaultKinds() {
		err := Check(t.Context(), []workload.Fault{{Do: kind, Target: "one"}}, cluster(3, t.TempDir()))
		if Prepare([]workload.Fault{{Do: kind}}) == (testbed.Preparation{}) {
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "fault "+string(kind)+": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestFaultsThatServersWereNotPreparedForAreRefused(t *testing.T) {
	base := t.TempDir()
	bed, err := testbed.Up(t.Context(), optionsOf(base))
	if err != nil {
		t.Fatal(err)
	}
	defer bed.Close(t.Context())
	injector := New(bed, 1)
	for kind, want := range map[workload.FaultKind]string{
		"power-cut": "power-cut: the nodes have no disks of their own", "partition": "partition: the nodes cannot be told apart",
		"kill": "there is no node", "explode": "there is no fault",
	} {
		whom := workload.TargetAll
		if kind == "kill" {
			whom = "n7"
		}
		if _, err := injector.Inject(t.Context(), workload.Fault{Do: kind, Target: whom}, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	// None of them is under way now.
	if _, err := injector.Inject(t.Context(), workload.Fault{Do: "kill", Target: "all"}, ""); err != nil {
		t.Error(err)
	}
	if err := injector.Heal(t.Context()); err != nil {
		t.Error(err)
	}
}
