package bench

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
)

// auditStill is the time without an arrival after which an audit counts as read to its end, unless
// the job sets another.
const auditStill = 10 * time.Second

// audit reads all remaining messages of the system when the load is over and every fault is
// healed.
type audit struct {
	idle
	run    *run
	faults *faults // nil: no faults

	begun, told bool
	opened      bool // the opening has ended, with or without an error
	unopened    bool
	whole       bool // all messages were read

	stillNs int64          // of the last look
	heard   bool           // something was read from each partition that has messages
	gone    map[place]bool // partitions that the servers no longer have
}

// drain begins the audit when every fault is healed, and waits while its consumers are
// being opened, which is bounded by load.OpenReadersLimit.
func (a *audit) drain(d *draining) {
	r := a.run
	if !r.interrupted && a.faults.healed() && !a.opened {
		a.open()
		d.busy = d.busy || !a.opened
	}
	if a.unopened {
		d.awaited = r.job.Workload.Subscriptions
	}
	d.patient = d.patient || a.opened && !a.unopened && !a.heard
}

func (a *audit) open() {
	r := a.run
	if !a.begun {
		a.begun = true
		if err := r.cut(r.course.Read()); err != nil {
			r.note("the audit did not start: " + err.Error())
		}
	}
	s, err := r.sample(false)
	if err != nil {
		return // the drain asks again, and says so
	}
	a.opened, a.unopened = s.Counters.Opened, s.Counters.Unopened != ""
	if a.unopened && !a.told {
		a.told = true
		r.note("the audit's consumers did not open: " + s.Counters.Unopened)
	}
}

// drained records whether the audit has read everything: nothing is missing, or nothing has
// arrived for auditStill. A partition from which nothing came may be between two consumers: it is
// waited for as long as missing messages are.
func (a *audit) drained(settled bool, stillNs int64) {
	least := int64(cmp.Or(a.run.job.Idle, auditStill))
	if a.opened && stillNs >= least && (a.stillNs < least || stillNs < a.stillNs) {
		a.heard = a.hears()
	}
	a.stillNs = stillNs
	if !a.heard {
		least = max(least, int64(a.run.job.patience()), int64(missingWait))
	}
	a.whole = a.opened && !a.unopened && (settled || stillNs >= least)
}

// place is a partition of a topic, by their indexes.
type place struct{ topic, partition int }

// hears reports whether the audit has read something from each partition that has messages.
func (a *audit) hears() bool {
	accounts, err := a.run.accounts()
	return err == nil && a.run.plan.Heard(accounts)
}

// prove says whether the audit has read everything, and which partitions are gone.
func (a *audit) prove(e *load.Evidence) {
	e.Audited = a.whole
	if len(a.gone) > 0 {
		e.Gone = func(topic, partition int) bool { return a.gone[place{topic, partition}] }
	}
}

// end asks the servers which partitions they no longer have. A server that does not answer in time
// has not confirmed a loss.
func (a *audit) end() error {
	reader, able := a.run.cluster.(system.LeaderReader)
	if !able || !a.opened || a.run.interrupted {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	const width = 8
	topics := a.run.plan.Grown()
	var places []place
	for topic := range topics {
		for partition := range topics[topic].Partitions {
			places = append(places, place{topic, partition})
		}
	}
	gone := make([]bool, len(places))
	_ = system.Each(ctx, len(places), width, nil, func(ctx context.Context, i int) error {
		_, err := reader.Leader(ctx, topics[places[i].topic], places[i].partition)
		gone[i] = errors.Is(err, system.ErrNoTopic)
		return nil
	})
	a.gone = make(map[place]bool)
	for i, p := range places {
		if gone[i] {
			a.gone[p] = true
		}
	}
	return nil
}

// account notes how many partitions are gone, and that an audit which did not finish has waited
// for nothing.
func (a *audit) account(of []result.SubscriptionLedger) {
	a.run.run.Ledger.GonePartitions += len(a.gone)
	if !a.whole && len(of) > 0 {
		of[len(of)-1].AwaitedNs = 0
	}
}
