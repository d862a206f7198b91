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

// named returns the processes that the testbed's target names.
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
	// The path is longer than that of a socket may be.
	s := up(t, filepath.Join(t.TempDir(), strings.Repeat("deep", 30), "runs"), wish{})
	before := named(t, s)
	n, err := Kill(within(t), s, "n1")
	if err != nil || n.Alive || n.PID != s.Nodes[0].PID || syscall.Kill(n.PID, 0) == nil {
		t.Fatalf("killed: %+v, %v", n, err)
	}
	base := filepath.Dir(filepath.Dir(s.Dir))
	if all, _ := list(t, base); all[0].Nodes[0].Alive || !all[0].Nodes[1].Alive {
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
	all, _ := list(t, base)
	if got := all[0].Nodes[0]; !got.Alive || got.PID != n.PID {
		t.Errorf("listed %+v", got)
	}
	if got := named(t, s); len(got) != 2 || got[0].PID != n.PID {
		t.Errorf("the target names %v", got)
	}
	_, err = Kill(within(t), s, "n2")
	if err == nil || err.Error() != "bed: only n1 can be killed" {
		t.Errorf("an error of the cluster: %v", err)
	}
	_, err = Kill(within(t), s, "n3")
	if err == nil || err.Error() != "bed has no node n3: its nodes are n1, n2" {
		t.Errorf("an unknown node: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ended, s, "n1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := Down(within(t), s); err != nil {
		t.Fatal(err)
	}
	if left := rooms(t, base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	_, err = Start(within(t), s, "n1")
	if err == nil || !strings.Contains(err.Error(), "bed does not answer") {
		t.Errorf("a testbed that is down: %v", err)
	}
}

func TestInProcessServersAreNotKilled(t *testing.T) {
	s := up(t, t.TempDir(), wish{Whole: true})
	_, err := Kill(within(t), s, "n1")
	if err == nil || !strings.Contains(err.Error(), "run in one process") {
		t.Errorf("got %v", err)
	}
	if _, err := Down(within(t), s); err != nil {
		t.Fatal(err)
	}
}

// killer is an injector that knows one fault, kill.
type killer struct {
	bed    *Testbed
	killed bool
}

func (k *killer) Inject(_ context.Context, f workload.Fault, _ string) (system.Injected, error) {
	if f.Do != workload.FaultKill {
		return system.Injected{}, errors.New("only kill is possible")
	}
	k.killed = true
	node := string(f.Target)
	return system.Injected{Nodes: []string{node}, Sentence: "done"},
		k.bed.Cluster().(system.Restarter).Kill(node)
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
	_, err := Break(within(t), s, workload.Fault{Do: workload.FaultPause, Target: "n1"})
	if err == nil || err.Error() != "bed: only kill is possible" {
		t.Errorf("an error of the injector: %v", err)
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
		t.Errorf("healed: %+v", n)
	}
	t.Cleanup(func() { _ = syscall.Kill(n.PID, syscall.SIGKILL) })
	if _, err := Down(within(t), s); err != nil {
		t.Fatal(err)
	}
}
