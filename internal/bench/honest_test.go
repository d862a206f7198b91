package bench_test

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The tests of this file check that failures make figures worse and never better, and that
// plimsoll claims nothing that it has not seen.

// judged returns the outcomes of a run's verdicts.
func judged(s *result.Saved) map[string]string {
	verdict.JudgeSaved(s)
	out := map[string]string{}
	for _, v := range s.Run.Verdicts {
		out[v.Name] = v.Outcome
	}
	return out
}

func point(t *testing.T, s *result.Saved, series result.Series, p float64) result.Percentile {
	t.Helper()
	at, ok := s.Run.Summary.Series(series).Point(p)
	if !ok {
		t.Fatalf("%s p%v is not printed", series, p)
	}
	return at
}

// slow is a system on which 1.5% of the messages take 50 ms, or get another planted outcome.
func slow(outcome string) map[string]string {
	return map[string]string{
		"service": "bimodal", "service_time": "200us", "service_slow": "50ms",
		"service_slow_share":   "0.015",
		"service_slow_outcome": outcome,
	}
}

// A system that refuses, loses or never answers its slow messages is no faster for it.
func TestTruthMessagesWithoutALatencyMakePercentilesWorse(t *testing.T) {
	million(t)
	w := load(2_000, 10*time.Second)
	answered, _ := onSim(t, w, slow("answered"))
	within(t, "publish p99", float64(point(t, answered, result.Publish, 99).LatencyNs), 50e6, 0.01)
	for outcome, c := range map[string]struct {
		publish, endToEnd result.Bound
		missing           func(result.Missing) int64
	}{
		"refused": {result.NotReached, result.NotReached,
			func(m result.Missing) int64 { return m.Refused }},
		"unanswered": {result.AtLeast, result.Exact,
			func(m result.Missing) int64 { return m.Unanswered }},
	} {
		s, _ := onSim(t, w, slow(outcome))
		latency := s.Run.Summary.Series(result.Publish)
		p99, e2e := point(t, s, result.Publish, 99), point(t, s, result.EndToEnd, 99)
		if p99.Bound != c.publish || e2e.Bound != c.endToEnd {
			t.Errorf("%s: publish p99 %+v, end-to-end p99 %+v", outcome, p99, e2e)
		}
		if n := c.missing(latency.Missing); n < 200 || n > 400 || n != latency.Missing.Total() {
			t.Errorf("%s: missing %+v", outcome, latency.Missing)
		}
		if p50 := point(t, s, result.Publish, 50); p50.Bound != result.Exact ||
			p50.LatencyNs > 310_000 {
			t.Errorf("%s: publish p50 %+v", outcome, p50)
		}
		if len(latency.Answered) == 0 || latency.Answered[0].Bound != result.Exact {
			t.Errorf("%s: of the messages answered %+v", outcome, latency.Answered)
		}
		if outcome == "unanswered" && time.Duration(p99.LatencyNs) < w.Drain {
			t.Errorf("unanswered messages were waited for over %v, publish p99 is at least %v",
				w.Drain, time.Duration(p99.LatencyNs))
		}
	}
	lost, _ := onSim(t, w, slow("lost"))
	if p99 := point(t, lost, result.EndToEnd, 99); p99.Bound != result.NotReached {
		t.Errorf("lost: end-to-end p99 %+v", p99)
	}
	if m := lost.Run.Summary.Series(
		result.EndToEnd).Missing; m.NotReceived != lost.Run.Ledger.Subscriptions[0].Lost ||
		m.Total() != m.NotReceived {
		t.Errorf("lost: missing %+v of %+v", m, lost.Run.Ledger)
	}
}

// Messages lost in the warm-up are not missing from the window.
func TestTruthTheWarmUpsLossesAreNotTheWindows(t *testing.T) {
	w := load(2_000, 5*time.Second)
	w.Warmup, w.Subscriptions, w.Consumers, w.Producers = 5*time.Second, 2, 3, 2
	s, _ := onSim(t, w, slow("lost"))
	missing, lost := s.Run.Summary.Series(result.EndToEnd).Missing.NotReceived, int64(0)
	for _, l := range s.Run.Ledger.Subscriptions {
		lost += l.Lost
	}
	if missing < 200 || missing > 400 || lost < missing+200 {
		t.Errorf("%d are missing from the window, %d were lost in all", missing, lost)
	}
}

// A consumer that gets 1,500 of 2,000 messages a second does not keep up.
func TestTruthASlowConsumerIsSeen(t *testing.T) {
	million(t)
	w := load(2_000, 15*time.Second)
	s, _ := onSim(t, w, map[string]string{"drain_rate": "1500/s"})
	if got := judged(s); got[verdict.Receiving] != result.Broken ||
		got[verdict.Rate] != result.Holds {
		t.Errorf("%v", got)
	}
	rising := false
	for _, warning := range s.Run.Warnings {
		rising = rising || warning.Code == verdict.Steady
	}
	if !rising {
		t.Errorf("nothing is said of a rising end-to-end latency: %v", s.Run.Warnings)
	}
	s, _ = onSim(t, w, map[string]string{"drain_rate": "2500/s"})
	if got := judged(s); got[verdict.Receiving] != result.Holds {
		t.Errorf("one that keeps up: %v", got)
	}
}

// The pacing quantum follows the latency of most messages, however long the tail is.
func TestTruthATailDoesNotBendTheBody(t *testing.T) {
	million(t)
	w := load(2_000, 30*time.Second)
	s, _ := onSim(t, w, map[string]string{
		"service": "bimodal", "service_time": "200us", "service_slow": "1s",
		"service_slow_share": "0.02",
	})
	for _, p := range []float64{50, 75, 90, 95} {
		within(t, "publish", float64(point(t, s, result.Publish, p).LatencyNs), 200e3, 0.005)
	}
	within(t, "publish p99", float64(point(t, s, result.Publish, 99).LatencyNs), 1e9, 0.005)
}

// A drain that ends when every message has arrived cannot exclude copies that come 15 s later. A
// run that waits as long as copies may take sees them.
func TestTruthLateCopies(t *testing.T) {
	w := load(1_000, 5*time.Second)
	w.Drain = time.Minute
	settings := map[string]string{"duplicate_per_million": "10000", "copy_after": "15s"}
	s, _ := onSim(t, w, settings)
	if got := judged(s); got[verdict.Duplicates] != result.Unknown ||
		got[verdict.Order] != result.Unknown {
		t.Errorf("before copies could come: %v", got)
	}
	s = onSimAs(t, w, settings,
		func(job *bench.Job, _ *sim.System) { job.Linger = 16 * time.Second })
	if got := judged(s); got[verdict.Duplicates] != result.Broken ||
		got[verdict.Order] != result.Holds {
		t.Errorf("after they came: %v, watched for %v", got, time.Duration(s.Run.Ledger.WatchedNs))
	}
}

// Copies have their own series and are not part of end-to-end latency.
func TestTruthCopiesAreNotFirstArrivals(t *testing.T) {
	skipUnderRace(t)
	w := load(2_000, 20*time.Second)
	w.Consumers = 3
	s, planted := onSim(t, w, map[string]string{"duplicate_per_million": "100000",
		"copy_after": "5s", "service_time": "200us"})
	within(t, "end-to-end p99", float64(point(t, s, result.EndToEnd, 99).LatencyNs), 250e3, 0.01)
	copies := s.Run.Summary.Series(result.Copies)
	if copies.Count == 0 || copies.Count > planted.Duplicated || copies.MinNs < 4.99e9 {
		t.Errorf("%d copies of %d planted, the first after %v", copies.Count, planted.Duplicated,
			time.Duration(copies.MinNs))
	}
	if n := s.Run.Summary.Series(result.EndToEnd).Count; n != s.Run.Counters.Scheduled {
		t.Errorf("%d first arrivals of %d messages", n, s.Run.Counters.Scheduled)
	}
}

func TestTruthTransactions(t *testing.T) {
	million(t)
	w := load(2_000, 10*time.Second)
	w.Delivery, w.Subscriptions, w.Consumers = workload.ExactlyOnce, 2, 2
	for name, c := range map[string]struct {
		settings              map[string]string
		aborted, transactions string
	}{
		"kept": {map[string]string{"abort_share": "0.2"}, result.Holds,
			result.Holds},
		"aborted, yet visible": {map[string]string{"abort_share": "0.2",
			"aborted_visible_share": "0.5"}, result.Broken, result.Holds},
		"seen in part": {map[string]string{"partial_share": "0.1"}, result.Unknown,
			result.Broken},
	} {
		s, _ := onSim(t, w, c.settings)
		if got := judged(s); got[verdict.Aborted] != c.aborted ||
			got[verdict.Transactions] != c.transactions {
			t.Errorf("%s: aborted read %s, transactions %s: %+v", name, got[verdict.Aborted],
				got[verdict.Transactions], s.Run.Ledger)
		}
		l := s.Run.Ledger.Subscriptions[0]
		if l.Transactions < 150 || l.Transactions > 250 {
			t.Errorf("%s: %d transactions of 50 ms in 10 s", name, l.Transactions)
		}
	}
}

// A message that arrives from the wrong partition is detected.
func TestTruthMisplacedMessagesAreSeen(t *testing.T) {
	w := load(2_000, 5*time.Second)
	s, planted := onSim(t, w, map[string]string{"misplace_per_million": "10000"})
	if got := judged(s); got[verdict.Order] != result.Broken ||
		s.Run.Ledger.Subscriptions[0].Misplaced != planted.Misplaced || planted.Misplaced == 0 {
		t.Errorf("%d planted: %+v, order %s", planted.Misplaced, s.Run.Ledger, got[verdict.Order])
	}
}

// The twin of a run on virtual time has no latency except the wait that pacing adds.
func TestTruthTheTwinTakesNoTime(t *testing.T) {
	million(t)
	for name, w := range map[string]*workload.Workload{
		"slow":   load(10, 20*time.Second),
		"fast":   load(20_000, 12*time.Second),
		"closed": closed(2, 1, 1, 10, 12*time.Second),
	} {
		// A system that blocks its producers for long is not plimsoll's error.
		settings := map[string]string{"service_time": "2ms", "send_block_every": "1s",
			"send_block_for": "50ms"}
		s, _ := onSim(t, w, settings)
		i := s.Run.Summary.Instrument
		if i == nil || i.Publish.Count < 1_000 || i.EndToEnd.Count < i.Publish.Count {
			t.Fatalf("%s: %+v", name, i)
		}
		for _, l := range []result.Latency{i.Publish, i.EndToEnd} {
			if p99, _ := l.At(99); p99 > 110_000 {
				t.Errorf("%s: %s p99 is %v", name, l.Series, time.Duration(p99))
			}
		}
		if got := judged(s); got[verdict.Generator] != result.Holds {
			t.Errorf("%s: %+v", name, s.Run.Verdicts[0])
		}
	}
}
