package load

const (
	// slowSendNs is the length of a Send from which on the pacer reads how long its thread slept
	// in it. Reading costs about a microsecond.
	slowSendNs = 50_000
	// blockedSendNs replaces slowSendNs where the machine does not report sleep: a Send of that
	// length counts entirely as a wait for the system.
	blockedSendNs = 1_000_000
	// readEveryNs is the interval between two readings of the thread's times while no Send is slow.
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
	// asleep returns for how long the thread has slept since the pacer's last wait of its own.
	asleep func() (ns int64, known bool)

	endNs   int64 // end of the last wait for the system, on the clock
	sinceNs int64 // sum of such waits since the pacer was last on time

	asleepNs int64 // the thread's sleep at the last reading
	readNs   int64 // time of that reading, on the clock
}

// own returns the own lag of a message from its due time and its hand-over.
func (w *waits) own(dueNs, handedNs int64) int64 {
	lag := handedNs - dueNs
	return max(0, handedNs-max(dueNs, w.endNs), lag-w.sinceNs)
}

// begin records that a wait of the pacer's own has ended, in which nobody read the thread's times.
func (w *waits) begin(nowNs int64) { w.asleepNs, w.readNs = 0, nowNs }

// onTime records that the pacer has slept until a due time, so earlier delays are over.
func (w *waits) onTime(nowNs int64) {
	w.sinceNs = 0
	w.begin(nowNs)
}

// read returns the thread's sleep since the last reading.
func (w *waits) read(nowNs int64) (ns int64, known bool) {
	now, known := w.asleep()
	slept := now - w.asleepNs
	w.asleepNs, w.readNs = now, nowNs
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
	slept, known := w.read(nowNs)
	if !known {
		return 0
	}
	return w.note(slept, took, nowNs)
}

// idled records that the pacer waited for the system until untilNs, for an idle message.
func (w *waits) idled(tookNs, untilNs int64) {
	w.sinceNs += tookNs
	w.endNs = untilNs
}

// note records a wait for the system of sleptNs in the tookNs before nowNs.
func (w *waits) note(sleptNs, tookNs, nowNs int64) int64 {
	slept := min(max(sleptNs, 0), tookNs)
	w.sinceNs += slept
	if slept >= tookNs/2 {
		// The rest of the wait is assumed to be its last part.
		w.endNs = nowNs - (tookNs - slept)
	}
	return slept
}
