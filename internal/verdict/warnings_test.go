package verdict

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
)

// warned returns the codes of the warnings of a run that was not judged.
func warned(r *result.Run) string {
	var out []string
	for _, w := range warnings(r, nil) {
		out = append(out, w.Code)
	}
	return strings.Join(out, " ")
}

// backlogOf is a backlog that was read from a time on, and publish p99 before and meanwhile.
func backlogOf(beforeNs, duringNs, firstNs int64) *result.Backlog {
	with := func(ns int64) []result.Latency {
		return []result.Latency{{Series: result.Publish,
			Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: ns}}}}
	}
	return &result.Backlog{Then: "drain", FirstNs: firstNs, Stretches: []result.Stretch{
		{Name: result.Before, Latency: with(beforeNs)},
		{Name: result.During, Latency: with(duringNs)}}}
}

func period(ns int64) func(*result.Run) {
	return func(r *result.Run) { r.System.Periods = []result.Period{{What: "vacuum", Ns: ns}} }
}

// Whatever bends the figures has a warning, and at the bound there is none.
func TestEachInfluenceHasAWarning(t *testing.T) {
	hiccup := func(ns int64) func(*result.Run) {
		return func(r *result.Run) {
			r.Summary.Latency = append(r.Summary.Latency,
				result.Latency{Series: result.Hiccup, MaxNs: ns})
		}
	}
	for name, c := range map[string]struct {
		change func(*result.Run)
		want   string // empty: no warning
	}{
		"nothing":            {func(*result.Run) {}, ""},
		"a pause of 50 ms":   {hiccup(50e6), ""},
		"a longer pause":     {hiccup(50e6 + 1), "hiccup"},
		"an unsent message":  {func(r *result.Run) { r.Counters.Unsent = 1 }, "censored"},
		"an unknown message": {func(r *result.Run) { r.Counters.Unknown = 1 }, "censored"},
		"a refused message":  {func(r *result.Run) { r.Counters.Failed = 1 }, "censored"},
		"a refused one that came": {func(r *result.Run) {
			r.Ledger.Subscriptions[0].RefusedReceived = 1
		}, "refused_received"},
		"a latency beyond an hour": {func(r *result.Run) { r.Summary.Latency[0].Clamped = 1 },
			"range"},
		"a latency below 0": {func(r *result.Run) { r.Summary.Latency[0].Negative = 1 }, "range"},
		"a backlog that was read": {func(r *result.Run) { r.Backlog = backlogOf(5e6, 4e6, 1) },
			"backlog"},
		"a backlog that was not read": {func(r *result.Run) { r.Backlog = backlogOf(5e6, 4e6, 0) },
			""},
		"a backlog before a steady state": {func(r *result.Run) {
			r.Backlog = backlogOf(5e6, 4e6-1, 0)
		}, "backlog_unsteady"},
		"a warm-up that settled": {func(r *result.Run) {
			r.Settling = &result.Settling{Settled: true}
		}, ""},
		"a warm-up that never settled": {func(r *result.Run) {
			r.Settling = &result.Settling{}
		}, "never_settled"},
		"a period longer than the window": {period(10e9 + 1), "periods"},
		"a period as long as the window":  {period(10e9), ""},
		"a cold page cache":               {func(r *result.Run) { r.Load.DropPageCache = true }, "page_cache"},
		"servers on one machine": {func(r *result.Run) { r.System.SharesHost = true },
			"shared_host"},
		"a stand-in": {func(r *result.Run) {
			r.Durability.Evidence = []result.Fact{{Name: "fsync"}, {Name: system.StandIn}}
		}, "stand_in"},
	} {
		r := good()
		c.change(r)
		if got := warned(r); got != c.want {
			t.Errorf("%s: warnings %q, want %q", name, got, c.want)
		}
	}
	once := good()
	once.Load.Delivery, once.Ledger.Subscriptions[0].RefusedReceived = "exactly_once", 1
	if got := warned(once); strings.Contains(got, "refused_received") {
		t.Errorf("exactly_once delivery has a verdict on refused messages, and the warnings %q", got)
	}
}

// What became of the messages without an answer is known when a run has ended.
func TestNothingIsCountedBeforeItIsKnown(t *testing.T) {
	for state, c := range map[result.State]struct{ says, not string }{
		result.Running:     {"12 messages refused", "never"},
		result.Incomplete:  {"12 messages refused", "never"},
		result.Interrupted: {"1 message never answered, 12 refused", "never sent"},
	} {
		r := good()
		r.State = state
		r.Counters.Acked, r.Counters.Failed, r.Counters.Unknown = 9_987, 12, 1
		Judge(r)
		said := ""
		for _, w := range r.Warnings {
			said += w.Sentence + "\n"
		}
		for _, v := range r.Verdicts {
			if v.Name == Failures {
				said += v.Outcome + ": " + v.Sentence
			}
		}
		if strings.Count(said, c.says) < 2 || strings.Contains(said, c.not) ||
			!strings.Contains(said, "broken: "+c.says) {
			t.Errorf("%s:\n%s", state, said)
		}
		r.Counters.Acked, r.Counters.Failed, r.Counters.Unknown = 10_000, 0, 0
		Judge(r)
		for _, v := range r.Verdicts {
			if holds := state == result.Interrupted; v.Name == Failures &&
				(v.Outcome == result.Holds) != holds {
				t.Errorf("%s: %+v", state, v)
			}
		}
	}
}

// plimsoll's counts agree only with those of the warm-up.
func TestCountsIncludeTheWarmUp(t *testing.T) {
	warm := func() *result.Run {
		r := good()
		r.Warmup = result.Counters{Scheduled: 500, Acked: 500, Received: 500}
		l := &r.Ledger.Subscriptions[0]
		l.Acked, l.Received = 10_500, 10_400
		l.Duplicate = 100 // copies are received too
		// A subscription that reads a backlog later is not in the counters.
		r.Ledger.Subscriptions = append(r.Ledger.Subscriptions,
			result.SubscriptionLedger{Acked: 10_500, Received: 77})
		return r
	}
	if v := counts(warm()); v.Outcome != result.Holds ||
		!strings.Contains(v.Sentence, "10,500 acknowledged, 10,500 received") {
		t.Errorf("%+v", v)
	}
	for name, change := range map[string]func(*result.Run){
		"one acknowledged less": func(r *result.Run) { r.Warmup.Acked-- },
		"one received less":     func(r *result.Run) { r.Warmup.Received-- },
		"a copy less":           func(r *result.Run) { r.Ledger.Subscriptions[0].Duplicate-- },
		"an arrival less":       func(r *result.Run) { r.Ledger.Subscriptions[0].Received-- },
		"one timed more":        func(r *result.Run) { r.Summary.Latency[0].Count++ },
	} {
		r := warm()
		change(r)
		if v := counts(r); v.Outcome != result.Broken {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// What consumers gave back must come again, once the run had the time for it.
func TestRedeliveryVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		back, again int64
		state       result.State
		want        string
	}{
		"nothing given back":     {0, 0, result.Complete, result.Unknown},
		"all came again":         {7, 7, result.Complete, result.Holds},
		"one did not":            {7, 6, result.Complete, result.Broken},
		"one did not, cut short": {7, 6, result.Interrupted, result.Unknown},
		"all came, cut short":    {7, 7, result.Interrupted, result.Holds},
	} {
		r := good()
		r.State = c.state
		l := result.SubscriptionLedger{GivenBack: c.back, Redelivered: c.again}
		if v := redelivery(r, l); v.Outcome != c.want {
			t.Errorf("%s: %s, want %s: %s", name, v.Outcome, c.want, v.Sentence)
		}
	}
}

// A run that carried 99% of what was offered carried it, and one that carried less did not.
func TestTheBoundsOfTheRate(t *testing.T) {
	for achieved, want := range map[float64]string{990: result.Holds, 989.9: result.Broken} {
		r := good()
		r.Summary.AchievedRate = achieved
		if v := rate(r); v.Outcome != want {
			t.Errorf("%v/s of 1,000/s: %s, want %s", achieved, v.Outcome, want)
		}
	}
	r := good()
	r.Summary.OfferedRate = 0
	if v := rate(r); v.Outcome != result.Unknown {
		t.Errorf("nothing was offered: %s", v.Outcome)
	}
}
