package bench

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// leastSleep is the shortest sleep that is noted, in ns. It is far above the error of reading
// two clocks one after the other.
const leastSleep = 10_000_000

// slept tracks how long the machine has slept.
type slept struct {
	ns    int64
	known bool
}

// since returns how long the machine has slept since the last call; 0: unknown.
func (s *slept) since(c clock.Clock) int64 {
	before := *s
	s.ns, s.known = c.Slept()
	if !before.known || !s.known {
		return 0
	}
	return s.ns - before.ns
}

// noteSleep notes that the machine slept during an interval.
func (r *run) noteSleep(i result.Interval) error {
	ns := r.slept.since(r.job.Clock)
	if ns < leastSleep {
		return nil
	}
	sleep := result.Sleep{FromNs: i.StartNs, ToNs: i.EndNs, Ns: ns}
	if len(r.run.Sleeps) < result.MostSleeps {
		r.run.Sleeps = append(r.run.Sleeps, sleep)
	}
	sentence := fmt.Sprintf("the machine slept for %s: the run's clock stood still meanwhile, and "+
		"no latency includes this time", quantity.Duration(ns))
	r.watch.Phase(i.Phase, sentence)
	return r.writer.Event(result.Event{AtNs: i.EndNs, Kind: "sleep", Sentence: sentence})
}
