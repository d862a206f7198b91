package verdict

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
)

// silent returns how much of the time between two moments the load lasted, without the stretches of
// the rate curve on which nothing is offered: no acknowledgement can come then.
func (p *faultyRun) silent(fromNs, toNs int64) int64 {
	ns, at := toNs-fromNs, p.from
	for _, s := range p.run.Load.Segments {
		end := at + int64(s.Seconds*1e9)
		if s.From == 0 && s.To == 0 {
			ns -= max(0, min(toNs, end)-max(fromNs, at))
		}
		at = end
	}
	return ns
}

// varies reports whether the offered rate was not constant.
func varies(l result.Load) bool {
	return slices.ContainsFunc(l.Segments, func(s result.Segment) bool {
		return s.From != s.To || s.From != l.Segments[0].From
	})
}

// wanted returns the messages of a second of load that must be acknowledged for a recovery: a share
// of those at the rate before the first fault, or of those that were due, if fewer were.
func (p *faultyRun) wanted(second []piece) float64 {
	first, last := second[0], second[len(second)-1]
	least := p.rate * float64(last.EndNs-first.StartNs) / 1e9
	if varies(p.run.Load) {
		due := int64(0)
		for _, i := range second {
			due += i.Scheduled
		}
		least = min(least, float64(due))
	}
	return recoveredShare * least
}
