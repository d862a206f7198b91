package verdict

import (
	"math"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
)

// second is what a system acknowledged in a second of a run: the number of messages, the first and
// the last time within the second in ms, and the latency of all.
type second struct {
	acked, firstMs, lastMs, latencyMs int64
}

const fine = 2 // ms

var usually = second{1000, 1, 999, fine}

// faulty is a run with a warm-up of 2 s, a window up to second 22 and a drain up to second 24, in
// which some seconds are not as usual.
func faulty(unusual map[int64]second, faults ...result.Fault) *result.Saved {
	const ms, s = int64(1e6), int64(1e9)
	r := &result.Saved{Run: *good()}
	r.Run.Faults = faults
	r.Run.Phases = []result.Phase{{Name: result.PhaseWarmup, EndNs: 2 * s},
		{Name: result.PhaseMeasure, StartNs: 2 * s, EndNs: 22 * s}}
	for at := range int64(24) {
		is, ok := unusual[at]
		if !ok {
			is = usually
		}
		i := result.Interval{StartNs: at * s, EndNs: (at + 1) * s, Phase: result.PhaseMeasure,
			Acked: is.acked, Failed: at}
		switch {
		case at < 2:
			i.Phase = result.PhaseWarmup
		case at >= 22:
			i.Phase = result.PhaseDrain
			is = unusual[at] // usually nothing is acknowledged
			i.Acked, i.Failed = is.acked, 0
		}
		if is.acked > 0 {
			i.FirstAckNs, i.LastAckNs = at*s+is.firstMs*ms, at*s+is.lastMs*ms
		}
		r.Intervals = append(r.Intervals, i)
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			h := hdr.NewPacked(result.HistogramMinNs, result.HistogramMaxNs, result.HistogramDigits)
			_ = h.RecordValues(is.latencyMs*ms, is.acked)
			// Messages due in the warm-up belong to no part.
			warm := hdr.NewPacked(result.HistogramMinNs, result.HistogramMaxNs,
				result.HistogramDigits)
			_ = warm.RecordValues(900*ms, 500)
			r.Latency = append(r.Latency,
				result.IntervalLatency{Series: series, StartNs: at * s, EndNs: (at + 1) * s,
					Histogram: h, Warmup: at < 2},
				result.IntervalLatency{Series: series, StartNs: at * s, EndNs: (at + 1) * s,
					Histogram: warm, Warmup: true})
		}
	}
	return r
}

// A leader is killed 8 s into the window: nothing is acknowledged for 2.5 s, and a second of slow
// answers follows.
func TestTheEffectOfAFault(t *testing.T) {
	kill := result.Fault{Do: "kill", StartNs: 10e9, InjectedNs: 10.2e9}
	outage := func() map[int64]second {
		return map[int64]second{10: {100, 1, 100, fine}, 11: {}, 12: {400, 600, 999, fine},
			13: {1000, 1, 999, 40}}
	}
	for name, c := range map[string]struct {
		change func(unusual map[int64]second, f *result.Fault) (more []result.Fault)
		want   result.Effect
	}{
		"recovers": {want: result.Effect{UnavailableNs: 2.5e9, ResolutionNs: 1e9,
			AckedAgainNs: 12.6e9, RecoveredNs: 14e9}},
		"recovers at twice the latency and 1 ms more": {
			change: func(is map[int64]second, _ *result.Fault) []result.Fault {
				is[13] = second{1000, 1, 999, 2*fine + 1}
				return nil
			}, want: result.Effect{UnavailableNs: 2.5e9, ResolutionNs: 1e9, AckedAgainNs: 12.6e9,
				RecoveredNs: 13e9}},
		"recovers at nine tenths of the rate": {
			change: func(is map[int64]second, _ *result.Fault) []result.Fault {
				is[14] = second{899, 1, 999, fine}
				is[15] = second{900, 1, 999, fine}
				return nil
			}, want: result.Effect{UnavailableNs: 2.5e9, ResolutionNs: 1e9, AckedAgainNs: 12.6e9,
				RecoveredNs: 15e9}},
		"another fault strikes before it recovers": {
			change: func(map[int64]second, *result.Fault) []result.Fault {
				return []result.Fault{{Do: "kill", StartNs: 14.5e9, InjectedNs: 14.6e9}}
			}, want: result.Effect{UnavailableNs: 2.5e9, ResolutionNs: 1e9, AckedAgainNs: 12.6e9}},
		"too short to be seen": {
			change: func(is map[int64]second, _ *result.Fault) []result.Fault {
				clear(is)
				return nil
			}, want: result.Effect{UnavailableNs: 1e9, ResolutionNs: 1e9, RecoveredNs: 11e9}},
		"not injected": {change: func(_ map[int64]second, f *result.Fault) []result.Fault {
			f.InjectedNs = 0
			return nil
		}},
	} {
		unusual, f := outage(), kill
		var more []result.Fault
		if c.change != nil {
			more = c.change(unusual, &f)
		}
		s := faulty(unusual, append([]result.Fault{f}, more...)...)
		faultsOf(s)
		if got := s.Run.Faults[0].Effect; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// The parts of a run with a fault are the window before it, until the recovery, and the rest.
func TestARunBeforeDuringAndAfterAFault(t *testing.T) {
	s := faulty(map[int64]second{10: {100, 1, 100, fine}, 11: {}, 12: {400, 600, 999, fine},
		13: {1000, 1, 999, 40}, 22: {30, 1, 20, fine}},
		result.Fault{Do: "kill", StartNs: 10e9, InjectedNs: 10.2e9})
	faultsOf(s)
	i := s.Run.Impact
	if i == nil {
		t.Fatal("no impact")
	}
	for _, c := range []struct {
		name                           string
		part                           result.Part
		lengthNs, acked, failed, timed int64
		p50Ms, p75Ms                   float64
	}{
		{"before", i.Before, 8e9, 8000, 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9, 8000, 2, 2},
		{"during", i.During, 4e9, 1500, 10 + 11 + 12 + 13, 1500, 40, 40},
		// Messages that were answered in the drain have a latency.
		{"after", i.After, 8e9, 8000, 14 + 15 + 16 + 17 + 18 + 19 + 20 + 21, 8030, 2, 2},
	} {
		p := c.part
		if p.LengthNs != c.lengthNs || p.Acked != c.acked || p.Failed != c.failed ||
			p.Publish.Count != c.timed || p.EndToEnd.Count != c.timed ||
			p.Publish.Missing != (result.Missing{Refused: c.failed}) {
			t.Errorf("%s: %+v", c.name, p)
		}
		for percentile, want := range map[float64]float64{50: c.p50Ms, 75: c.p75Ms} {
			for _, l := range []result.Latency{p.Publish, p.EndToEnd} {
				if ns, _ := l.At(percentile); math.Abs(float64(ns)/(want*1e6)-1) > 0.001 {
					t.Errorf("%s: %s p%v is %d ns, want %v ms", c.name, l.Series, percentile, ns,
						want)
				}
			}
		}
	}
	if want := "at least 90% of the rate before the first fault was acknowledged and publish p99 " +
		"was at most 5ms"; !strings.Contains(i.Rule, want) {
		t.Errorf("the rule is %q, want that %s", i.Rule, want)
	}
}

// The latencies of the parts are no surer than those of the whole run.
func TestPartsOfARunHaveTheErrorOfClocks(t *testing.T) {
	s := faulty(nil, result.Fault{Do: "kill", StartNs: 8e9, InjectedNs: 8e9,
		HealedNs: 9e9})
	// A percentile must be five times as long as the error.
	s.Run.Summary.Latency = append(s.Run.Summary.Latency,
		result.Latency{Series: result.EndToEnd, Count: 1, ErrorNs: 1e6})
	JudgeSaved(s)
	before := s.Run.Impact.Before
	if len(before.EndToEnd.Percentiles) > 0 || before.EndToEnd.ErrorNs != 1e6 ||
		len(before.Publish.Percentiles) == 0 {
		t.Errorf("%+v", before)
	}
}

// Recovery is not judged where nothing is known of the time before, and a run without faults has no
// impact.
func TestNoRecoveryIsClaimedWithoutATimeBefore(t *testing.T) {
	silent := map[int64]second{}
	for at := range int64(10) {
		silent[at] = second{}
	}
	s := faulty(silent, result.Fault{Do: "kill", StartNs: 10e9, InjectedNs: 10.2e9})
	faultsOf(s)
	if e := s.Run.Faults[0].Effect; e.RecoveredNs != 0 ||
		!strings.HasPrefix(s.Run.Impact.Rule, "nothing was acknowledged before") {
		t.Errorf("%+v, by the rule %q", e, s.Run.Impact.Rule)
	}
	s = faulty(nil)
	s.Run.Impact = &result.Impact{}
	if faultsOf(s); s.Run.Impact != nil {
		t.Errorf("without a fault: %+v", s.Run.Impact)
	}
}

// At a low rate, recovery is judged by the highest percentile that a second's messages support.
func TestRecoveryAtALowRate(t *testing.T) {
	few := map[int64]second{}
	for at := range int64(24) {
		few[at] = second{150, 1, 999, fine}
	}
	s := faulty(few, result.Fault{Do: "kill", StartNs: 10e9, InjectedNs: 10.2e9})
	faultsOf(s)
	if rule := s.Run.Impact.Rule; !strings.Contains(rule, "publish p90 was at most 5ms") {
		t.Errorf("at 150/s the rule is %q", rule)
	}
}
