package compare

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Trials come in the order of plimsoll run, also when a round began with another target.
func TestRunsAreGroupedByTarget(t *testing.T) {
	run := func(name string, target int) *result.Saved {
		return &result.Saved{Run: result.Run{Name: name, Trial: &result.Trial{Target: target}}}
	}
	got := ByTarget([]*result.Saved{run("b", 1), run("a", 0), run("a", 0), run("b", 1)})
	if len(got) != 2 || got[0].Name != "a" || got[1].Name != "b" || len(got[0].Runs) != 2 {
		t.Errorf("%+v", got)
	}
}
