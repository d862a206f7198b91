package bench_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/raced"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The tests of this file compare plimsoll's figures with a system whose truth is known. They make
// whole runs, including files, on virtual time.

type silent struct{}

func (silent) Phase(result.PhaseName, string) {}
func (silent) Interval(result.Interval)       {}

// million skips a test of hundreds of thousands of messages under the race detector.
func million(t *testing.T) {
	t.Helper()
	notRaced(t, "hundreds of thousands of messages: runs without the race detector")
}

// skipUnderRace skips a test of figures whose code another test runs under the race
// detector.
func skipUnderRace(t *testing.T) {
	t.Helper()
	notRaced(t, "another test runs this code under the race detector")
}

// notRaced skips a test under the race detector. `make test` runs the tests called Truth without.
func notRaced(t *testing.T, why string) {
	t.Helper()
	if !strings.HasPrefix(t.Name(), "TestTruth") {
		t.Fatal("a test that is skipped under the race detector is called TestTruth")
	}
	if raced.Detector {
		t.Skip(why)
	}
}

// load returns a workload with a rate and a length.
func load(rate float64, length time.Duration) *workload.Workload {
	return &workload.Workload{
		Name: "truth", Topics: 1, Partitions: 4, Producers: 1, Subscriptions: 1, Consumers: 1,
		Message: workload.Message{Size: 64,
			Incompressible: 1}, Keys: workload.Keys{Kind: workload.KeysNone},
		Load: workload.Load{Arrivals: workload.ArrivalsConstant,
			Segments: []workload.Segment{{From: rate, To: rate, For: length}}},
		Duration: length, Drain: 30 * time.Second, Delivery: workload.AtLeastOnce,
		Durability:  workload.AsyncAsync,
		MaxInFlight: 10_000, Seed: 1,
	}
}

// onSim runs the workload on a simulated system with settings, in virtual
// time, and returns the run as read back from its directory.
func onSim(t *testing.T, w *workload.Workload, settings map[string]string) (*result.Saved,
	sim.Planted) {
	t.Helper()
	return onSimWatched(t, w, settings, silent{})
}

func onSimWatched(t *testing.T, w *workload.Workload, settings map[string]string,
	watch bench.Watch) (*result.Saved, sim.Planted) {
	t.Helper()
	var planted sim.Planted
	plants := func(job *bench.Job, _ *sim.System) {
		job.System = sim.New(clock.Timers(), func(p sim.Planted) { planted = p })
	}
	saved := onSimUntil(context.Background(), t, w, settings, watch, plants)
	return saved, planted
}

// changed gives a job what its workload does not say, such as another clock, or a system that
// stands before the simulated one. It is called on virtual time, before the run.
type changed func(job *bench.Job, s *sim.System)

func unchanged(*bench.Job, *sim.System) {}

// onSimAs is onSim for a job that is changed.
func onSimAs(t *testing.T, w *workload.Workload, settings map[string]string,
	change changed) *result.Saved {
	t.Helper()
	return onSimUntil(context.Background(), t, w, settings, silent{}, change)
}

// onSimUntil is onSimAs until ctx ends.
func onSimUntil(ctx context.Context, t *testing.T, w *workload.Workload, settings map[string]string,
	watch bench.Watch, change changed) *result.Saved {
	t.Helper()
	runs, dir := t.TempDir(), ""
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(clock.Timers(), nil)
		job := jobOn(t, s, runs, w, settings)
		change(job, s)
		var err error
		if dir, err = bench.Run(ctx, job, watch); err != nil {
			t.Fatal(err)
		}
	})
	saved, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(saved.Damage) > 0 {
		t.Errorf("damage: %v", saved.Damage)
	}
	checkSums(t, saved)
	return saved
}

// endsOnSim is onSimAs for some time at most, judged, and also returns how the run ended.
func endsOnSim(t *testing.T, w *workload.Workload, settings map[string]string,
	within time.Duration, change changed) (*result.Saved, error) {
	t.Helper()
	runs, dir := t.TempDir(), ""
	var ran error
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		s := sim.New(clock.Timers(), nil)
		job := jobOn(t, s, runs, w, settings)
		change(job, s)
		dir, ran = bench.Run(ctx, job, silent{})
	})
	saved, err := verdict.Read(dir)
	if err != nil {
		t.Fatal(ran, err)
	}
	return saved, ran
}

func jobOn(t *testing.T, s *sim.System, runs string, w *workload.Workload,
	settings map[string]string) *bench.Job {
	t.Helper()
	var given []target.Setting
	for name, value := range settings {
		given = append(given, target.Setting{Name: name, Value: value})
	}
	resolved, err := system.Resolve(s.Describe().Settings, given)
	if err != nil {
		t.Fatal(err)
	}
	job := &bench.Job{
		Workload: w, Target: &target.Target{Name: "sim",
			System: "sim"}, System: s, Settings: resolved,
		Runs: runs, Clock: clock.Virtual(), Process: time.Now(),
	}
	if err := job.Check(); err != nil {
		t.Fatal(err)
	}
	return job
}

// checkSums checks that every scheduled message ended in exactly one counter.
func checkSums(t *testing.T, s *result.Saved) {
	t.Helper()
	for _, c := range []result.Counters{s.Run.Warmup, s.Run.Counters} {
		if got := c.Acked + c.Failed + c.Unknown + c.Unsent; got != c.Scheduled {
			t.Errorf("acked %d + failed %d + unknown %d + unsent %d = %d, scheduled %d",
				c.Acked, c.Failed, c.Unknown, c.Unsent, got, c.Scheduled)
		}
		if c.Unknown < 0 {
			t.Errorf("unknown is %d", c.Unknown)
		}
	}
	// The slowest answers come last: none may be counted without a latency.
	if n := s.Run.Summary.Series(result.Publish).Count; n != s.Run.Counters.Acked {
		t.Errorf("%d were acknowledged, %d publish latencies", s.Run.Counters.Acked, n)
	}
	n, copies := s.Run.Summary.Series(result.EndToEnd).Count+
		s.Run.Summary.Series(result.CatchUp).Count, s.Run.Summary.Series(
		result.Copies).Count
	if n+copies != s.Run.Counters.Received {
		t.Errorf("%d were received, %d end-to-end latencies and %d of copies",
			s.Run.Counters.Received, n, copies)
	}
}

func percentile(t *testing.T, s *result.Saved, series result.Series, p float64) time.Duration {
	t.Helper()
	ns, ok := s.Run.Summary.Series(series).At(p)
	if !ok {
		t.Fatalf("%s p%v is not printed", series, p)
	}
	return time.Duration(ns)
}

// A system that stalls for a second in every ten, driven one message at a time: the stall must be
// charged to every message that was due during it, and the uncorrected send latency must not show
// it.
func TestTruthStallIsChargedToAllItDelayed(t *testing.T) {
	skipUnderRace(t)
	w := load(1000, 30*time.Second)
	w.MaxInFlight = 1
	s, _ := onSim(t, w, map[string]string{
		"service": "constant", "service_time": "100us", "stall_every": "10s", "stall_for": "1s",
	})
	if got := percentile(t, s, result.Publish, 99); got < 850*time.Millisecond {
		t.Errorf("publish p99 is %v, want at least 850ms", got)
	}
	if got := percentile(t, s, result.Send, 99); got > 101*time.Microsecond {
		t.Errorf("send p99 is %v, want the service time of 100us", got)
	}
	if got := time.Duration(s.Run.Summary.Series(result.Send).MaxNs); got < 990*time.Millisecond {
		t.Errorf("send max is %v: the stalled sends are missing", got)
	}
	if got := s.Run.Summary.Generator.BlockedSeconds; got < 2.5 {
		t.Errorf("producers were blocked for %v s, want about 3", got)
	}
	if got := s.Run.Summary.Generator.OwnLagP99Ns; got > 1000 {
		t.Errorf("own lag p99 is %d ns: the system's stall was blamed on the generator", got)
	}
}

// Every printed percentile must be the analytic one, to within 2%. Time is virtual, so the run's
// own schedule lag is 0.
func TestTruthLognormalPercentiles(t *testing.T) {
	million(t)
	const median, sigma = 2e6, 0.25
	w := load(50_000, 20*time.Second)
	s, _ := onSim(t, w, map[string]string{
		"service": "lognormal", "service_time": "2ms", "service_sigma": "0.25",
	})
	lag := percentile(t, s, result.Lag, 99)
	for _, series := range []result.Series{result.Publish, result.Send} {
		latency := s.Run.Summary.Series(series)
		if len(latency.Percentiles) < 7 {
			t.Errorf("%s prints %d percentiles of %d samples", series, len(latency.Percentiles),
				latency.Count)
		}
		for _, p := range latency.Percentiles {
			want := median * math.Exp(sigma*math.Sqrt2*math.Erfinv(2*p.Percentile/100-1))
			if off := math.Abs(float64(p.LatencyNs)-want) - float64(lag); off > 0.02*want {
				t.Errorf("%s p%v is %d ns, analytic %.0f", series, p.Percentile, p.LatencyNs, want)
			}
		}
	}
}

func TestTruthFastDeliveryIsResolvedAndNothingIsDropped(t *testing.T) {
	w := load(10_000, 10*time.Second)
	s, _ := onSim(t, w, map[string]string{"service_time": "0s", "delivery_delay": "50us"})
	if got := percentile(t, s, result.EndToEnd, 50); got < 50*time.Microsecond ||
		got > 100*time.Microsecond {
		t.Errorf("end-to-end p50 is %v, want within 100us", got)
	}
	latency := s.Run.Summary.Series(result.EndToEnd)
	if latency.Count != s.Run.Counters.Scheduled || latency.Negative != 0 || latency.Clamped != 0 {
		t.Errorf("end-to-end has %d samples (%d negative, %d clamped) of %d messages",
			latency.Count, latency.Negative, latency.Clamped, s.Run.Counters.Scheduled)
	}
}

func TestTruthLedgerFindsExactlyWhatWasPlanted(t *testing.T) {
	million(t)
	w := load(100_000, 10*time.Second)
	w.Producers, w.Consumers, w.Subscriptions = 2, 3, 2
	s, planted := onSim(t, w, map[string]string{
		"lose_per_million": "1", "duplicate_per_million": "1", "swap_per_million": "1",
	})
	if planted.Lost != 1 || planted.Duplicated != 1 || planted.Swapped != 1 || planted.Failed != 0 {
		t.Fatalf("planted %+v", planted)
	}
	if s.Run.Counters.Scheduled != 1_000_000 {
		t.Fatalf("scheduled %d", s.Run.Counters.Scheduled)
	}
	for _, l := range s.Run.Ledger.Subscriptions {
		if l.Lost != 1 || l.Duplicate != 1 || l.Reordered != 1 || l.Unacked != 0 ||
			l.Corrupt != 0 || l.Foreign != 0 {
			t.Errorf("%s: %+v", l.Subscription, l)
		}
		if len(l.LostRanges) != 1 || l.LostRanges[0].First != l.LostRanges[0].Last {
			t.Errorf("%s: lost ranges %+v", l.Subscription, l.LostRanges)
		}
	}
}

func TestTruthRefusedMessagesFail(t *testing.T) {
	w := load(10_000, 5*time.Second)
	s, planted := onSim(t, w, map[string]string{"fail_per_million": "10000"})
	if planted.Failed == 0 || s.Run.Counters.Failed != planted.Failed {
		t.Errorf("failed %d, planted %d", s.Run.Counters.Failed, planted.Failed)
	}
	if len(s.Run.Errors) != 1 || s.Run.Errors[0].Count != planted.Failed {
		t.Errorf("errors %+v", s.Run.Errors)
	}
	if l := s.Run.Ledger.Subscriptions[0]; l.Lost != 0 || l.Unacked != 0 {
		t.Errorf("refused messages show in the ledger: %+v", l)
	}
}

// A system that carries half of what is offered: the lateness must show in publish latency, and
// waiting messages must be bounded.
func TestTruthOverloadGrowsLatencyNotMemory(t *testing.T) {
	skipUnderRace(t)
	w := load(2_000, 10*time.Second)
	w.MaxInFlight = 100
	s, _ := onSim(t, w, map[string]string{"capacity": "1k/s"})
	var before int64
	for _, i := range s.Intervals {
		if i.Phase != result.PhaseMeasure {
			continue
		}
		if i.InFlight > 100 {
			t.Errorf("%d in flight, the bound is 100", i.InFlight)
		}
		mean := int64(i.Latency[0].MeanNs)
		if mean <= before {
			t.Errorf("publish latency does not grow: %d ns after %d ns", mean, before)
		}
		before = mean
	}
	// Half of ten seconds' messages are late by up to ten seconds at the end.
	if got := time.Duration(s.Run.Summary.Series(result.Publish).MaxNs); got < 9*time.Second ||
		got > 11*time.Second {
		t.Errorf("publish max is %v, want about 10s", got)
	}
	if got := percentile(t, s, result.Send, 99); got > 101*time.Millisecond {
		t.Errorf("send p99 is %v, want 100ms: 100 in flight at 1,000/s", got)
	}
	if s.Run.Counters.Acked != s.Run.Counters.Scheduled {
		t.Errorf("acked %d of %d: late messages were dropped", s.Run.Counters.Acked,
			s.Run.Counters.Scheduled)
	}
}

// A run that ends before the system has caught up still has a latency for every counted message,
// and says what it left out.
func TestTruthCutOffOverloadTimesWhatItCounts(t *testing.T) {
	w := load(10_000, 3*time.Second)
	w.Drain = 500 * time.Millisecond
	s, _ := onSim(t, w, map[string]string{"capacity": "2k/s"})
	if c := s.Run.Counters; c.Unsent+c.Unknown == 0 {
		t.Errorf("nothing was cut off: %+v", c)
	}
}

// halting pauses for a while after every interval of the drain.
type halting struct{ silent }

func (halting) Interval(i result.Interval) {
	if i.Phase == result.PhaseDrain {
		time.Sleep(time.Second)
	}
}

// A paused machine with messages in flight must not be taken for one on which nothing happens any
// more.
func TestTruthDrainOutlastsAPause(t *testing.T) {
	w := load(1_000, 2*time.Second)
	s, _ := onSimWatched(t, w, map[string]string{"delivery_delay": "5s"}, halting{})
	if l := s.Run.Ledger.Subscriptions[0]; l.Lost > 0 || l.Received != s.Run.Counters.Scheduled {
		t.Errorf("the drain gave up: %+v of %+v", l, s.Run.Counters)
	}
}

// J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", 1961: 20,000
// messages a second that take 5 ms each are 100 in flight.
func TestTruthMeanInFlight(t *testing.T) {
	million(t)
	w := load(20_000, 20*time.Second)
	w.Load.Arrivals = workload.ArrivalsPoisson
	s, _ := onSim(t, w, map[string]string{"service": "exponential", "service_time": "5ms"})
	within(t, "mean in flight", s.Run.Summary.InFlight, 100, 0.05)
}
