package bench

import (
	"context"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

// part is something that a run does beside offering its load and waiting for the end of it:
// it settles, follows a backlog, audits, or breaks servers. Its methods are called by the
// run's goroutine, in the order in which they stand here.
type part interface {
	// measured: the measured window begins.
	measured(ctx context.Context)
	// length is the longest that an interval which begins at a time may last; 0: it may be as
	// long as any.
	length(fromNs int64) int64
	// look is called again and again in the measured window. It reports whether something
	// has happened for which the interval is to end.
	look(nowNs int64) (cut bool, err error)
	// interval: an interval has ended.
	interval(e ended) error
	// drain is called repeatedly when the load is over. It sets what the drain has to wait for.
	drain(d *draining)
	// drained receives the outcome of the drain.
	drained(settled bool, stillNs int64)
	// end: load and drain are over, and the clients are about to close.
	end() error
	// account corrects the accounts of the subscriptions, of which there are none when a worker
	// was lost, and fills what is the part's own.
	account(of []result.SubscriptionLedger)
}

// ended is an interval that has ended.
type ended struct {
	phase    result.PhaseName
	interval result.Interval
	sample   load.Sample
	going    bool // the load goes on: nobody has stopped the run
}

// draining is what a drain waits for.
type draining struct {
	busy     bool  // whatever the counters say
	lengthNs int64 // at most for so long
	awaited  int   // subscriptions, those that read later being the last
}

// idle is a part that does nothing, for others to begin with.
type idle struct{}

func (idle) measured(context.Context)            {}
func (idle) length(int64) int64                  { return 0 }
func (idle) look(int64) (cut bool, err error)    { return false, nil }
func (idle) interval(ended) error                { return nil }
func (idle) drain(*draining)                     {}
func (idle) drained(bool, int64)                 {}
func (idle) end() error                          { return nil }
func (idle) account([]result.SubscriptionLedger) {}

// partsOf returns those that a run's workload asks for.
func partsOf(r *run) (parts []part) {
	w := r.job.Workload
	if w.Settle {
		parts = append(parts, newSettling(r))
	}
	if w.Backlog != nil {
		parts = append(parts, newBacklog(r))
	}
	var faults *faults
	if len(w.Faults) > 0 {
		faults = newFaults(r)
		parts = append(parts, faults)
	}
	if spender, able := r.cluster.(system.Spender); able && r.run.Bill != nil {
		parts = append(parts, &purse{run: r, spender: spender})
	}
	if w.Audit {
		parts = append(parts, &audit{run: r, faults: faults})
	}
	if r.job.Target.Hooks != (target.Hooks{}) {
		parts = append(parts, newHooks(r))
	}
	return parts
}
