package overview

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestTargetsAreAnsweredTogether(t *testing.T) {
	quick, slow, lossy := fixture.Steady(t, "quick", 300), fixture.Steady(t, "slow", 900),
		fixture.Steady(t, "lossy", 300)
	lossy.Run.Ledger.Subscriptions[0].Lost = 3
	again := fixture.Small
	again.Name = "again"
	tailed := fixture.Shape{Name: "tailed", System: "nats", Seconds: 30, Rate: 20_000, MedianU: 300,
		Tail: 30}.Load(t)
	cold := fixture.Steady(t, "cold-one", 300)
	cold.Run.Verdicts = append(cold.Run.Verdicts, result.Verdict{Name: verdict.Steady,
		Outcome: result.Broken, Sentence: "cold: its p50 fell"})
	for name, c := range map[string]struct {
		runs []*result.Saved
		want []string
	}{
		"one is faster": {[]*result.Saved{slow, quick}, []string{"At level 2 and 20k/s of ",
			"quick publishes 2.8x (", ") faster than slow at p50"}},
		"itself": {[]*result.Saved{quick, quick}, []string{"no difference was shown"}},
		"only in the tail": {[]*result.Saved{quick, tailed}, []string{
			"between quick and tailed no difference was shown at p50, but quick publishes ",
			") faster than tailed at p99"}},
		"brief": {[]*result.Saved{fixture.Small.Load(t), again.Load(t)},
			[]string{"were measured too briefly to tell them apart"}},
		"a loss": {[]*result.Saved{slow, lossy}, []string{": lossy lost 3 messages; "}},
		"a cold": {[]*result.Saved{quick, cold}, []string{"only quick can be ranked",
			"cold-one is not ranked: cold; measure longer"}},
		"no rank": {[]*result.Saved{cold}, []string{"cold-one is not ranked: cold"}},
	} {
		fixture.Says(t, name, Answer(c.runs), c.want...)
	}
	other := fixture.Steady(t, "other", 300)
	other.Run.Durability.Level = 4
	if got := Answer([]*result.Saved{quick, other}); !strings.HasPrefix(got,
		"Not to be ranked: these runs are not comparable") {
		t.Error(got)
	}
}

// What was lost is said only if it is known, and what came damaged beside it.
func TestAnswersSayWhatIsKnownToBeLost(t *testing.T) {
	run := func(change func(*result.Run)) []*result.Saved {
		first, s := fixture.Steady(t, "one", 300), fixture.Steady(t, "one", 300)
		first.Run.Trial, s.Run.Trial = &result.Trial{}, &result.Trial{}
		change(&s.Run)
		return []*result.Saved{first, s}
	}
	for want, change := range map[string]func(*result.Run){
		"; lost 0.":                   func(*result.Run) {},
		"; lost unknown.":             func(r *result.Run) { r.Ledger.Subscriptions[0].Unread = 4 },
		"one delivered 1 damaged mes": func(r *result.Run) { r.Ledger.Subscriptions[0].Corrupt = 1 },
	} {
		if got := Answer(run(change)); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if got := Answer(run(func(r *result.Run) {
		r.Ledger.Accounted = false
	})); strings.Contains(got, "lost") {
		t.Error(got)
	}
}

func TestClosingSaysTheLimitOnce(t *testing.T) {
	s := fixture.Small.Load(t)
	s.Run.Summary.Generator.Limited = true
	s.Run.Verdicts = []result.Verdict{{Name: verdict.Generator, Outcome: result.Broken,
		Sentence: "plimsoll itself was the limit: it was late"}}
	if got, want := Closing([]*result.Saved{s}), "plimsoll itself was the limit, so the figures "+
		"are not the system's: it was late"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
