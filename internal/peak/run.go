package peak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Options says what to search.
type Options struct {
	// Job is the run to make at each rate: all of its workload but the rate
	// curve and the length of the window holds for every trial. Its Cluster, if
	// it has one, is left up.
	Job        *bench.Job
	Plan       Plan
	Objectives []verdict.Objective
	Trial      time.Duration // the measured window of a trial
	Confirm    time.Duration // that of a confirmation
	// Warm is for how long servers that the search starts are given load before
	// its first trial.
	Warm    time.Duration
	MaxTime time.Duration // no trial begins that would end later; the start and Warm are not in it
	Watch   Watch
}

// Watch is told how a search goes, from the goroutine that runs it.
type Watch interface {
	bench.Watch
	// Trial comes before a trial; the job is the run that it makes.
	Trial(s *Saved, step Step, job *bench.Job)
	// TrialEnded comes after it, with what is known by then.
	TrialEnded(s *Saved)
}

// The bounds of what a search does with its runs.
const (
	// points is how many readings of the queues a window has: enough for the
	// interval of their slope to be narrow, and no closer than leastInterval.
	points        = 20
	leastInterval = 100 * time.Millisecond
	mostInterval  = time.Second
	// leastLate and lateShare bound for how long an overloaded trial goes on
	// handing over what is late: its verdict is known by then, and what it
	// has handed over must still be drained.
	leastLate = 2 * time.Second
	lateShare = 5
	// overhead is what a trial takes beside its warm-up and window, until one
	// has been made.
	overhead = 2 * time.Second
	// mostFailed is how many runs may fail one after another before the cluster
	// is given up.
	mostFailed = 2
)

// finder is a search under way. It is used by one goroutine.
type finder struct {
	Options
	root    string // of the search's folder
	saved   *Saved
	search  *Search
	cluster *bench.Cluster
	runs    map[int]*result.Saved // by trial number, without histograms
	beganNs int64                 // when the first trial could begin
	extraNs int64                 // what the last stable trial took beside warm-up and window
	failed  int                   // runs that failed, one after another
	hurried bool
	refusal string // why no higher rate could be tried
}

// Run searches the peak of the job's system. It returns what was found, as it
// stands in the folder of the search, also beside an error; nil when nothing
// was measured. When ctx is cancelled the search ends with what it has, in the
// state interrupted.
func Run(ctx context.Context, o Options) (saved *Saved, err error) {
	f := &finder{Options: o, search: NewSearch(o.Plan), runs: map[int]*result.Saved{},
		root: o.Job.Runs}
	if err := f.create(); err != nil {
		return nil, err
	}
	f.cluster = o.Job.Cluster
	if f.cluster == nil {
		f.cluster, err = bench.OpenCluster(ctx, o.Job, filepath.Join(f.saved.Dir, result.LogsDir),
			o.Watch)
		if err == nil {
			err = f.warm(ctx)
		}
	}
	if err == nil {
		f.beganNs = o.Job.Clock.Now()
		err = f.searchAll(ctx)
	}
	if o.Job.Cluster == nil {
		err = errors.Join(err, f.cluster.Close())
	}
	if len(f.saved.Trials) == 0 {
		f.discard()
		return nil, err
	}
	return f.saved, cmp.Or(f.finish(ctx, err), err)
}

// warm gives servers that the search has started their first load.
func (f *finder) warm(ctx context.Context) error {
	job := *f.Job
	job.Cluster, job.Runs = f.cluster, f.saved.Dir
	return bench.Warm(ctx, &job, f.Warm, f.Watch)
}

// searchAll makes one trial after another until the search has ended.
func (f *finder) searchAll(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			f.saved.End = Stopped
			return nil //nolint:nilerr // a search that was told to stop has not failed
		}
		step, end := f.search.Next()
		if f.hurry(step, end) {
			step, end = f.search.Next()
		}
		if end != Unfinished {
			f.end(end)
			return nil
		}
		if f.left() < f.takes(step.Long) && len(f.saved.Trials) > 0 {
			f.saved.End = OutOfTime
			return nil
		}
		if err := f.trial(ctx, step); err != nil || f.saved.End != Unfinished {
			return err
		}
	}
}

// end notes why the search has nothing more to do.
func (f *finder) end(end End) {
	switch {
	case f.hurried && end != Found:
		end = OutOfTime
	case f.refusal != "" && end == NoLimit:
		end, f.saved.StateReason = Refused, f.refusal
	}
	f.saved.End = end
}

// left is the time that the search may still take.
func (f *finder) left() time.Duration {
	return f.MaxTime - time.Duration(f.Job.Clock.Now()-f.beganNs)
}

// takes is the time that a trial should take.
func (f *finder) takes(long bool) time.Duration {
	return f.Job.Workload.Warmup + f.window(long) + cmp.Or(time.Duration(f.extraNs), overhead)
}

func (f *finder) window(long bool) time.Duration {
	if long {
		return f.Confirm * time.Duration(f.search.stretch)
	}
	return f.Trial * time.Duration(f.search.stretch)
}

// hurry ends the exploring when the time that is left is needed to confirm what
// was found, and reports whether it did so now.
func (f *finder) hurry(step Step, end End) bool {
	b := f.search.Bracket()
	if f.hurried || end != Unfinished || step.Long || b.StableRate == 0 {
		return false
	}
	needed := f.takes(false)
	for range f.search.needed() {
		needed += f.takes(true)
	}
	f.hurried = f.left() < needed
	if f.hurried {
		f.search.Settle()
	}
	return f.hurried
}

// jobOf is the run of a trial.
func (f *finder) jobOf(step Step) (*bench.Job, error) {
	job, w := *f.Job, *f.Job.Workload
	w.SetRate(step.Rate)
	if err := w.SetDuration(f.window(step.Long)); err != nil {
		return nil, err
	}
	// A repetition of the same random numbers would repeat their luck.
	w.Seed += uint64(len(f.saved.Trials))
	job.Workload, job.Cluster, job.Runs = &w, f.cluster, f.saved.Dir
	job.Interval = min(max(w.Duration/points, leastInterval), mostInterval)
	job.Late = max(w.Duration/lateShare, leastLate)
	if err := w.Validate(); err != nil {
		return nil, err
	}
	return &job, job.Check()
}

// trial makes a trial, judges it and writes what is known. It sets the end of
// the search where that cannot go on.
func (f *finder) trial(ctx context.Context, step Step) error {
	job, err := f.jobOf(step)
	if err != nil {
		f.refuse(step, err)
		return nil
	}
	f.Watch.Trial(f.saved, step, job)
	began := job.Clock.Now()
	dir, runErr := bench.Run(ctx, job, f.Watch)
	if dir == "" {
		if ctx.Err() != nil {
			f.saved.End = Stopped
			return nil //nolint:nilerr // as above
		}
		f.saved.End = Refused
		return runErr
	}
	extraNs := job.Clock.Now() - began - int64(job.Workload.Warmup+job.Workload.Duration)
	run, err := verdict.Keep(dir)
	if err != nil {
		f.saved.End = Refused
		return cmp.Or(runErr, err)
	}
	f.take(step, run)
	if s := f.saved; s.Trials[len(s.Trials)-1].Verdict.Stable {
		// An overloaded trial drains for longer than the next will.
		f.extraNs = max(extraNs, int64(time.Second))
	}
	f.failed++
	if runErr == nil {
		f.failed = 0
	}
	if runErr != nil && ctx.Err() == nil && (f.failed >= mostFailed || len(f.saved.Trials) == 1) {
		f.saved.End = Refused
		return errors.Join(runErr, f.saved.save())
	}
	f.Watch.TrialEnded(f.saved)
	return f.saved.save()
}

// refuse takes it that a rate could not be tried: while climbing a smaller step
// may do.
func (f *finder) refuse(step Step, err error) {
	f.refusal = fmt.Sprintf("%s could not be tried: %v", rate(step.Rate), err)
	if b := f.search.Bracket(); b.StableRate > 0 && b.UnstableRate == 0 &&
		step.Rate > b.StableRate {
		f.search.Cap(max(step.Rate/2, b.StableRate))
		return
	}
	f.saved.End, f.saved.StateReason = Refused, f.refusal
}

// take adds a run to what is known.
func (f *finder) take(step Step, run *result.Saved) {
	s, r := f.saved, &run.Run
	p := Trial{
		Number: len(s.Trials) + 1, Dir: filepath.Base(run.Dir), Kind: step.Kind, Long: step.Long,
		Judged: r.State == result.Complete || r.State == result.Failed, TargetRate: step.Rate,
		OfferedRate: r.Summary.OfferedRate, AchievedRate: r.Summary.AchievedRate,
		ReceivedRate:  r.Summary.ReceivedRate,
		WindowSeconds: float64(r.Summary.WindowNs) / 1e9, Latency: r.Summary.Latency,
		LeftMsgs: r.Counters.Unknown + r.Warmup.Unknown, Verdict: verdict.Stable(run, f.Objectives),
	}
	for _, l := range r.Ledger.Subscriptions {
		p.LeftMsgs += l.Lost
	}
	for _, w := range r.Warnings {
		if w.Code == verdict.NoisyMachine {
			p.Noise = w.Sentence
		}
	}
	if len(s.Trials) == 0 {
		s.System, s.Load, s.Durability = r.System, r.Load, r.Durability
		result.PointLatest(f.root, s.ID)
	}
	// Whether they are wanted is a matter of the rest; histograms are large.
	run.Latency = nil
	f.runs[p.Number] = run
	if p.Judged {
		o := Outcome{Stable: p.Verdict.Stable, AchievedRate: p.AchievedRate}
		o.Passing, o.Short = p.Verdict.Passing, p.Verdict.Short
		o.Doubtful = p.Noise != "" ||
			p.Verdict.Clause(verdict.ClauseGenerator).Outcome == result.Broken
		if r.State == result.Failed {
			o.AchievedRate = 0 // of a part of the window
		}
		f.search.Take(o)
		p.Repeated = f.search.again
	}
	s.Trials = append(s.Trials, p)
	s.Bracket = f.search.Bracket()
	f.explain()
}
