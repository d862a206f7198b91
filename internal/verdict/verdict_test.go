package verdict

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// good is a run to which nothing is wrong.
func good() *result.Run {
	at := func(s result.Series, p50, p99 int64) result.Latency {
		return result.Latency{Series: s, Count: 10_000, Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: p50}, {Percentile: 99, LatencyNs: p99}}}
	}
	return &result.Run{
		State: result.Complete, Durability: result.Durability{Asked: 2, Level: 2, Meaning: "m"},
		Counters: result.Counters{Scheduled: 10_000, Acked: 10_000},
		Ledger:   result.Ledger{Accounted: true, Subscriptions: []result.SubscriptionLedger{{Acked: 10_000, Received: 10_000}}},
		Summary: result.Summary{
			OfferedRate: 1000, AchievedRate: 999, WindowNs: 1e10,
			Latency:   []result.Latency{at(result.Publish, 2e6, 8e6), at(result.Lag, 5e4, 2e5)},
			Generator: result.Generator{OwnLagP99Ns: 2e5, CPUShare: 0.2},
			Little:    result.LittlesLaw{SampledInFlight: 10, ExpectedInFlight: 10.2, Miss: 0.02, Samples: 1000},
		},
	}
}

func TestAGoodRunHolds(t *testing.T) {
	r := good()
	Judge(r)
	for _, v := range r.Verdicts {
		if v.Outcome != result.Holds {
			t.Errorf("%s: %s: %s", v.Name, v.Outcome, v.Sentence)
		}
	}
	if len(r.Warnings) != 0 || !Sound(r) || r.Summary.Generator.Limited {
		t.Errorf("warnings %v, sound %v", r.Warnings, Sound(r))
	}
}

// Each thing that can be wrong is found, by its own verdict and no other.
func TestEachFaultIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		spoil   func(*result.Run)
		verdict string
		outcome string
		sound   bool
	}{
		"own lag":        {func(r *result.Run) { r.Summary.Generator.OwnLagP99Ns = 4e6 + 1 }, Generator, result.Broken, true},
		"own CPU":        {func(r *result.Run) { r.Summary.Generator.CPUShare = 0.95 }, Generator, result.Broken, true},
		"no samples":     {func(r *result.Run) { r.Summary.Little = result.LittlesLaw{} }, LittlesLaw, result.Unknown, true},
		"not accounted":  {func(r *result.Run) { r.Counters.Acked-- }, Failures, result.Unknown, true},
		"slow":           {func(r *result.Run) { r.Summary.AchievedRate = 980 }, Rate, result.Broken, true},
		"lost":           {func(r *result.Run) { r.Ledger.Subscriptions[0].Lost = 1 }, Loss, result.Broken, false},
		"corrupt":        {func(r *result.Run) { r.Ledger.Subscriptions[0].Corrupt = 1 }, Loss, result.Broken, false},
		"duplicate":      {func(r *result.Run) { r.Ledger.Subscriptions[0].Duplicate = 1 }, Order, result.Broken, true},
		"reordered":      {func(r *result.Run) { r.Ledger.Subscriptions[0].Reordered = 1 }, Order, result.Broken, true},
		"unknown":        {func(r *result.Run) { r.Counters.Unknown, r.Counters.Acked = 1, 9_999 }, Failures, result.Broken, true},
		"level":          {func(r *result.Run) { r.Durability.Level = 4 }, Durability, result.Broken, false},
		"level not read": {func(r *result.Run) { r.Durability.Level = 0 }, Durability, result.Unknown, true},
		"own figures":    {func(r *result.Run) { r.Summary.Little.Miss = 0.11 }, LittlesLaw, result.Broken, true},
		"few in flight": {func(r *result.Run) {
			r.Summary.Little = result.LittlesLaw{ExpectedInFlight: 0.2, Miss: 5, Samples: 1000}
		}, LittlesLaw, result.Unknown, true},
		"nothing acked": {func(r *result.Run) { r.Ledger.Subscriptions[0].Acked = 0 }, Loss, result.Unknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := good()
			c.spoil(r)
			Judge(r)
			for _, v := range r.Verdicts {
				want := result.Holds
				if v.Name == c.verdict {
					want = c.outcome
				}
				// The law says nothing of runs in which messages went missing.
				if v.Name == LittlesLaw && (c.verdict == Rate || c.verdict == Failures) && v.Outcome == result.Unknown {
					continue
				}
				if v.Outcome != want {
					t.Errorf("%s is %s, want %s: %s", v.Name, v.Outcome, want, v.Sentence)
				}
			}
			if warned := len(r.Warnings) > 0; warned != (c.outcome == result.Broken) {
				t.Errorf("warnings %v", r.Warnings)
			}
			if Sound(r) != c.sound {
				t.Errorf("sound is %v", !c.sound)
			}
		})
	}
}

func TestNothingAcknowledgedIsNotSound(t *testing.T) {
	r := good()
	r.Counters = result.Counters{Scheduled: 500, Failed: 500}
	r.Ledger.Subscriptions[0] = result.SubscriptionLedger{}
	Judge(r)
	if Sound(r) {
		t.Error("a system that refused everything is sound")
	}
}

// A generator that shares its cores with the servers is not accused of using
// them, but its reader is told.
func TestSharedHostIsTold(t *testing.T) {
	r := good()
	r.System.SharesHost, r.Summary.Generator.CPUShare = true, 0.99
	Judge(r)
	if r.Summary.Generator.Limited || len(r.Warnings) != 1 || r.Warnings[0].Code != "shared_host" {
		t.Errorf("limited %v, warnings %v", r.Summary.Generator.Limited, r.Warnings)
	}
}

func TestUnfinishedRunsSaySo(t *testing.T) {
	for state, want := range map[result.State]string{
		result.Incomplete: "did not finish", result.Running: "still running",
		result.Interrupted: "stopped before its end", result.Failed: "failed: disk",
	} {
		r := &result.Run{State: state, StateReason: map[bool]string{true: "disk"}[state == result.Failed]}
		Judge(r)
		if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0].Sentence, want) {
			t.Errorf("%s: %v", state, r.Warnings)
		}
		for _, v := range r.Verdicts {
			if v.Outcome == result.Holds {
				t.Errorf("%s: %s holds for a run of nothing", state, v.Name)
			}
		}
	}
}

// With too few messages for a p99 the generator is held against the median that
// they have, not against a millisecond.
func TestGeneratorIsJudgedByWhatFewMessagesTell(t *testing.T) {
	r := good()
	r.Summary.Latency[0] = result.Latency{Series: result.Publish, Count: 200, Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 100e6}}}
	r.Summary.Generator.OwnLagP99Ns = 40e6
	if v := generator(r); v.Outcome != result.Holds {
		t.Error(v.Sentence)
	}
	r.Summary.Generator.OwnLagP99Ns = 60e6
	if v := generator(r); v.Outcome != result.Broken {
		t.Error(v.Sentence)
	}
}
