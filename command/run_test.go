package command

import (
	"context"
	"errors"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// A run that stopped at its limit of cost has its own exit code. Worse results take precedence.
func TestExitOfRuns(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	complete := &result.Saved{Run: result.Run{State: result.Complete}}
	stopped := &result.Saved{Run: result.Run{State: result.Interrupted}}
	unsound := &result.Saved{Run: result.Run{State: result.Complete,
		Verdicts: []result.Verdict{{Name: "loss", Outcome: result.Broken}}}}
	for name, c := range map[string]struct {
		ctx    context.Context
		runs   []*result.Saved
		passed bool
		want   int
	}{
		"complete":            {t.Context(), []*result.Saved{complete}, true, exitDone},
		"one stopped":         {t.Context(), []*result.Saved{stopped, complete}, true, exitSpent},
		"stopped and unsound": {t.Context(), []*result.Saved{stopped, unsound}, true, exitFailed},
		"stopped and gated":   {t.Context(), []*result.Saved{stopped}, false, exitFailed},
		"on request":          {ended, []*result.Saved{stopped}, false, exitInterrupted},
	} {
		code, err := exitError(exitDone), (&runCommand{}).exit(c.ctx, c.runs, c.passed, nil)
		if (err != nil && !errors.As(err, &code)) || int(code) != c.want {
			t.Errorf("%s: %v, want %d", name, err, c.want)
		}
	}
	failed := errors.New("no servers")
	err := (&runCommand{}).exit(t.Context(), []*result.Saved{stopped}, false, failed)
	if !errors.Is(err, failed) {
		t.Error(err)
	}
}
