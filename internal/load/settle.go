package load

// settleAheadNs is how far ahead of now the end of a warm-up or of a schedule is
// decided at least, so that no pacer has drawn a message due after it.
const settleAheadNs = 1_000_000_000

// Settle ends the warm-up early: at the first whole second of the schedule that
// is still to come for every message that no producer has drawn yet. It returns
// that time of the clock; ok is false, and nothing is changed, when the warm-up
// ends before by itself.
//
// All messages due until then are due when they would have been. The rest of the
// schedule is, as ever, a pure function: of seed, curve, sequence number and the
// length of the warm-up, which the result tells. It is called once at most, by
// the goroutine that calls DueBy.
func (e *Engine) Settle(nowNs int64) (measureNs int64, ok bool) {
	before := e.schedule.Load()
	ahead := e.undrawn(nowNs)
	const second = 1_000_000_000
	warmupNs := (ahead + second - 1) / second * second
	if warmupNs >= before.warmupNs {
		return 0, false
	}
	after := before.settledAt(e.plan.Workload.Load, warmupNs)
	measureNs = e.startNs + warmupNs
	e.window.fromNs.Store(measureNs)
	e.window.toNs.Store(e.startNs + after.EndNs())
	e.counted.follow(after)
	e.schedule.Store(after)
	return measureNs, true
}

// undrawn is a time of the schedule that lies beyond every message that a
// producer has drawn so far.
func (e *Engine) undrawn(nowNs int64) int64 {
	e.DueBy(nowNs)
	// Each producer draws one message ahead of the one that it waits for, so two
	// rounds are more than any has drawn; a walk of its own looks that far.
	ahead := nowNs + settleAheadNs - e.startNs
	look := *e.counted
	for range 2 * len(e.producers) {
		if _, dueNs, more := look.Next(); more {
			ahead = max(ahead, dueNs+1)
		}
	}
	return ahead
}
