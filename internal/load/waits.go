package load

import "github.com/plimsoll-bench/plimsoll/internal/clock"

const (
	// slowSendNs is how long a Send may take before the pacer asks how much of it
	// the thread slept: asking costs about a microsecond.
	slowSendNs = 50_000
	// blockedSendNs takes its place where the machine does not tell: a Send of that
	// length counts as a wait for the system as a whole.
	blockedSendNs = 1_000_000
	// readEveryNs is how often the thread's times are read at least, so that what its
	// own waits for due times add to the error stays small.
	readEveryNs = 10_000_000
)

// waits divides a pacer's lateness into the system's part and its own. A wait is the
// system's only while the pacer's thread slept in Send, or for an idle message. Time on
// a core, or waiting for a core, is plimsoll's.
//
// The own lag of a message is what its hand-over was late, counted from the end of the
// last wait for the system where that came after its due time; and no less than its
// lag minus all such waits since the pacer was last on time. The second bound holds
// where many short waits lie between the sends of a pacer that could not keep up
// without them.
type waits struct {
	alarm clock.Alarm

	endNs   int64 // of the last wait for the system, on the clock
	sinceNs int64 // of such waits together, since the pacer was last on time

	asleepNs int64 // the thread's, when it was read last
	ownNs    int64 // sleep until due times since then
	readNs   int64 // when that was, on the clock
}

// own is the own lag of a message that was due at one time and handed over at
// another.
func (w *waits) own(dueNs, handedNs int64) int64 {
	lag := handedNs - dueNs
	return max(0, handedNs-max(dueNs, w.endNs), lag-w.sinceNs)
}

// onTime notes that the pacer has slept until a due time: whatever held it up before
// is over.
func (w *waits) onTime(sleptNs, nowNs int64) {
	w.sinceNs = 0
	w.ownNs += sleptNs
	if nowNs-w.readNs > readEveryNs {
		w.read(nowNs)
	}
}

// read reads for how long the thread has slept in all, and forgets its own waits.
func (w *waits) read(nowNs int64) (ns int64, known bool) {
	var now int64
	if w.alarm != nil {
		now, known = w.alarm.Asleep()
	}
	slept := now - w.asleepNs - w.ownNs
	w.asleepNs, w.ownNs, w.readNs = now, 0, nowNs
	return slept, known
}

// sent takes a Send of a length that has just ended, and returns for how much of it the
// system held the thread up.
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

// short returns for how much of many short Sends, one after another, the system held the
// thread up: all that it slept since its times were read last.
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

// slept notes sleep of the pacer's own, which is no wait for the system.
func (w *waits) slept(ns int64) { w.ownNs += max(0, ns) }

// idled takes a wait for an idle message that has just ended, and returns for how much
// of it the system held the thread up.
func (w *waits) idled(tookNs, nowNs int64) (systemNs int64) {
	if tookNs <= slowSendNs {
		w.ownNs += tookNs // noted here, and not to be taken for sleep in a Send
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
		// The rest of the wait came last, as far as is known.
		w.endNs = nowNs - (tookNs - slept)
	}
	return slept
}
