package command

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// saved writes a run of 100,000 messages, with given numbers of messages that took 50 ms or were
// refused. The others took 200 us.
func saved(t *testing.T, root, name string, slow, refused int64) string {
	t.Helper()
	run := result.Run{
		SchemaVersion: result.SchemaVersion, ID: name, Name: name, Seed: 1,
		StartedAt: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), State: result.Running,
	}
	w, err := result.Create(root, &run)
	if err != nil {
		t.Fatal(err)
	}
	const all = 100_000
	h := result.NewHistogram()
	_ = h.RecordValues(200_000, all-slow-refused)
	_ = h.RecordValues(50_000_000, slow)
	missing := result.Missing{Refused: refused}
	run.State, run.Load.Model = result.Complete, result.OpenLoop
	run.Counters = result.Counters{Scheduled: all, Acked: all - refused, Failed: refused}
	run.Summary = result.Summary{WindowNs: 10e9, AchievedRate: float64(all-refused) / 10}
	run.Summary.Latency = []result.Latency{result.Censored(result.Publish, h, nil, missing, 0, 0)}
	if err := w.Close(&run); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

// A run of B that could not go on passes no gate, and one of A says nothing about B.
func TestFailedRunsPassNoGate(t *testing.T) {
	root := t.TempDir()
	for _, side := range []string{"a", "b"} {
		for _, name := range []string{"1", "2"} {
			dir := saved(t, filepath.Join(root, side), side+name, 0, 0)
			if name == "2" {
				s, err := result.Read(dir)
				if err != nil {
					t.Fatal(err)
				}
				s.Run.State, s.Run.StateReason = result.Failed, "node n1 ended by itself"
				if err := result.Save(dir, &s.Run); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	cmd := self(t, root, "compare", "a", "b", "--fail-if", "unknown > 0")
	out, _ := cmd.CombinedOutput()
	said := strings.Join(strings.Fields(string(out)), " ")
	if cmd.ProcessState.ExitCode() != exitFailed ||
		!strings.Contains(said, "fails: run b2 could not go on: node n1 ended by itself") ||
		strings.Contains(said, "run a2 could not") {
		t.Errorf("exits with %d:\n%s", cmd.ProcessState.ExitCode(), out)
	}
}

// B refuses exactly the messages that are slow in A. That is no improvement: the gate fails, with
// --anyway too. Where A refused them, the comparison is refused.
func TestRefusingSlowMessagesPassesNoGate(t *testing.T) {
	root := t.TempDir()
	a, b := saved(t, root, "a", 1500, 0), saved(t, root, "b", 0, 1500)
	gate := []string{"--fail-if", "publish.p99 > 1.1x"}
	for _, c := range []struct {
		more string
		args []string
		code int
		want []string
	}{
		{"A, then B", []string{a, b}, exitFailed, []string{"warning the sides differ",
			"gate latencies of B fails: ",
			"without a publish latency: 0 of 100,000 in A, 1,500 of 100,000, 1.5%"}},
		{"B, then A", []string{b, a}, exitUsage, []string{"and --anyway all figures",
			"without a publish latency: 1,500 of 100,000, 1.5%"}},
		{"--anyway", []string{a, b, "--anyway"}, exitFailed,
			[]string{"fails: publish.p99 is not reached in B", "not reached against 50ms"}},
	} {
		cmd := self(t, root, slices.Concat([]string{"compare"}, c.args, gate)...)
		out, err := cmd.CombinedOutput()
		said := strings.Join(strings.Fields(string(out)), " ")
		if _, exited := err.(*exec.ExitError); !exited || cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%q exits with %d, want %d: %v", c.more, cmd.ProcessState.ExitCode(), c.code,
				err)
		}
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%q lacks %q:\n%s", c.more, want, out)
			}
		}
		if strings.Contains(said, "lower") {
			t.Errorf("%q says lower:\n%s", c.more, out)
		}
	}
}
