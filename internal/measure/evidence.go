package measure

// Evidence says what shows that an acknowledged message which has not arrived at a subscription is
// lost. Without evidence it is unread: it may still come. The zero value is no evidence.
type Evidence struct {
	// Passed: the messages of a lane come in order. So a message is lost when a later one of its
	// lane has arrived, and something of the lane has arrived after SinceNs, the last time, on the
	// clock, at which a consumer came, went or was cut off; 0: none did.
	Passed  bool
	SinceNs int64
	// Audited: the subscription that Audit is of has read everything that the system has. So a
	// message is lost when it is not there.
	Audited bool
	Audit   []ArrivedAccount
	// Gone reports whether the servers say that they no longer have a partition; nil: none is gone.
	Gone func(partition int) bool
}

// laneEvidence is the evidence about the messages of one lane.
type laneEvidence struct {
	Evidence
	audit []ArrivedLane
	gone  bool
}

// of returns the evidence about a lane of a partition. audit is what the auditors received of it.
func (e Evidence) of(partition int, audit []ArrivedLane) laneEvidence {
	return laneEvidence{e, audit, e.Gone != nil && e.Gone(partition)}
}

// decide returns what reports whether a message that has not been received is lost. lastNs is the
// time of the last arrival on the lane.
func (e *laneEvidence) decide(received *bitmap, lastNs int64) func(seq int64) bool {
	if e.gone {
		return func(int64) bool { return true }
	}
	highest := int64(-1)
	if e.Passed && (e.SinceNs == 0 || lastNs > e.SinceNs) {
		highest = received.highest()
	}
	held := make([]*bitmap, len(e.audit))
	for i := range e.audit {
		held[i] = e.audit[i].Seen.bitmap()
	}
	return func(seq int64) bool {
		if seq < highest {
			return true
		}
		if !e.Audited {
			return false
		}
		for _, b := range held {
			if b.has(seq) {
				return false
			}
		}
		return true
	}
}

// Later returns the later of two times; 0: there is none. A clock may be below 0.
func Later(a, b int64) int64 {
	if a == 0 || b == 0 {
		return a + b
	}
	return max(a, b)
}
