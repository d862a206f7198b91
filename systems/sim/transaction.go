package sim

// transaction holds messages of one producer that are acknowledged together or not at all. The
// simulator's lock guards it, except for its number and its end, which do not change.
type transaction struct {
	from      *producer
	number    uint32
	endNs     int64 // end of adding messages, since the simulator began
	turnNs    int64 // the latest turn of its messages
	serviceNs int64 // that of its first message: how long the commit takes
	waiting   []answer
}

// transaction returns the transaction for a message that is sent now. The caller holds the inbox's
// lock.
func (p *producer) transaction(nowNs int64) *transaction {
	if p.current == nil || nowNs >= p.current.endNs {
		p.transactions++
		p.current = &transaction{from: p, number: p.transactions, endNs: nowNs +
			p.simulator.transactionNs}
	}
	return p.current
}

// enlist adds a message to its transaction.
func (l *simulator) enlist(t *transaction, a answer, turnNs, serviceNs int64) {
	if len(t.waiting) == 0 {
		t.serviceNs = serviceNs
		l.open.push(t)
		if n := len(l.lists); n > 0 {
			t.waiting, l.lists = l.lists[n-1], l.lists[:n-1]
		}
	}
	t.turnNs = max(t.turnNs, turnNs)
	t.waiting = append(t.waiting, a)
}

// commitDue ends the transaction whose time is over, and reports whether there was
// one.
func (l *simulator) commitDue(nowNs int64) bool {
	t, ok := l.open.peek()
	if ok = ok && t.endNs <= nowNs; ok {
		l.empty() // adds the messages that were sent before its end
		l.open.pop()
		l.commit(t)
	}
	return ok
}

// commit decides the result of a transaction and plans its answers.
func (l *simulator) commit(t *transaction) {
	ready := l.truth.afterStall(max(t.endNs, t.turnNs)) + t.serviceNs
	atNs := max(l.truth.afterStall(ready), t.from.committedNs)
	t.from.committedNs = atNs
	l.decide(t)
	for _, a := range t.waiting {
		a.atNs = atNs
		l.answers.push(a)
	}
	clear(t.waiting)
	l.lists = append(l.lists, t.waiting[:0])
	t.waiting = nil
}

// decide draws the result of a transaction and of its messages. A producer's first transaction is
// always committed, because it proves that the partitions are ready.
func (l *simulator) decide(t *transaction) {
	draw := func(k uint64) float64 { return l.truth.ofTransaction(t.from.index, t.number, k) }
	aborts := t.number > 1 && draw(0) < l.truth.abortShare || l.outage.failing || t.holds(fail)
	partial := t.number > 1 && draw(1) < l.truth.partialShare && len(t.waiting) > 1
	visible := aborts && !partial && draw(2) < l.truth.visibleShare
	p := &l.faults.planted.Transactions
	count := func(when bool, of *int64) {
		if when {
			*of++
		}
	}
	count(aborts, &p.Aborted)
	count(!aborts, &p.Committed)
	count(partial, &p.Partial)
	count(visible, &p.AbortedVisible)
	for i, a := range t.waiting {
		shown := visible || partial && i%2 == 0
		switch {
		case aborts && shown:
			a.slot.what = abortedShown
		case aborts:
			a.slot.what = aborted
		case partial && !shown:
			a.slot.what = lose
		case partial:
			a.slot.what = none // so that it is delivered
		}
	}
}

// holds reports whether one of its messages has a planted fault.
func (t *transaction) holds(what fault) bool {
	for _, a := range t.waiting {
		if a.slot.what == what {
			return true
		}
	}
	return false
}

// dropOpen removes a producer's messages from the open transactions.
func (l *simulator) dropOpen(p *producer) (dropped []answer) {
	var rest queue[*transaction]
	for t, ok := l.open.peek(); ok; t, ok = l.open.peek() {
		l.open.pop()
		if t.from != p {
			rest.push(t)
			continue
		}
		for _, a := range t.waiting {
			a.slot.answered = true
			dropped = append(dropped, a)
		}
	}
	l.open = rest
	return dropped
}
