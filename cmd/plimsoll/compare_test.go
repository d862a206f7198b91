package main

import (
	"os/exec"
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

// B refuses exactly the messages that are slow in A. That is no improvement: the comparison is
// refused, and with --anyway the gate fails.
func TestRefusingSlowMessagesPassesNoGate(t *testing.T) {
	root := t.TempDir()
	a, b := saved(t, root, "a", 1500, 0), saved(t, root, "b", 0, 1500)
	gate := []string{"compare", a, b, "--fail-if", "publish.p99 > 1.1x"}
	for _, c := range []struct {
		more string
		code int
		want []string
	}{
		{"", 2, []string{"without a publish latency: 0 of 100,000 in A, 1,500 of 100,000, 1.5%"}},
		{"--anyway", 1,
			[]string{"fails: publish.p99 is not reached in B", "not reached against 50ms"}},
	} {
		args := gate
		if c.more != "" {
			args = append(args, c.more)
		}
		cmd := self(t, root, args...)
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
