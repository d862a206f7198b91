package verdict

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
func (p *faultyRun) varies() bool {
	offered := rates(p.run.Load.Segments)
	for _, r := range offered {
		if r != offered[0] {
			return true
		}
	}
	return false
}

// wanted returns the messages of a second of load that must be acknowledged for a recovery: a share
// of those at the rate before the first fault, or of those that were due, if fewer were.
func (p *faultyRun) wanted(second []piece) float64 {
	first, last := second[0], second[len(second)-1]
	least := p.rate * float64(last.EndNs-first.StartNs) / 1e9
	if p.varies() {
		due := int64(0)
		for _, i := range second {
			due += i.Scheduled
		}
		least = min(least, float64(due))
	}
	return recoveredShare * least
}
