package bench

import (
	"cmp"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// auditStill is how long nothing may come before an audit counts as read to its
// end, unless the job says otherwise.
const auditStill = 10 * time.Second

// audit reads what the system still holds when the load is over and every fault
// is healed.
type audit struct {
	idle
	run    *run
	faults *faults // nil: there are none

	begun, told bool
	opened      bool // whatever came of it
	unopened    bool
	whole       bool // all that there is was read
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

// drained notes whether the audit has read all that there is: nothing is missing,
// or nothing has come for long.
func (a *audit) drained(settled bool, stillNs int64) {
	still := stillNs >= int64(cmp.Or(a.run.job.Idle, auditStill))
	a.whole = a.opened && !a.unopened && (settled || still)
}

// account counts messages as unread, not lost, when the audit did not finish.
func (a *audit) account(of []result.SubscriptionLedger) {
	if !a.whole {
		last := &of[len(of)-1]
		last.Unread, last.Lost, last.LostRanges = last.Lost, 0, nil
	}
}
