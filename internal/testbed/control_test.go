package testbed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// named are the servers that the testbed's target names.
func named(t *testing.T, s State) []target.Process {
	t.Helper()
	raw, err := os.ReadFile(s.Target)
	if err != nil {
		t.Fatal(err)
	}
	to, err := target.Parse(s.Target, raw)
	if err != nil {
		t.Fatal(err)
	}
	return to.Processes
}

func TestKillAndStart(t *testing.T) {
	// Deeper than a socket's path may be long.
	s := up(t, filepath.Join(t.TempDir(), strings.Repeat("deep", 30), "runs"), wish{})
	before := named(t, s)
	n, err := Kill(within(t), s, "n1")
	if err != nil || n.Alive || n.PID != s.Nodes[0].PID || syscall.Kill(n.PID, 0) == nil {
		t.Fatalf("killed: %+v, %v", n, err)
	}
	if all, _ := list(t, filepath.Dir(filepath.Dir(s.Dir))); all[0].Nodes[0].Alive || !all[0].Nodes[1].Alive {
		t.Errorf("listed %+v", all[0].Nodes)
	}
	if got := named(t, s); !slices.Equal(got, before[1:]) {
		t.Errorf("the target names %v", got)
	}
	n, err = Start(within(t), s, "n1")
	if err != nil || !n.Alive || n.PID == s.Nodes[0].PID {
		t.Fatalf("started: %+v, %v", n, err)
	}
	t.Cleanup(func() { _ = syscall.Kill(n.PID, syscall.SIGKILL) })
	all, _ := list(t, filepath.Dir(filepath.Dir(s.Dir)))
	if got := all[0].Nodes[0]; !got.Alive || got.PID != n.PID {
		t.Errorf("listed %+v", got)
	}
	if got := named(t, s); len(got) != 2 || got[0].PID != n.PID {
		t.Errorf("the target names %v", got)
	}
	if _, err := Kill(within(t), s, "n2"); err == nil || err.Error() != "bed: not that one" {
		t.Errorf("what the cluster refuses: %v", err)
	}
	if _, err := Kill(within(t), s, "n3"); err == nil || err.Error() != "bed has no node n3: its nodes are n1, n2" {
		t.Errorf("a node that is not there: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ended, s, "n1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := Down(within(t), s); err != nil {
		t.Fatal(err)
	}
	if left := rooms(t, filepath.Dir(filepath.Dir(s.Dir))); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := Start(within(t), s, "n1"); err == nil || !strings.Contains(err.Error(), "bed does not answer") {
		t.Errorf("one that is down: %v", err)
	}
}

func TestServersOfOneProcessAreNotKilled(t *testing.T) {
	s := up(t, t.TempDir(), wish{Whole: true})
	if _, err := Kill(within(t), s, "n1"); err == nil || !strings.Contains(err.Error(), "live in one process") {
		t.Errorf("got %v", err)
	}
	if _, err := Down(within(t), s); err != nil {
		t.Fatal(err)
	}
}

// killer knows one fault.
type killer struct {
	bed    *Testbed
	killed bool
}

func (k *killer) Inject(_ context.Context, f workload.Fault, _ string) (system.Injected, error) {
	if f.Do != workload.FaultKill {
		return system.Injected{}, errors.New("not that one")
	}
	k.killed = true
	return system.Injected{Nodes: []string{string(f.Target)}, Sentence: "done"}, k.bed.Cluster().(system.Restarter).Kill(string(f.Target))
}

func (k *killer) Heal(context.Context) error {
	if !k.killed {
		return nil
	}
	k.killed = false
	return k.bed.Cluster().(system.Restarter).Restart("n1")
}

func TestBreakAndHeal(t *testing.T) {
	s := up(t, t.TempDir(), wish{})
	if _, err := Break(within(t), s, workload.Fault{Do: workload.FaultPause, Target: "n1"}); err == nil || err.Error() != "bed: not that one" {
		t.Errorf("what the injector refuses: %v", err)
	}
	done, err := Break(within(t), s, workload.Fault{Do: workload.FaultKill, Target: "n1"})
	if err != nil || done.Sentence != "done" || !slices.Equal(done.Nodes, []string{"n1"}) {
		t.Fatalf("%+v: %v", done, err)
	}
	base := filepath.Dir(filepath.Dir(s.Dir))
	if all, _ := list(t, base); all[0].Nodes[0].Alive || len(named(t, s)) != 1 {
		t.Errorf("broken: %+v", all[0].Nodes)
	}
	if err := Heal(within(t), s); err != nil {
		t.Fatal(err)
	}
	all, _ := list(t, base)
	n := all[0].Nodes[0]
	if !n.Alive || n.PID == s.Nodes[0].PID || len(named(t, s)) != 2 {
		t.Errorf("mended: %+v", n)
	}
	t.Cleanup(func() { _ = syscall.Kill(n.PID, syscall.SIGKILL) })
	if _, err := Down(within(t), s); err != nil {
		t.Fatal(err)
	}
}
