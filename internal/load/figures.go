package load

import (
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// counters reads the counters of all clients.
func (e *Engine) counters() Counters {
	w := e.plan.Workload
	c := Counters{ReceivedWithin: make([]int64, w.Subscriptions),
		FreshAt: make([]int64, w.AllSubscriptions())}
	// Consumers before producers: acknowledgements in between make readers look late, not early.
	for _, p := range e.pacers {
		p.Lock()
		add(&c.Handed, p.handed)
		add(&c.Unsent, p.unsent)
		add(&c.Calls, p.calls)
		c.BlockedNs += p.blockedNs
		c.FirstHandedNs = earliest(c.FirstHandedNs, p.firstHandedNs)
		p.Unlock()
	}
	for _, one := range e.consumers {
		one.countInto(&c)
	}
	for _, p := range e.producers {
		p.Lock()
		add(&c.Acked, p.acked)
		c.AckedBytes += p.ackedBytes
		c.AckedWithin += p.ackedWithin
		c.BytesWithin += p.bytesWithin
		add(&c.Failed, p.failed)
		p.Unlock()
		c.InFlight += p.inFlight()
	}
	c.Used, c.Found = e.acked.Load(), e.found.Load()
	select {
	case <-e.sentAll:
		c.Sent = true
	default:
	}
	var err error
	if c.Opened, err = e.Opened(); err != nil {
		c.Unopened = BoundText(err.Error())
	}
	return c
}

// countInto adds the consumer's counts.
func (c *consumer) countInto(to *Counters) {
	c.Lock()
	defer c.Unlock()
	if c.later {
		to.Read += c.fresh
		to.FirstReadNs = earliest(to.FirstReadNs, c.firstNs)
	}
	to.LastReceived = measure.Later(to.LastReceived, c.lastNs)
	to.FreshAt[c.subscription] += c.fresh
	to.GivenBack += c.givenBack
	to.Redelivered += c.redelivered
	if c.replay {
		to.Replayed += c.fresh
		return
	}
	add(&to.Received, c.byPhase)
	to.ReceivedWithin[c.subscription] += c.within
	to.Fresh += c.fresh
}

// InFlight returns the number of messages handed over and not answered. Any goroutine may call it
// while the engine runs.
func (e *Engine) InFlight() int64 {
	var n int64
	for _, p := range e.producers {
		n += p.inFlight()
	}
	return n
}

// ackSpan returns the times of the first and the last acknowledgement of any producer since the
// last call, on the clock; 0: none.
func (e *Engine) ackSpan() (firstNs, lastNs int64) {
	for _, p := range e.producers {
		p.Lock()
		firstNs, lastNs = earliest(firstNs, p.firstAckNs), measure.Later(lastNs, p.lastAckNs)
		p.firstAckNs, p.lastAckNs = 0, 0
		p.Unlock()
	}
	return firstNs, lastNs
}

// account returns the sets of acknowledged and of arrived messages.
func (e *Engine) account(over bool) Account {
	a := Account{
		Sent:    make([]measure.SentAccount, 0, len(e.producers)),
		Arrived: make([]measure.ArrivedAccount, 0, len(e.consumers)),
	}
	errors := make(map[string]int64)
	for _, p := range e.producers {
		a.Sent = append(a.Sent, p.account(over))
		p.Lock()
		for text, n := range p.errors {
			errors[text] += n
		}
		a.MemoryBytes += p.sent.Bytes()
		p.Unlock()
	}
	for _, c := range e.consumers {
		a.Arrived = append(a.Arrived, c.account())
		c.Lock()
		a.MemoryBytes += c.arrived.Bytes()
		c.Unlock()
	}
	a.Errors = errorsOf(errors)
	a.Scaling = e.scaler.done()
	return a
}

// account returns the producer's messages as plain data. When the load is over, the data includes
// the messages' times, and the first measured message of each lane.
func (p *producer) account(over bool) measure.SentAccount {
	p.Lock()
	defer p.Unlock()
	a := measure.SentAccount{
		Topic: p.topic, Producer: p.index / p.topics, Lanes: p.sent.Lanes(over),
		AckedWithin: p.ackedWithin, Transactions: p.transactions.Account(),
	}
	for i := range a.Lanes {
		if over {
			a.Lanes[i].MeasuredFrom, a.Lanes[i].Handed = p.measuredFrom[i], p.nextSeq[i]
		}
	}
	return a
}

// account returns what the consumer received as plain data.
func (c *consumer) account() measure.ArrivedAccount {
	c.Lock()
	defer c.Unlock()
	a := c.arrived.Account()
	a.Topic, a.Subscription, a.Consumer = c.topicIndex, c.subscription, c.index
	a.Foreign, a.Corrupt, a.Misplaced = c.foreign, c.corrupt, c.misplaced
	a.GivenBack, a.Redelivered, a.Handled = c.givenBack, c.redelivered, c.handled
	a.Transactions = c.seen.Account()
	return a
}

// place is a subscription of a topic.
type place struct{ topic, subscription int }

// number returns the index of its first consumer among all of the run.
func (p place) number(w *workload.Workload) int {
	return (p.topic*w.AllSubscriptions() + p.subscription) * w.Consumers
}
