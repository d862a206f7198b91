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
	return Cluster{
		System: "toys", Provisioner: toys{},
		Provision: system.Provision{Nodes: nodes}, Base: base,
	}
}

func TestCheckRefusesImpossibleFaults(t *testing.T) {
	inProcess := Cluster{System: "toys", Provisioner: toys{none: true}}
	for _, c := range []struct {
		f    workload.Fault
		to   Cluster
		want string
	}{
		{workload.Fault{Do: "kill", Target: "one"}, Cluster{System: "kafka"},
			"faults: plimsoll breaks only servers that it starts: leave the endpoints out"},
		{workload.Fault{Do: "kill", Target: "one"}, inProcess,
			"run in one process and cannot be broken one by one"},
		{workload.Fault{Do: "kill", Target: "n4"}, cluster(3, ""),
			"fault kill n4: there is no node of that name: the nodes are n1, n2, n3"},
		{workload.Fault{Do: "kill", Target: "minority"}, cluster(2, ""),
			"a minority needs at least three nodes, not 2"},
		{workload.Fault{Do: "kill", Target: "follower"}, cluster(1, ""),
			"one node has no follower"},
		{workload.Fault{Do: "explode", Target: "one"}, cluster(3, ""),
			`there is no fault "explode": the faults are kill pause`},
	} {
		err := Check(t.Context(), []workload.Fault{{Do: "kill", Target: "one"}, c.f}, c.to)
		if !isSentence(err, c.want) {
			t.Errorf("%s %s: %v, want %q", c.f.Do, c.f.Target, err, c.want)
		}
	}
	for _, target := range []workload.FaultTarget{
		"one", "leader", "follower", "minority", "majority", "all", "n3",
	} {
		f := workload.Fault{Do: "kill", Target: target}
		if err := Check(t.Context(), []workload.Fault{f}, cluster(3, "")); err != nil {
			t.Error(err)
		}
	}
	if err := Check(t.Context(), nil, Cluster{}); err != nil {
		t.Error(err)
	}
}

// isSentence reports whether an error of one line holds a text.
func isSentence(err error, want string) bool {
	return err != nil && strings.Contains(err.Error(), want) &&
		!strings.Contains(err.Error(), "\n")
}

// A user other than root may kill, pause and restart. Check refuses the other faults in one
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
		nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: nobody}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	for _, kind := range workload.FaultKinds() {
		faults := []workload.Fault{{Do: kind, Target: "one"}}
		err := Check(t.Context(), faults, cluster(3, t.TempDir()))
		if Prepare([]workload.Fault{{Do: kind}}) == (testbed.Preparation{}) {
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			}
			continue
		}
		if !isSentence(err, "fault "+string(kind)+": ") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestFaultsNeedAPreparedTestbed(t *testing.T) {
	base := t.TempDir()
	bed, err := testbed.Up(t.Context(), optionsOf(base))
	if err != nil {
		t.Fatal(err)
	}
	defer bed.Close(t.Context())
	injector := New(bed, 1)
	for kind, want := range map[workload.FaultKind]string{
		"power-cut": "power-cut: the nodes have no disks of their own",
		"partition": "partition: the nodes have no groups of their own",
		"kill":      "there is no node", "explode": "there is no fault",
	} {
		f := workload.Fault{Do: kind, Target: workload.TargetAll}
		if kind == "kill" {
			f.Target = "n7"
		}
		_, err := injector.Inject(t.Context(), f, "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	// A refused fault is not under way.
	kill := workload.Fault{Do: "kill", Target: "all"}
	if _, err := injector.Inject(t.Context(), kill, ""); err != nil {
		t.Error(err)
	}
	if err := injector.Heal(t.Context()); err != nil {
		t.Error(err)
	}
}
