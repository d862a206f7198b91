package load

import "github.com/plimsoll-bench/plimsoll/internal/clock"

const (
	// slowSendNs is the length of a Send from which on the pacer reads how long its thread slept
	// in it. Reading costs about a microsecond.
	slowSendNs = 50_000
	// blockedSendNs replaces slowSendNs where the machine does not report sleep: a Send of that
	// length counts entirely as a wait for the system.
	blockedSendNs = 1_000_000
	// readEveryNs is the longest interval between two readings of the thread's times, to keep the
	// error from its own waits for due times small.
	readEveryNs = 10_000_000
)

// waits divides a pacer's lateness into the system's part and its own. A wait is the
// system's only while the pacer's thread slept in Send, or for an idle message. Time on
// a core, or waiting for a core, is plimsoll's.
//
// The own lag of a message is the lateness of its hand-over, counted from its due time or, if
// later, from the end of the last wait for the system. It is at least the lag minus all such waits
// since the pacer was last on time. The second bound is for a pacer that cannot keep up anyway and
// has many short waits between its sends.
type waits struct {
	alarm clock.Alarm

	endNs   int64 // end of the last wait for the system, on the clock
	sinceNs int64 // sum of such waits since the pacer was last on time

	asleepNs int64 // the thread's sleep at the last reading
	ownNs    int64 // sleep until due times since then
	readNs   int64 // time of that reading, on the clock
}

// own returns the own lag of a message from its due time and its hand-over.
func (w *waits) own(dueNs, handedNs int64) int64 {
	lag := handedNs - dueNs
	return max(0, handedNs-max(dueNs, w.endNs), lag-w.sinceNs)
}

// onTime records that the pacer has slept until a due time, so earlier delays are over.
func (w *waits) onTime(sleptNs, nowNs int64) {
	w.sinceNs = 0
	w.ownNs += sleptNs
	if nowNs-w.readNs > readEveryNs {
		w.read(nowNs)
	}
}

// read reads the thread's total sleep, and resets its own waits.
func (w *waits) read(nowNs int64) (ns int64, known bool) {
	var now int64
	if w.alarm != nil {
		now, known = w.alarm.Asleep()
	}
	slept := now - w.asleepNs - w.ownNs
	w.asleepNs, w.ownNs, w.readNs = now, 0, nowNs
	return slept, known
}

// sent records a Send that has just ended, and returns the part of its length for which the system
// blocked the thread.
func (w *waits) sent(tookNs, nowNs int64) (systemNs int64) {
	if tookNs <= slowSendNs {
		return w.short(nowNs)
	}
	slept, known := w.read(nowNs)
	switch {
	case !known && tookNs <= blockedSendNs:
		return 0
	case !known:
		slept = tookNs
	}
	return w.note(slept, tookNs, nowNs)
}

// short returns the time for which the system blocked the thread in many short Sends: its whole
// sleep since the last reading.
func (w *waits) short(nowNs int64) (systemNs int64) {
	took := nowNs - w.readNs
	if took <= readEveryNs {
		return 0
	}
	ownNs := w.ownNs
	slept, known := w.read(nowNs)
	if !known {
		return 0
	}
	return w.note(slept, took-ownNs, nowNs)
}

// slept records the pacer's own sleep, which is no wait for the system.
func (w *waits) slept(ns int64) { w.ownNs += max(0, ns) }

// idled records a wait for an idle message that has just ended, and returns the part of it for
// which the system blocked the thread.
func (w *waits) idled(tookNs, nowNs int64) (systemNs int64) {
	if tookNs <= slowSendNs {
		w.ownNs += tookNs // counted here, so that it does not count as sleep in a Send
		return w.note(tookNs, tookNs, nowNs)
	}
	slept, known := w.read(nowNs)
	if !known {
		slept = tookNs
	}
	return w.note(slept, tookNs, nowNs)
}

func (w *waits) note(sleptNs, tookNs, nowNs int64) int64 {
	slept := min(max(sleptNs, 0), tookNs)
	w.sinceNs += slept
	if slept >= tookNs/2 {
		// The rest of the wait is assumed to be its last part.
		w.endNs = nowNs - (tookNs - slept)
	}
	return slept
}
