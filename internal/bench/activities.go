package bench

import (
	"context"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

// activity is something optional that a run does beside its load: settling, following a backlog,
// auditing, injecting faults. The run's goroutine calls the methods, in the order of their
// declaration.
type activity interface {
	// measured: the measured window begins.
	measured(ctx context.Context)
	// length returns the longest allowed interval that begins at a time; 0: no limit.
	length(fromNs int64) int64
	// look is called repeatedly in the measured window. It reports whether the interval must end
	// because of an event.
	look(nowNs int64) (cut bool, err error)
	// interval: an interval has ended.
	interval(e ended) error
	// drain is called repeatedly when the load is over. It sets what the drain must wait for.
	drain(d *draining)
	// drained receives the outcome of the drain.
	drained(settled bool, stillNs int64)
	// prove adds what the activity knows about messages that have not arrived.
	prove(e *load.Evidence)
	// end: load and drain are over, and the clients are about to close.
	end() error
	// account completes the accounts of the subscriptions (there are none if a worker was lost),
	// and fills the activity's own figures.
	account(of []result.SubscriptionLedger)
}

// ended is an interval that has ended.
type ended struct {
	phase    result.PhaseName
	interval result.Interval
	sample   load.Sample
	going    bool // the load goes on: the run was not stopped
}

// draining describes what a drain waits for.
type draining struct {
	busy     bool  // wait regardless of the counters
	patient  bool  // wait as long as for missing messages, although nothing comes
	lengthNs int64 // the longest wait
	awaited  int   // subscriptions, those that read later being the last
}

// idle is an activity that does nothing, for others to embed.
type idle struct{}

func (idle) measured(context.Context)            {}
func (idle) length(int64) int64                  { return 0 }
func (idle) look(int64) (cut bool, err error)    { return false, nil }
func (idle) interval(ended) error                { return nil }
func (idle) drain(*draining)                     {}
func (idle) drained(bool, int64)                 {}
func (idle) prove(*load.Evidence)                {}
func (idle) end() error                          { return nil }
func (idle) account([]result.SubscriptionLedger) {}

// activitiesOf returns the activities of a run's workload.
func activitiesOf(r *run) (all []activity) {
	w := r.job.Workload
	if w.Settle {
		all = append(all, newSettling(r))
	}
	if w.Backlog != nil {
		all = append(all, newBacklog(r))
	}
	var faults *faults
	if len(w.Faults) > 0 {
		faults = newFaults(r)
		all = append(all, faults)
	}
	if spender, able := r.cluster.(system.Spender); able && r.run.Bill != nil {
		all = append(all, &costLimit{run: r, spender: spender})
	}
	if w.Audit {
		all = append(all, &audit{run: r, faults: faults})
	}
	if r.job.Target.Hooks != (target.Hooks{}) {
		all = append(all, newHooks(r))
	}
	return all
}
