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

// Options describes a search.
type Options struct {
	// Job is the run to make at each rate. A trial changes its rate curve, the length of its
	// window and its seed. Its Cluster, if set, stays up.
	Job        *bench.Job
	Plan       Plan
	Objectives []verdict.Objective
	Trial      time.Duration // the measured window of a trial
	Confirm    time.Duration // the measured window of a confirmation
	// Warm is how long servers that the search starts are under load before the first trial.
	Warm time.Duration
	// MaxTime bounds the search without the start of servers and Warm: no trial begins that
	// would end later.
	MaxTime time.Duration
	Watch   Watch
}

// Watch receives the progress of a search, from the goroutine that runs it.
type Watch interface {
	bench.Watch
	// Trial is called before each trial, with the job of its run.
	Trial(s *Saved, step Step, job *bench.Job)
	// TrialEnded is called after each trial, with the search so far.
	TrialEnded(s *Saved)
}

// The bounds of a search's runs.
const (
	// points is how many readings of the queues a window has: enough for a narrow interval of
	// their slope. Readings are at least leastInterval apart.
	points        = 20
	leastInterval = 100 * time.Millisecond
	mostInterval  = time.Second
	// leastLate and lateShare bound how long after its window an overloaded trial continues to
	// send late messages. Its verdict is known by then, and sent messages must still be drained.
	leastLate = 2 * time.Second
	lateShare = 5
	// overhead is the assumed time of a trial beside its warm-up and window, until a trial has
	// shown it.
	overhead = 2 * time.Second
	// mostFailed is the number of successive failed runs that ends the search.
	mostFailed = 2
)

// finder is a search under way. It must be used by one goroutine.
type finder struct {
	Options
	root    string // of the search's folder
	saved   *Saved
	search  *Search
	cluster *bench.Cluster
	runs    map[int]*result.Saved // by trial number, without histograms
	beganNs int64                 // when the cluster was ready for the first trial
	extraNs int64                 // time of the last stable trial beside warm-up and window
	failed  int                   // successive runs that failed
	hurried bool
	refusal string // why no higher rate could be tried
}

// Run searches for the peak of the job's system. It returns the search as it is saved in its
// folder, also together with an error. It returns nil when no trial was made. When ctx is
// cancelled, it returns the trials so far, in the state interrupted.
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

// warm puts servers that the search has started under load.
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
			return nil //nolint:nilerr // a stopped search has not failed
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

// end records why the search has ended.
func (f *finder) end(end End) {
	switch {
	case f.hurried && end != Found:
		end = OutOfTime
	case f.refusal != "" && end == NoLimit:
		end, f.saved.StateReason = Refused, f.refusal
	}
	f.saved.End = end
}

// left returns the time that the search may still take.
func (f *finder) left() time.Duration {
	return f.MaxTime - time.Duration(f.Job.Clock.Now()-f.beganNs)
}

// takes returns the expected time of a trial.
func (f *finder) takes(long bool) time.Duration {
	return f.Job.Workload.Warmup + f.window(long) + cmp.Or(time.Duration(f.extraNs), overhead)
}

func (f *finder) window(long bool) time.Duration {
	if long {
		return f.Confirm * time.Duration(f.search.stretch)
	}
	return f.Trial * time.Duration(f.search.stretch)
}

// hurry ends the exploration when the remaining time is needed to confirm the bracket. It
// reports whether it did so now.
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
		f.search.ConfirmOnly()
	}
	return f.hurried
}

// jobOf returns the job of a trial's run.
func (f *finder) jobOf(step Step) (*bench.Job, error) {
	job, w := *f.Job, *f.Job.Workload
	w.SetRate(step.Rate)
	if err := w.SetDuration(f.window(step.Long)); err != nil {
		return nil, err
	}
	// With the same seed a repetition would repeat the same random arrivals.
	w.Seed += uint64(len(f.saved.Trials))
	job.Workload, job.Cluster, job.Runs = &w, f.cluster, f.saved.Dir
	job.Interval = min(max(w.Duration/points, leastInterval), mostInterval)
	job.Late = max(w.Duration/lateShare, leastLate)
	if err := w.Validate(); err != nil {
		return nil, err
	}
	return &job, job.Check()
}

// trial makes a trial, judges it and saves the search. It sets the end of the search when the
// search cannot continue.
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
		// Unstable trials do not count, because an overloaded trial drains for longer.
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

// refuse handles a rate that could not be tried. While the search climbs, a smaller step may
// be possible; otherwise the search ends.
func (f *finder) refuse(step Step, err error) {
	f.refusal = fmt.Sprintf("%s could not be tried: %v", rate(step.Rate), err)
	if b := f.search.Bracket(); b.StableRate > 0 && b.UnstableRate == 0 &&
		step.Rate > b.StableRate {
		f.search.Cap(max(step.Rate/2, b.StableRate))
		return
	}
	f.saved.End, f.saved.StateReason = Refused, f.refusal
}

// take adds a run to the search.
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
	// The explanation does not need the histograms, which are large.
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
