package bench

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

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
	gone        int  // number of partitions that the servers no longer have
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
}

func (a *audit) open() {
	r := a.run
	if !a.begun {
		a.begun = true
		if err := r.cut(r.course.Read()); err != nil {
			r.note("the audit could not be begun: " + err.Error())
		}
	}
	s, err := r.sample(false)
	if err != nil {
		return // the drain asks again, and says so
	}
	a.opened, a.unopened = s.Counters.Opened, s.Counters.Unopened != ""
	if a.unopened && !a.told {
		a.told = true
		r.note("the audit could not be opened: " + s.Counters.Unopened)
	}
}

// drained records whether the audit has read everything: nothing is missing, or nothing has
// arrived for auditStill.
func (a *audit) drained(settled bool, stillNs int64) {
	still := stillNs >= int64(cmp.Or(a.run.job.Idle, auditStill))
	a.whole = a.opened && !a.unopened && (settled || still)
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
	topics, each := a.run.plan.Topics(), a.run.job.Workload.Partitions
	var gone atomic.Int64
	_ = system.Each(ctx, len(topics)*each, width, nil, func(ctx context.Context, i int) error {
		if _, err := reader.Leader(ctx, topics[i/each], i%each); errors.Is(err,
			system.ErrNoTopic) {
			gone.Add(1)
		}
		return nil
	})
	a.gone = int(gone.Load())
	return nil
}

// account counts messages as unread, not lost, when the audit did not finish.
func (a *audit) account(of []result.SubscriptionLedger) {
	a.run.run.Ledger.GonePartitions = a.gone
	if !a.whole && len(of) > 0 {
		unread(&of[len(of)-1])
	}
}
