package bench

import (
	"context"
	"reflect"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
)

// drain waits until every message has been answered and has arrived, for at most the workload's
// drain after the last fault was healed and an audit was opened, and for messages that may come
// later (missing).
func (r *run) drain(ctx context.Context) error {
	if err := r.begin(result.PhaseDrain, "waiting for outstanding messages"); err != nil {
		return err
	}
	d := newDrain(r, r.job.Clock.Now())
	for {
		over, err := d.look(ctx, r.job.Clock.Now())
		if err != nil || over {
			return err
		}
		if now := r.job.Clock.Now(); now-r.readings.lastNs >= r.length(r.readings.lastNs) {
			if err := r.interval(result.PhaseDrain); err != nil {
				return err
			}
		}
		if err := r.sleep(context.Background(), d.lookedNs+int64(drainLook)); err != nil {
			return err
		}
	}
}

// drain is the state of a drain. Its times are of the clock.
type drain struct {
	run               *run
	beginNs, lengthNs int64
	untilNs           int64
	lookedNs          int64 // the last look
	movedNs           int64 // the last change of a counter
	quietSinceNs      int64 // nothing has been missing, and nothing has changed, since
	counters          load.Counters
	awaited           int // subscriptions
	missing           missing
}

// newDrain returns a drain that begins now. Messages that the system withholds on purpose are
// waited for in addition.
func newDrain(r *run, nowNs int64) *drain {
	redelivery, _ := r.job.Redelivery()
	d := &drain{run: r, beginNs: nowNs, lookedNs: nowNs, movedNs: nowNs, quietSinceNs: nowNs,
		lengthNs: r.waitsFor().lengthNs + int64(redelivery.Delay), missing: missing{run: r}}
	d.untilNs = nowNs + d.lengthNs
	return d
}

// look reports whether the drain is over.
func (d *drain) look(ctx context.Context, nowNs int64) (over bool, err error) {
	r := d.run
	if over, err := d.limit(ctx, nowNs); over || err != nil {
		return true, err
	}
	waits := r.waitsFor()
	d.awaited = waits.awaited
	if waits.busy && !r.interrupted {
		d.untilNs = nowNs + d.lengthNs
	}
	if !r.interrupted {
		d.untilNs = max(d.untilNs, min(d.quietSinceNs, d.beginNs+d.lengthNs)+r.lingerNs())
	}
	sample, err := r.sample(false)
	if err != nil {
		return true, err
	}
	d.lookedNs = nowNs
	r.arrivals.look(nowNs, sample.Counters.FreshAt)
	if waits.busy || !reflect.DeepEqual(sample.Counters, d.counters) {
		d.counters, d.movedNs = sample.Counters, nowNs
	}
	settled, err := r.settled(sample.Counters, d.awaited)
	if err != nil {
		return true, err
	}
	if d.movedNs == nowNs || !settled {
		d.quietSinceNs = nowNs
	}
	stillNs := nowNs - d.movedNs
	over = nowNs-d.quietSinceNs >= max(int64(quiet), r.lingerNs())
	for _, p := range r.activities {
		p.drained(over, stillNs)
	}
	return over || r.job.Idle > 0 && stillNs >= d.idleNs(waits), nil
}

// idleNs returns how long nothing must happen before a job's Idle ends the drain.
func (d *drain) idleNs(waits draining) int64 {
	idle := max(int64(d.run.job.Idle), d.run.lingerNs())
	if waits.patient {
		idle = max(idle, int64(missingWait))
	}
	return idle
}

// limit reports whether the drain ends by its limit. A request to stop brings the limit forward.
func (d *drain) limit(ctx context.Context, nowNs int64) (over bool, err error) {
	r := d.run
	if ctx.Err() != nil && !r.interrupted {
		r.interrupted = true
		d.untilNs = min(d.untilNs, nowNs+int64(interruptedDrain))
		if d.missing.beganNs != 0 {
			d.untilNs = nowNs
		}
	}
	if nowNs < d.untilNs {
		return false, nil
	}
	if d.missing.beganNs == 0 {
		r.arrivals.limit(d.beginNs, d.lookedNs)
	}
	goesOn, err := d.missing.goesOn(nowNs, d.counters, d.awaited)
	if goesOn && err == nil {
		d.untilNs = nowNs + int64(missingLook)
		return false, nil
	}
	if began := d.missing.beganNs; began != 0 && began < d.lookedNs {
		r.arrivals.limit(began, d.lookedNs)
	}
	return true, err
}
