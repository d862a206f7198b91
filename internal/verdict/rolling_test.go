package verdict

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A time without an acknowledgement that lasts from one step of a rolling restart into the next is
// the longest of both steps, and counts once in the sum.
func TestRollingRestartSumsEachOutageOnce(t *testing.T) {
	step := func(unavailable, again int64) result.Fault {
		return result.Fault{Do: string(workload.FaultRollingRestart), Effect: result.Effect{
			UnavailableNs: unavailable, AckedAgainNs: again, ResolutionNs: 10}}
	}
	open := func(unavailable int64) result.Fault {
		f := step(unavailable, 0)
		f.Effect.UnavailableBound = result.AtLeast
		return f
	}
	for _, c := range []struct {
		name  string
		steps []result.Fault
		want  int64
	}{
		{"apart", []result.Fault{step(100, 1000), step(200, 2000)}, 300},
		{"the same", []result.Fault{step(100, 1000), step(100, 1000)}, 100},
		{"overlapping", []result.Fault{step(100, 1000), step(200, 1050)}, 150},
		{"too short to see", []result.Fault{step(10, 0), step(100, 1000)}, 100},
		{"until the end of the load", []result.Fault{step(100, 1000), step(200, 0)}, 300},
		{"the same until the end of the load", []result.Fault{open(900), open(900)}, 900},
	} {
		r := &result.Run{Faults: c.steps, Rolling: &result.Rolling{Machines: 2},
			Impact: &result.Impact{},
			Phases: []result.Phase{{Name: result.PhaseMeasure, EndNs: 3000}}}
		rollingOf(r)
		if r.Rolling.UnavailableNs != c.want {
			t.Errorf("%s: %d ns, want %d", c.name, r.Rolling.UnavailableNs, c.want)
		}
	}
}
