package peak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
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
	// MaxTime bounds the search without the start of servers and their warm-up: no trial begins
	// that would end later.
	MaxTime time.Duration
	// Resume is the folder of a search to continue; "": a new one.
	Resume string
	Watch  Watch
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
	// leastLate and lateShare bound how long after its window an overloaded trial continues to
	// send late messages. Its verdict is known by then, and sent messages must still be drained.
	leastLate = 2 * time.Second
	lateShare = 5
	// overhead is the assumed time of a trial in addition to its warm-up and window, until it is
	// known from a trial.
	overhead = 2 * time.Second
	// mostFailed is the number of successive failed runs that ends the search.
	mostFailed = 2
)

// finder is a search under way. It is the strategy that asks for one trial after another.
type finder struct {
	Options
	folder  *experiment.Folder[Saved]
	saved   *Saved
	search  *Search
	step    Step                  // of the trial under way
	runs    map[int]*result.Saved // by trial number, without histograms
	beganNs int64                 // when the servers were ready for the first trial; 0: not yet
	usedNs  int64                 // time of the trials before the search was resumed
	extraNs int64                 // time of the last stable trial in addition to warm-up and window
	failed  int                   // successive runs that failed
	hurried bool
	refusal string // why no higher rate could be tried
	remains error  // what the trials did not remove
}

// ErrClosedLoop refuses a search with a closed loop.
var ErrClosedLoop = errors.New("a search offers rates, and a closed loop has none")

// Run searches for the peak of the job's system. It returns the search as it is saved in its
// folder, also together with an error. It returns nil when no trial was made. When ctx is
// cancelled, it returns the trials so far, in the state interrupted.
func Run(ctx context.Context, o Options) (saved *Saved, err error) {
	f := &finder{Options: o, search: NewSearch(o.Plan), runs: map[int]*result.Saved{}}
	if o.Resume == "" {
		f.folder, err = Folders.Create(o.Job.Runs, o.begun(), "peak", o.Job.Target.Name,
			o.Job.Workload.Name)
	} else {
		f.folder, err = Folders.Open(o.Resume)
	}
	if err != nil {
		return nil, err
	}
	f.saved = f.folder.Saved
	if o.Resume != "" {
		if err := f.replay(); err != nil {
			return nil, errors.Join(err, f.folder.Close())
		}
	}
	began := time.Now()
	err = f.folder.Run(ctx, f, experiment.Options{Watch: o.Watch, Cluster: o.Job.Cluster})
	f.saved.TookNs += int64(time.Since(began))
	if len(f.saved.Trials) == 0 {
		if err == nil && f.saved.End == Refused {
			err = errors.New(f.refusal)
		}
		if o.Resume != "" { // its folder may hold trials that were interrupted
			return nil, errors.Join(err, f.folder.Close())
		}
		return nil, errors.Join(err, f.folder.Discard())
	}
	switch {
	case ctx.Err() != nil:
		f.saved.End = Stopped
	case err != nil:
		f.saved.End = Refused
	}
	return f.saved, errors.Join(err, f.remains, f.folder.Save(), f.folder.Close())
}

// begun returns a search without trials.
func (o *Options) begun() *Saved {
	job := o.Job
	s := &Saved{
		Record: experiment.Record{Name: job.Target.Name, Plimsoll: job.Build, Asked: job.Asked,
			Resolved: job.Resolved()},
		Plan: o.Plan, End: Unfinished, Trials: []Trial{}, TrialSeconds: o.Trial.Seconds(),
		ConfirmSeconds: o.Confirm.Seconds(), MaxSeconds: o.MaxTime.Seconds(),
	}
	for _, objective := range o.Objectives {
		s.Objectives = append(s.Objectives, objective.String())
	}
	return s
}

// Next returns the next trial. It ends the search at a rate that cannot be tried, when there is
// no smaller step.
func (f *finder) Next() (*experiment.Measurement, error) {
	for f.saved.End == Unfinished {
		step, end := f.search.Next()
		if end == Unfinished && f.left() < f.needs(step) && f.settle() {
			continue
		}
		if f.hurry(step, end) {
			step, end = f.search.Next()
		}
		switch {
		case end != Unfinished:
			f.end(end)
			return nil, nil
		case step.recheck && f.left() < f.takes(step.Long)+f.afterRecheck():
			f.saved.End = OutOfTime
			return nil, nil
		case f.left() < f.takes(step.Long) && step.Kind == Curve:
			f.end(f.search.ended)
			return nil, nil
		case f.left() < f.takes(step.Long) && len(f.saved.Trials) > 0:
			f.saved.End = OutOfTime
			return nil, nil
		}
		job, err := f.jobOf(step)
		if err != nil {
			f.refuse(step, err)
			continue
		}
		f.step = step
		return &experiment.Measurement{Job: job, Servers: f.saved.Name,
			Begin: f.begin}, nil
	}
	return nil, nil
}

// begin announces a trial. The time of the search begins with the first one.
func (f *finder) begin(job *bench.Job) {
	if f.beganNs == 0 {
		f.beganNs = job.Clock.Now()
	}
	f.Watch.Trial(f.saved, f.step, job)
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
	left := f.MaxTime - time.Duration(f.usedNs)
	if f.beganNs == 0 {
		return left
	}
	return left - time.Duration(f.Job.Clock.Now()-f.beganNs)
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

// afterStretch is the number of trials in a longer window for which there must be time while the
// search explores: a single trial finds no bracket.
const afterStretch = 4

// needs returns the time that must be left for a trial.
func (f *finder) needs(step Step) time.Duration {
	if step.Kind == Stretch && !step.Long {
		return afterStretch * f.takes(step.Long)
	}
	return f.takes(step.Long)
}

// settle counts the last trial as it was, if it was to be made again, and reports whether it did.
func (f *finder) settle() bool {
	if !f.search.Settle() {
		return false
	}
	s := f.saved
	s.Trials[len(s.Trials)-1].Repeated = false
	s.Bracket = f.search.Bracket()
	f.explain()
	return true
}

// hurry ends the exploration when the remaining time is needed to confirm the bracket. It
// reports whether it did so now.
func (f *finder) hurry(step Step, end End) bool {
	b := f.search.Bracket()
	if f.hurried || end != Unfinished || step.Long || b.StableRate == 0 || step.Kind == Curve {
		return false
	}
	needed, ends := f.takes(false), f.search.needed()
	if ends > 0 {
		needed += f.afterRecheck()
	}
	if step.recheck && ends > 0 {
		ends-- // this trial is one of them
	}
	needed += time.Duration(ends) * f.takes(f.Plan.Confirmations > 0)
	f.hurried = f.left() < needed
	if f.hurried {
		f.search.ConfirmOnly()
	}
	return f.hurried
}

// afterRecheck is the time that must be left after a trial at the unstable end, for another one
// above it: if the end is stable now, the search has no upper end. A search with confirmations
// keeps the time of its longer trials at the ends.
func (f *finder) afterRecheck() time.Duration {
	if f.Plan.Confirmations > 0 {
		return 0
	}
	return f.takes(false)
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
	job.Workload, job.Interval = &w, experiment.Interval(w.Duration)
	job.Late = max(w.Duration/lateShare, leastLate)
	if err := w.Validate(); err != nil {
		return nil, err
	}
	return &job, job.Check()
}

// Take judges a trial and saves the search. It sets the end of the search when the search
// cannot continue.
func (f *finder) Take(ctx context.Context, o experiment.Outcome) error {
	if o.Run == nil {
		if o.Dir == "" && ctx.Err() != nil {
			f.saved.End = Stopped
			return nil //nolint:nilerr // a stopped search has not failed
		}
		f.saved.End = Refused
		return o.Err
	}
	planned := f.Job.Workload.Warmup + f.window(f.step.Long)
	f.take(f.step, o.Run)
	if s := f.saved; s.Trials[len(s.Trials)-1].Verdict.Stable {
		// Unstable trials do not count, because an overloaded trial drains for longer.
		f.extraNs = max(o.TookNs-int64(planned), int64(time.Second))
	}
	f.failed++
	if o.Err == nil {
		f.failed = 0
	}
	if o.Err != nil && ctx.Err() == nil && (f.failed >= mostFailed || len(f.saved.Trials) == 1) {
		f.saved.End = Refused
		return errors.Join(o.Err, f.folder.Save())
	}
	if o.State == result.Interrupted && ctx.Err() == nil {
		// The run reached its limit of cost, and a repetition would cost as much again.
		f.refusal = fmt.Sprintf("%s could not be tried: %s", rate(f.step.Rate), o.StateReason)
		f.saved.End, f.saved.StateReason = Refused, f.refusal
	}
	if ctx.Err() == nil { // else it is told already
		f.remains = errors.Join(f.remains, bench.LeftBy(o.Err))
	}
	f.Watch.TrialEnded(f.saved)
	return f.folder.Save()
}

// refuse handles a rate that could not be tried. While the search climbs, a smaller step may
// be possible; otherwise the search ends.
func (f *finder) refuse(step Step, err error) {
	if step.Kind == Curve {
		f.search.curve++
		return
	}
	if f.settle() { // a longer window may be refused where a shorter one is not
		return
	}
	f.refusal = fmt.Sprintf("%s could not be tried: %v", rate(step.Rate), err)
	if b := f.search.Bracket(); b.StableRate > 0 && b.UnstableRate == 0 &&
		step.Rate > b.StableRate {
		f.saved.Capped = Capped{max(step.Rate/2, b.StableRate), f.refusal}
		f.search.Cap(f.saved.Capped.Rate)
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
		Unsound: !verdict.Sound(r),
	}
	account := r.Ledger.Total()
	p.LeftMsgs += account.Lost + account.Unread
	p.Lost, p.Duplicate, p.Unanswered = account.Lost, account.Duplicate, r.Counters.Unknown
	for _, w := range r.Warnings {
		if w.Code == verdict.NoisyMachine {
			p.Noise = w.Sentence
		}
	}
	if len(s.Trials) == 0 {
		s.System, s.Warming, s.Load, s.Durability = r.System, r.Warming, r.Load, r.Durability
	}
	// The explanation does not need the histograms, which are large.
	run.Latency = nil
	f.runs[p.Number] = run
	if p.Judged {
		o := Outcome{Stable: p.Verdict.Stable, AchievedRate: p.AchievedRate}
		o.Passing, o.Short = p.Verdict.Passing, p.Verdict.Short
		o.Undecided = p.Verdict.Undecided
		o.Doubtful = p.Noise != "" ||
			p.Verdict.Clause(verdict.ClauseGenerator).Outcome == result.Broken
		if r.State == result.Failed {
			o.AchievedRate = 0 // it covers only a part of the window
		}
		f.search.Take(o)
		p.Repeated = f.search.again
	}
	s.Trials = append(s.Trials, p)
	s.Bracket = f.search.Bracket()
	f.explain()
}
