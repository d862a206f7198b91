package verdict

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// spoiled has the faults of a run, and for each the verdict that finds it.
var spoiled = map[string]struct {
	spoil   func(*result.Run)
	verdict string
	outcome string
	sound   bool
}{
	"own lag": {func(r *result.Run) { r.Summary.Generator.OwnLagP99Ns = 39e5 + 1 },
		Generator, result.Broken, true},
	// Half of a publish p99 that the lag itself makes long is no bound for it.
	"own lag that is most of publish p99": {func(r *result.Run) {
		r.Summary.Generator.OwnLagP99Ns = 64e6
		r.Summary.Latency[0].Percentiles[1].LatencyNs = 128e6
	}, Generator, result.Broken, true},
	"own lag of no message": {func(r *result.Run) {
		r.Summary.Generator.OwnLagCount, r.Summary.Generator.OwnLagP99Ns = 0, 0
	}, Generator, result.Unknown, true},
	"own lag of hardly any message": {func(r *result.Run) {
		r.Summary.Generator.OwnLagCount = 99
	}, Generator, result.Unknown, true},
	"own lag of half the messages": {func(r *result.Run) {
		r.Summary.Generator.OwnLagCount = 5_000
	}, Generator, result.Unknown, true},
	"own lag of not quite nine messages in ten": {func(r *result.Run) {
		r.Summary.Generator.OwnLagCount = 8_999
	}, Generator, result.Unknown, true},
	"a twin whose deliveries are slow": {func(r *result.Run) {
		r.Summary.Instrument.EndToEnd.Percentiles[1].LatencyNs = 39e5 + 1
	}, Generator, result.Broken, true},
	"no twin": {func(r *result.Run) { r.Summary.Instrument = nil },
		Generator, result.Unknown, true},
	"a late simulator": {func(r *result.Run) {
		r.Summary.Generator.SimulatedLateP99Ns = 39e5 + 1
	}, Generator, result.Broken, true},
	"own CPU": {func(r *result.Run) { r.Summary.Generator.CPUShare = 0.91 },
		Generator, result.Broken, true},
	"consumers that do not keep up": {func(r *result.Run) {
		r.Summary.ReceivedRate, r.Summary.EndBacklog = 750, 2_500
	}, Receiving, result.Broken, true},
	"a message in no counter": {func(r *result.Run) { r.Counters.Scheduled++ },
		Failures, result.Unknown, true},
	"a message without an answer": {func(r *result.Run) {
		r.Counters.Unknown, r.Counters.Scheduled = 1, 10_001
	}, Failures, result.Broken, true},
	"slow": {func(r *result.Run) { r.Summary.AchievedRate = 980 },
		Rate, result.Broken, true},
	"lost": {func(r *result.Run) { r.Ledger.Subscriptions[0].Lost = 1 },
		Loss, result.Broken, false},
	"damaged": {func(r *result.Run) { r.Ledger.Subscriptions[0].Corrupt = 1 },
		Loss, result.Broken, false},
	"duplicate": {func(r *result.Run) {
		r.Ledger.Subscriptions[0].Duplicate, r.Counters.Received = 1, 10_001
	}, Duplicates, result.Broken, true},
	"misplaced": {func(r *result.Run) { r.Ledger.Subscriptions[0].Misplaced = 1 },
		Order, result.Broken, true},
	"reordered": {func(r *result.Run) { r.Ledger.Subscriptions[0].Reordered = 1 },
		Order, result.Broken, true},
	"counts of answers": {func(r *result.Run) { r.Ledger.Subscriptions[0].Acked++ },
		Counts, result.Broken, true},
	"counts of latencies": {func(r *result.Run) { r.Summary.Latency[0].Count-- },
		Counts, result.Broken, true},
	"counts of arrivals": {func(r *result.Run) { r.Counters.Received-- },
		Counts, result.Broken, true},
	"level": {func(r *result.Run) { r.Durability.Level = 4 },
		Durability, result.Broken, false},
	"level not read": {func(r *result.Run) { r.Durability.Level = 0 },
		Durability, result.Unknown, true},
}

// Each fault is found by its own verdict and no other.
func TestEachFaultIsFound(t *testing.T) {
	for name, c := range spoiled {
		t.Run(name, func(t *testing.T) {
			r := good()
			c.spoil(r)
			Judge(r)
			if got := outcomes(r)[c.verdict]; got != c.outcome {
				t.Errorf("%s is %q, want %s", c.verdict, got, c.outcome)
			}
			for _, v := range r.Verdicts {
				if v.Name != c.verdict && v.Name != Steady && v.Outcome != result.Holds {
					t.Errorf("%s is %s, want it to hold: %s", v.Name, v.Outcome, v.Sentence)
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

// Own lag of all of a few messages is too little to judge.
func TestOwnLagOfAFewMessages(t *testing.T) {
	for n, want := range map[int64]string{99: result.Unknown, 100: result.Holds} {
		r := good()
		r.Counters.Scheduled, r.Summary.Generator.OwnLagCount = n, n
		Judge(r)
		if got := outcomes(r)[Generator]; got != want {
			t.Errorf("own lag of %d messages: %s, want %s", n, got, want)
		}
	}
}

// The bounds of plimsoll's own error are the last values that a run may have.
func TestRunsAtTheBoundHold(t *testing.T) {
	for name, change := range map[string]func(*result.Run){
		"own lag": func(r *result.Run) { r.Summary.Generator.OwnLagP99Ns = 39e5 },
		"own lag known for nine messages in ten": func(r *result.Run) {
			r.Summary.Generator.OwnLagCount = 9_000
		},
		"the twin's deliveries": func(r *result.Run) {
			r.Summary.Instrument.EndToEnd.Percentiles[1].LatencyNs = 39e5
		},
		"the simulator's lateness": func(r *result.Run) {
			r.Summary.Generator.SimulatedLateP99Ns = 39e5
		},
		"own CPU": func(r *result.Run) { r.Summary.Generator.CPUShare = 0.9 },
	} {
		r := good()
		change(r)
		if v := generator(r); v.Outcome != result.Holds {
			t.Errorf("%s: %s: %s", name, v.Outcome, v.Sentence)
		}
	}
}
