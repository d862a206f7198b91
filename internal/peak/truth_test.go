package peak_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The tests of this file search a system whose truth is known. Every probe is a
// whole run, files included, on virtual time.

type silent struct{}

func (silent) Phase(result.PhaseName, string)           {}
func (silent) Interval(result.Interval)                 {}
func (silent) Probe(*peak.Saved, peak.Step, *bench.Job) {}
func (silent) Probed(*peak.Saved)                       {}

// trial is one search.
type trial struct {
	settings map[string]string
	change   func(*workload.Workload, *peak.Options)
	ctx      context.Context
	watch    peak.Watch
}

// capacity is that of the simulated system, in messages a second: no more than
// it takes, because each message costs this machine time.
const capacity = 20_000

func (tr trial) run(t *testing.T) *peak.Saved {
	t.Helper()
	w := &workload.Workload{
		Name: "truth", Topics: 1, Partitions: 4, Producers: 1, Subscriptions: 1, Consumers: 1,
		Message: workload.Message{Size: 64, Incompressible: 1}, Keys: workload.Keys{Kind: workload.KeysNone},
		Load:   workload.Load{Arrivals: workload.ArrivalsConstant, Segments: []workload.Segment{{From: 1000, To: 1000, For: time.Second}}},
		Warmup: 500 * time.Millisecond, Duration: time.Second, Drain: 10 * time.Second, Delivery: workload.AtLeastOnce, Durability: workload.AsyncAsync,
		MaxInFlight: 10_000, Seed: 1,
	}
	o := peak.Options{
		Plan:  peak.Plan{StartRate: 5_000, Tolerance: 0.03, Confirmations: 1, MaxProbes: 12, LeastRate: 10, MostRate: 1e6},
		Probe: 2 * time.Second, Confirm: 4 * time.Second, MaxTime: time.Hour, Watch: silent{},
	}
	if tr.watch != nil {
		o.Watch = tr.watch
	}
	if tr.change != nil {
		tr.change(w, &o)
	}
	ctx := tr.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	var given []target.Setting
	for name, value := range tr.settings {
		given = append(given, target.Setting{Name: name, Value: value})
	}
	runs := t.TempDir()
	var saved *peak.Saved
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(clock.Timers(), nil)
		resolved, err := system.Resolve(s.Describe().Settings, given)
		if err != nil {
			t.Fatal(err)
		}
		o.Job = &bench.Job{
			Workload: w, Target: &target.Target{Name: "sim", System: "sim"}, System: s, Settings: resolved,
			Runs: runs, Clock: clock.Timers(), Process: time.Now(),
		}
		if saved, err = peak.Run(ctx, o); err != nil {
			t.Fatal(err)
		}
	})
	read, err := peak.Read(saved.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Probes) > 12 {
		t.Errorf("%d probes", len(read.Probes))
	}
	return read
}

// story is every probe in a line, for a test that fails.
func story(s *peak.Saved) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%v)\n%s, %+v\n", s.End, s.Sentence(), s.Caveats(), s.Reason, s.Side)
	for _, p := range s.Probes {
		c, _ := p.Verdict.Broken()
		fmt.Fprintf(&b, "  %s %.0f: %v, achieved %.0f, slope %.1f (%.1f to %.1f), %s\n",
			p.Kind, p.TargetRate, p.Verdict.Stable, p.AchievedRate, p.Verdict.SlopeRate, p.Verdict.SlopeLow, p.Verdict.SlopeHigh, c.Sentence)
	}
	return b.String()
}

// OMB's controller, by contrast, finds 100%, 29%, 6% and 2% of the capacity at
// these latencies, because it takes what is in flight for a backlog.
func TestTruthCapacityIsFoundAtAnyLatency(t *testing.T) {
	if raceDetector {
		t.Skip("a million messages: runs without the race detector")
	}
	for _, latency := range []string{"1ms", "5ms", "20ms", "50ms"} {
		for _, subscriptions := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s-%d", latency, subscriptions), func(t *testing.T) {
				s := trial{
					settings: map[string]string{"capacity": fmt.Sprint(capacity), "service_time": latency},
					change:   func(w *workload.Workload, _ *peak.Options) { w.Subscriptions = subscriptions },
				}.run(t)
				b := s.Bracket
				if off := math.Abs(b.StableRate/capacity - 1); s.End != peak.Found || off > 0.03 || b.UnstableRate < capacity || b.StableRate > capacity || b.Confirmed != 1 {
					t.Errorf("%.1f%% off: %s", off*100, story(s))
				}
				if s.Side == nil || s.Side.Name != verdict.SidePublish {
					t.Errorf("limited by %+v", s.Side)
				}
				t.Logf("%+v in %d probes", b, len(s.Probes))
			})
		}
	}
}
