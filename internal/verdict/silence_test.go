package verdict

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// A fault in a pause of the load: no acknowledgement comes while nothing is offered, which is no
// outage.
func TestAPauseOfTheLoadIsNoOutage(t *testing.T) {
	const second = 1_000_000_000
	step := func(rate, seconds float64) result.Segment {
		return result.Segment{From: rate, To: rate, Seconds: seconds}
	}
	for name, c := range map[string]struct {
		answered  int64 // when the first message after the pause is answered
		want      int64 // of the outage
		recovered int64
	}{
		"without an outage": {answered: 20*second + 1000, want: second, recovered: 20 * second},
		"with an outage": {answered: 23*second + 1000, want: 3*second + 1000,
			recovered: 24 * second},
	} {
		s := &result.Saved{Run: result.Run{
			Load: result.Load{Segments: []result.Segment{step(100, 10), step(0, 10),
				step(50, 10)}},
			Phases: []result.Phase{{Name: result.PhaseMeasure, EndNs: 30 * second}},
			Faults: []result.Fault{{StartNs: 12 * second, InjectedNs: 12 * second}},
		}}
		for i := range int64(30) {
			in := result.Interval{StartNs: i * second, EndNs: (i + 1) * second,
				Phase: result.PhaseMeasure}
			if rate := []int64{100, 0, 50}[i/10]; rate > 0 {
				in.Scheduled = rate
				if first := max(in.StartNs+1000, c.answered); i < 10 || first < in.EndNs {
					in.Acked, in.FirstAckNs, in.LastAckNs = rate, in.StartNs+1000, in.EndNs
					if i >= 20 {
						in.FirstAckNs = first
					}
				}
			}
			s.Intervals = append(s.Intervals, in)
		}
		faultsOf(s)
		e := s.Run.Faults[0].Effect
		if e.UnavailableNs != c.want || e.RecoveredNs != c.recovered {
			t.Errorf("%s: an outage of %d ns and recovery at %d, want %d and %d", name,
				e.UnavailableNs, e.RecoveredNs, c.want, c.recovered)
		}
	}
}
