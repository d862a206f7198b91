package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	intervalLength = time.Second // unless the job says otherwise
	// headStart is the time between the decision to start and the first message, in which the
	// pacers get ready.
	headStart = 20 * time.Millisecond
	// drainLook is the interval between checks that everything has arrived, and quiet the time
	// without an event after which the result counts.
	drainLook = 20 * time.Millisecond
	quiet     = 200 * time.Millisecond
	// interruptedDrain is the longest drain of a run that was told to stop.
	interruptedDrain = 3 * time.Second
)

// run is the load of a session: it offers the load, waits for outstanding messages, and accounts.
type run struct {
	*session
	course     *load.Course // the owner of the window
	activities []activity
	readings   *readings

	looks       bool // an activity wants regular looks in the measured window
	spacing     spacing
	slept       slept
	closingNs   int64 // when closing the clients began
	interrupted bool  // on request, before load and drain had ended
	arrivals    arrivals
	perWorker   workerFigures

	judged   load.Counters // the counters for which lacks was computed, of judgedOf subscriptions
	judgedOf int
	lacks    bool
}

func newRun(s *session) *run {
	drain := s.job.Workload.Drain
	ahead := headStart
	if s.job.Crew != nil {
		ahead = crewStart
	}
	r := &run{
		session: s, spacing: spacing{everyNs: int64(cmp.Or(s.job.Interval, intervalLength))},
		readings: newReadings(s.run.Load, s.job.Workload),
		course: load.NewCourse(&s.plan, s.job.Clock.Now()+int64(ahead),
			cmp.Or(min(s.job.Late, drain), drain)),
	}
	r.activities, r.looks = activitiesOf(r), s.job.Workload.Backlog != nil
	return r
}

// offer runs the schedule to its end, or until the run is stopped.
func (r *run) offer(ctx context.Context) error {
	w := r.course.Window()
	r.readings.lastNs = w.StartNs
	r.slept.since(r.job.Clock)
	err := load.Together(r.workers, func(i int) error { return r.workers[i].Start(w) })
	if err != nil {
		return fmt.Errorf("start the load: %w", err)
	}
	if w.MeasureNs > w.StartNs {
		// A run that stops itself ends its window before the measured part begins.
		end := func(w load.Window) int64 { return min(w.MeasureNs, w.EndNs) }
		err := r.stretch(ctx, result.PhaseWarmup, "load that is not measured", end)
		if err != nil || r.interrupted || r.stopReason != "" {
			return err
		}
	}
	for _, p := range r.activities {
		p.measured(ctx)
	}
	end := func(w load.Window) int64 { return w.EndNs }
	return r.stretch(ctx, result.PhaseMeasure, "every message counts", end)
}

// cut sends every worker the course's current window.
func (r *run) cut(w load.Window) error {
	err := load.Together(r.workers, func(i int) error { return r.workers[i].Cut(w) })
	if err != nil {
		return fmt.Errorf("cut the load: %w", err)
	}
	return nil
}

// sample returns the merged counters of all workers.
func (r *run) sample(histograms bool) (load.Sample, error) {
	all := make([]load.Sample, len(r.workers))
	err := load.Together(r.workers, func(i int) (err error) {
		all[i], err = r.workers[i].Sample(histograms)
		return err
	})
	if err != nil {
		return load.Sample{}, fmt.Errorf("sample the workers: %w", err)
	}
	merged, err := load.MergeSamples(all...)
	if histograms && r.job.Crew != nil {
		r.perWorker.add(all)
	}
	return merged, err
}

// accounts returns the merged accounts of all workers.
func (r *run) accounts() (load.Account, error) {
	all := make([]load.Account, len(r.workers))
	err := load.Together(r.workers, func(i int) (err error) {
		all[i], err = r.workers[i].Account()
		return err
	})
	if err != nil {
		return load.Account{}, fmt.Errorf("get the workers' accounts: %w", err)
	}
	return load.MergeAccounts(all...)
}

// stretch runs one phase of load, interval by interval, until an end that may move closer
// meanwhile.
func (r *run) stretch(
	ctx context.Context, name result.PhaseName, sentence string, end func(load.Window) int64,
) error {
	if err := r.begin(name, sentence); err != nil {
		return err
	}
	for next := r.readings.lastNs; next < end(r.course.Window()); {
		untilNs := end(r.course.Window())
		length := r.length(next)
		next = min(next+length, untilNs)
		if untilNs-next < length/4 {
			next = untilNs
		}
		cut, err := r.await(ctx, name, next)
		if cut {
			next = r.job.Clock.Now()
		}
		if ctx.Err() != nil {
			err = errors.Join(err, r.stop())
			next = untilNs
		}
		if err != nil {
			_ = r.stop()
			_ = r.interval(name)
			return err
		}
		err = r.interval(name)
		next = min(nextReading(next, r.readings.lastNs, length), untilNs)
		if err != nil {
			return errors.Join(err, r.stop())
		}
	}
	return nil
}

// length returns the length of the interval that begins at a time of the clock.
func (r *run) length(fromNs int64) int64 {
	length := r.spacing.everyNs
	for _, p := range r.activities {
		if most := p.length(fromNs); most > 0 {
			length = min(length, most)
		}
	}
	return length
}

// nextReading returns the position of a reading on the grid of readings, from its due time and its
// actual time. A late reading also replaces the readings that were missed.
func nextReading(dueNs, cameNs, lengthNs int64) int64 {
	return dueNs + max(cameNs-dueNs, 0)/lengthNs*lengthNs
}

// await waits until a time of the clock, and lets the activities look meanwhile. cut says that an
// interval ends here.
func (r *run) await(
	ctx context.Context, phase result.PhaseName, untilNs int64,
) (cut bool, err error) {
	if !r.looks || phase != result.PhaseMeasure {
		return false, r.sleep(ctx, untilNs)
	}
	for now := r.job.Clock.Now(); now < untilNs && ctx.Err() == nil; now = r.job.Clock.Now() {
		for _, p := range r.activities {
			one, err := p.look(now)
			if err != nil {
				return false, err
			}
			cut = cut || one
		}
		if cut {
			return true, nil
		}
		if err := r.sleep(ctx, min(untilNs, now+int64(backlogLook))); err != nil {
			return false, err
		}
	}
	return false, nil
}

// stop stops all hand-overs.
func (r *run) stop() error {
	r.interrupted = true
	return r.cut(r.course.Stop(r.job.Clock.Now()))
}

// sleep waits until a time of the clock, a request to stop, or a failure.
func (r *run) sleep(ctx context.Context, untilNs int64) error {
	timer := time.NewTimer(time.Duration(untilNs - r.job.Clock.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case sentence := <-r.failures:
		return errors.New(sentence)
	}
	return nil
}

// waitsFor returns what the drain must wait for now.
func (r *run) waitsFor() draining {
	w := r.job.Workload
	d := draining{lengthNs: int64(w.Drain), awaited: w.AllSubscriptions()}
	for _, p := range r.activities {
		p.drain(&d)
	}
	return d
}

// lingerNs returns how long the drain continues although nothing is missing.
func (r *run) lingerNs() int64 {
	if r.interrupted {
		return 0
	}
	return int64(r.job.Linger)
}

// settled reports whether there is nothing left to wait for.
func (r *run) settled(c load.Counters, subscriptions int) (bool, error) {
	if !c.Sent || c.InFlight > 0 || c.Backlog(r.job.Workload) > 0 || c.GivenBack > c.Redelivered {
		return false, nil
	}
	// Missing messages are determined again only after an event.
	if !reflect.DeepEqual(c, r.judged) || subscriptions != r.judgedOf {
		accounts, err := r.accounts()
		if err != nil {
			return false, err
		}
		r.judged, r.judgedOf, r.lacks = c, subscriptions, r.plan.Missing(accounts, subscriptions)
	}
	return !r.lacks, nil
}
