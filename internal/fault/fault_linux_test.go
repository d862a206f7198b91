package fault

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"

	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// possible returns the faults that this machine and this user can inject, and logs the
// others.
func possible(t *testing.T) (all []workload.Fault) {
	t.Helper()
	for _, kind := range workload.FaultKinds() {
		f := workload.Fault{Do: kind, Target: workload.TargetOne}
		err := Check(t.Context(), []workload.Fault{f}, cluster(3, t.TempDir()))
		lacking := errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) ||
			errors.Is(err, testbed.ErrNoGroups)
		switch {
		case err == nil:
			all = append(all, f)
		case os.Geteuid() == 0 && kind != workload.FaultSlowDisk && !lacking:
			t.Error(err)
		default:
			t.Logf("not tested: %v", err)
		}
	}
	return all
}

// brought starts a testbed of three toys, and checks at the test's end that it leaves
// nothing.
func brought(t *testing.T, faults ...workload.Fault) (*testbed.Testbed, *Injector) {
	t.Helper()
	base := t.TempDir()
	bed, err := testbed.Up(t.Context(), optionsOf(base, faults...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bed.Close(context.Background()); err != nil {
			t.Error(err)
		}
		nothingLeft(t, base)
	})
	return bed, New(bed, 1)
}

// nothingLeft looks for leftovers of faults: processes, mounts, loop devices, firewall
// tables and bounds of disks.
func nothingLeft(t *testing.T, base string) {
	t.Helper()
	for _, left := range leftovers(t, base) {
		t.Errorf("left behind: %s", left)
	}
	rooms, _ := filepath.Glob(filepath.Join(base, ".testbed", "*", "*"))
	if len(rooms) > 0 {
		t.Errorf("left behind: %v", rooms)
	}
}

func leftovers(t *testing.T, base string) (left []string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, base) {
			left = append(left, line)
		}
	}
	for pattern, kind := range map[string]string{
		"/sys/block/loop*/loop/backing_file": "loop device", "/proc/[0-9]*/cwd": "process",
	} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			at, err := os.Readlink(path)
			if err != nil {
				raw, _ := os.ReadFile(path)
				at = string(raw)
			}
			if strings.HasPrefix(at, base) {
				left = append(left, kind+" "+path+" "+at)
			}
		}
	}
	raw, err := os.ReadFile("/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device")
	if err == nil {
		for line := range strings.Lines(string(raw)) {
			device, _, _ := strings.Cut(line, " ")
			image, err := os.ReadFile("/sys/dev/block/" + device + "/loop/backing_file")
			// Other images are disks of other programs.
			if err != nil || strings.HasPrefix(string(image), base) {
				left = append(left, "bound "+line)
			}
		}
	}
	left = append(left, tables(t)...)
	slices.Sort(left)
	return left
}

// tables lists the firewall tables of this process and of the owner that a test killed.
func tables(t *testing.T) (all []string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	nft, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	there, err := nft.ListTables()
	if err != nil && !errors.Is(err, os.ErrPermission) {
		t.Fatal(err)
	}
	for _, table := range there {
		if owner, ours := strings.CutPrefix(table.Name, "plimsoll-"); ours {
			pid, _, _ := strings.Cut(owner, "-")
			if n, _ := strconv.Atoi(pid); n == os.Getpid() || n == killed {
				all = append(all, "table "+table.Name)
			}
		}
	}
	return all
}

// killed is the process number of the owner that a test killed.
var killed int

// everybodyAnswers checks that clients and nodes reach every node.
func everybodyAnswers(t *testing.T, bed *testbed.Testbed, after string) {
	t.Helper()
	for _, n := range bed.Cluster().Nodes() {
		if !strings.HasPrefix(ask(n.Address, "get", patience), "has") {
			t.Fatalf("after %s: %s does not answer", after, n.Name)
		}
		for _, other := range bed.Cluster().Nodes() {
			reaches := func() bool {
				return strings.HasPrefix(ask(n.Address, "ask "+other.Address, patience), "has")
			}
			for end := time.Now().Add(patience); !reaches(); {
				if time.Now().After(end) {
					t.Fatalf("after %s: %s does not reach %s", after, n.Name, other.Name)
				}
			}
		}
	}
}

func TestTwentyRoundsOfEachFaultLeaveNothing(t *testing.T) {
	faults := possible(t)
	bed, injector := brought(t, faults...)
	for _, f := range faults {
		began := time.Now()
		hit := map[string]bool{}
		for round := range 20 {
			done, err := injector.Inject(t.Context(), f, "")
			if err != nil {
				t.Fatalf("%s, round %d: %v", f.Do, round, err)
			}
			killed := f.Do == workload.FaultRestart && strings.Contains(done.Sentence, "killed")
			if len(done.Nodes) != 1 || done.Sentence == "" || killed {
				t.Errorf("%s: %+v", f.Do, done)
			}
			hit[done.Nodes[0]] = true
			if round == 0 {
				shows(t, bed, f.Do, done.Nodes[0])
				t.Log(done.Sentence)
			}
			if err := injector.Heal(t.Context()); err != nil {
				t.Fatalf("%s, round %d: %v", f.Do, round, err)
			}
			everybodyAnswers(t, bed, string(f.Do))
		}
		if len(hit) != 3 {
			t.Errorf("%s: the target one was always one of %v", f.Do, hit)
		}
		t.Logf("%s: 20 rounds in %s", f.Do, time.Since(began))
	}
}

// The steps of a rolling restart stop one machine each, cleanly.
func TestMachinesAreRestartedOneByOne(t *testing.T) {
	bed, injector := brought(t)
	names := injector.Machines()
	if len(names) != 3 {
		t.Fatalf("the machines are %v", names)
	}
	for _, name := range names {
		f := workload.Fault{Do: workload.FaultRollingRestart, Target: workload.FaultTarget(name)}
		done, err := injector.Inject(t.Context(), f, "")
		if err != nil || done.Sentence != "stopped "+name+" gracefully" {
			t.Fatalf("%+v: %v", done, err)
		}
		shows(t, bed, workload.FaultRestart, name)
		if err := injector.Heal(t.Context()); err != nil {
			t.Fatal(err)
		}
		everybodyAnswers(t, bed, name)
	}
}

// shows checks that a fault is in place at one node, and at no other.
func shows(t *testing.T, bed *testbed.Testbed, kind workload.FaultKind, name string) {
	t.Helper()
	nodes := bed.Cluster().Nodes()
	at := slices.IndexFunc(nodes, func(n system.Node) bool { return n.Name == name })
	hit, beside, other := nodes[at], nodes[(at+1)%3], nodes[(at+2)%3]
	reaches := func(from, to system.Node) bool {
		return strings.HasPrefix(ask(from.Address, "ask "+to.Address, patience), "has")
	}
	if !reaches(beside, other) || !reaches(other, beside) {
		t.Errorf("%s of %s: the others do not reach one another", kind, name)
	}
	switch kind {
	case workload.FaultKill, workload.FaultRestart, workload.FaultPowerCut:
		if alive(hit.PID) {
			t.Errorf("%s: %s still runs", kind, name)
		}
	case workload.FaultPause:
		if !alive(hit.PID) || ask(hit.Address, "get", silence) != "" {
			t.Errorf("%s: %s is not paused", kind, name)
		}
	case workload.FaultPartition:
		isolated := !reaches(hit, beside) && !reaches(other, hit)
		if !isolated || ask(hit.Address, "get", patience) == "" {
			t.Errorf("%s: %s reaches other nodes, or no client reaches it", kind, name)
		}
	case workload.FaultCutClients:
		if ask(hit.Address, "get", silence) != "" || !reaches(beside, hit) {
			t.Errorf("%s: a client reaches %s, or no node does", kind, name)
		}
	case workload.FaultFullDisk:
		line := "put " + strings.Repeat("x", 60_000)
		if got := ask(hit.Address, line, patience); !strings.Contains(got, "no space") {
			t.Errorf("%s: %s answers %q", kind, name, got)
		}
		if got := ask(beside.Address, "put x", patience); got != "done" {
			t.Errorf("%s: %s answers %q", kind, beside.Name, got)
		}
	case workload.FaultSlowDisk:
		slow, quick := syncing(hit.Address), syncing(beside.Address)
		if slow < 300*time.Millisecond {
			t.Errorf("%s: syncs take %s, and %s on another node", kind, slow, quick)
		}
	}
}

// syncing returns how long 20 syncs take. On a slow disk each takes 100 ms, but the first
// ones may be faster.
func syncing(address string) time.Duration {
	began := time.Now()
	for range 20 {
		ask(address, "sync x", patience)
	}
	return time.Since(began)
}

// A power cut loses exactly what was not synced, on every node, and the nodes come back. A
// kill loses nothing.
func TestPowerCutOfAll(t *testing.T) {
	cut := workload.Fault{Do: workload.FaultPowerCut, Target: workload.TargetAll}
	if !slices.ContainsFunc(possible(t), func(f workload.Fault) bool { return f.Do == cut.Do }) {
		t.Skip("this user cannot cut the power here")
	}
	bed, injector := brought(t, cut)
	for _, c := range []struct{ f, want string }{
		{"kill", "has kept lost"}, {"power-cut", "has kept lost kept"},
	} {
		for _, n := range bed.Cluster().Nodes() {
			for _, line := range []string{"sync kept", "put lost"} {
				if got := ask(n.Address, line, patience); got != "done" {
					t.Fatal(got)
				}
			}
		}
		f := workload.Fault{Do: workload.FaultKind(c.f), Target: workload.TargetAll}
		done, err := injector.Inject(t.Context(), f, "")
		if err != nil || len(done.Nodes) != 3 {
			t.Fatalf("%+v: %v", done, err)
		}
		t.Log(done.Sentence)
		if _, err := injector.Inject(t.Context(), cut, ""); err == nil {
			t.Error("a second fault was injected beside the first")
		}
		for range 2 {
			if err := injector.Heal(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range bed.Cluster().Nodes() {
			if got := ask(n.Address, "get", patience); got != c.want {
				t.Errorf("%s: %s %q, want %q", c.f, n.Name, got, c.want)
			}
		}
	}
}

// An existing connection is cut like a new one, in both directions.
func TestPartitionCutsClientsConnections(t *testing.T) {
	f := workload.Fault{Do: workload.FaultCutClients, Target: "n2"}
	if !slices.ContainsFunc(possible(t), func(p workload.Fault) bool { return p.Do == f.Do }) {
		t.Skip("this user cannot cut connections here")
	}
	bed, injector := brought(t, f)
	address := bed.Cluster().Nodes()[1].Address
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lines := bufio.NewReader(conn)
	hear := func(limit time.Duration) error {
		conn.SetDeadline(time.Now().Add(limit))
		conn.Write([]byte("get\n"))
		_, err := lines.ReadString('\n')
		return err
	}
	if err := hear(patience); err != nil {
		t.Fatal(err)
	}
	if _, err := injector.Inject(t.Context(), f, ""); err != nil {
		t.Fatal(err)
	}
	if err := hear(silence); err == nil {
		t.Error("an old connection is not cut")
	}
	if err := injector.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := hear(patience); err != nil {
		t.Errorf("the connection did not come back: %v", err)
	}
}

// Two testbeds run at once. A partition of one cuts an existing connection between its
// nodes, and leaves the other testbed alone.
func TestPartitionLeavesOtherTestbedsAlone(t *testing.T) {
	f := workload.Fault{Do: workload.FaultPartition, Target: "n2"}
	if !slices.ContainsFunc(possible(t), func(p workload.Fault) bool { return p.Do == f.Do }) {
		t.Skip("this user cannot cut connections here")
	}
	broken, injector := brought(t, f)
	other, _ := brought(t, f)
	// A cut lasts until it is healed, so retries cannot hide it.
	hear := func(bed *testbed.Testbed, tries int) (reply string) {
		nodes := bed.Cluster().Nodes()
		for ; tries > 0 && !strings.HasPrefix(reply, "has"); tries-- {
			reply = ask(nodes[0].Address, "keep "+nodes[1].Address, patience)
		}
		return reply
	}
	const tries = 20
	for _, bed := range []*testbed.Testbed{broken, other} {
		if got := hear(bed, tries); !strings.HasPrefix(got, "has") {
			t.Fatal(got)
		}
	}
	if _, err := injector.Inject(t.Context(), f, ""); err != nil {
		t.Fatal(err)
	}
	if got := hear(broken, 2); strings.HasPrefix(got, "has") {
		t.Errorf("not cut: %q", got)
	}
	if got := hear(other, tries); !strings.HasPrefix(got, "has") {
		t.Errorf("the other testbed is cut too: %s", got)
	}
	if err := injector.Heal(t.Context()); err != nil {
		t.Error(err)
	}
}

// Closing a testbed undoes any fault that is under way, and ends paused servers at once.
func TestCloseInTheMiddle(t *testing.T) {
	for _, f := range possible(t) {
		t.Run(string(f.Do), func(t *testing.T) {
			f.Target = workload.TargetAll
			_, injector := brought(t, f)
			if _, err := injector.Inject(t.Context(), f, ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The next process that lists the testbeds undoes the fault of a killed owner, and touches
// no testbed of a living owner.
func TestKilledInTheMiddle(t *testing.T) {
	faults := possible(t)
	for _, f := range faults {
		t.Run(string(f.Do), func(t *testing.T) {
			base := t.TempDir()
			bed, err := testbed.Up(t.Context(), optionsOf(base, f))
			if err != nil {
				t.Fatal(err)
			}
			defer bed.Close(context.Background())
			injector := New(bed, 1)
			if _, err := injector.Inject(t.Context(), f, ""); err != nil {
				t.Fatal(err)
			}
			before := leftovers(t, base)
			killed = breakAndKill(t, base, f.Do)
			if _, _, err := testbed.List(t.Context(), base); err != nil {
				t.Fatal(err)
			}
			// The killed owner's servers vanish only when their new parent has
			// collected them.
			end := time.Now().Add(patience)
			for !slices.Equal(leftovers(t, base), before) && time.Now().Before(end) {
				time.Sleep(10 * time.Millisecond)
			}
			if after := leftovers(t, base); !slices.Equal(after, before) {
				t.Errorf("before there was %v, and after %v", before, after)
			}
			if err := injector.Heal(t.Context()); err != nil {
				t.Error(err)
			}
			everybodyAnswers(t, bed, string(f.Do))
			if err := bed.Close(t.Context()); err != nil {
				t.Error(err)
			}
			nothingLeft(t, base)
		})
	}
}

// breakAndKill starts an owner that injects a fault into its testbed, kills the owner and
// returns its process number.
func breakAndKill(t *testing.T, base string, kind workload.FaultKind) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerEnv+"="+base, faultEnv+"="+string(kind))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	if line != "broken\n" {
		t.Fatalf("the owner printed %q: %v", line, err)
	}
	return cmd.Process.Pid
}
