package study

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Options describes how to run a study.
type Options struct {
	Folder *Folder
	Study  *Study
	Job    NewJob
	// Ran, if not nil, is called with each run that did not fail.
	Ran func(run *result.Saved) error
	// Do replaces the runs and searches; nil: jobs are measured.
	Do    func(ctx context.Context, job *bench.Job) experiment.Outcome
	Watch Watch
}

// Watch receives the progress of a study, from the goroutine that runs it.
type Watch interface {
	peak.Watch
	// Cell is called before each cell is measured.
	Cell(number, of int, c *Cell, job *bench.Job)
}

func (c *Cell) identity() experiment.Identity {
	id := experiment.Identity{Workload: c.Workload, Target: c.Target}
	if c.Measure == MeasurePeak {
		id.Kind = experiment.Peak
	}
	return id
}

// runner is a study under way. It is the strategy that asks for one cell after another.
type runner struct {
	Options
	plan     *Plan
	scale    Scale
	complete map[experiment.Identity]string // names of complete runs and searches
	left     []int                          // cells, in the order of measurement
	at       int                            // the current cell
	number   int                            // of it, in the order of measurement
	again    bool                           // the current cell is measured a second time
	since    time.Time                      // the last call of spend
}

// Run measures every cell that is not done, one by one, until ctx is cancelled. A failing cell is
// recorded and does not end the study. Cells that need the same servers share them. Servers on
// which a cell failed are started again once, because the cell itself may be the cause. The error
// is about the folder or about servers that did not stop.
func Run(ctx context.Context, o Options) (err error) {
	r := &runner{Options: o, plan: o.Folder.Saved}
	if r.scale, err = r.Study.Scale(r.plan.Scale); err != nil {
		return err
	}
	if r.complete, err = completeIn(o.Folder.Dir()); err != nil {
		return err
	}
	r.plan.lengthen(o.Study)
	r.plan.reconcile(r.complete)
	r.left, r.since = order(o.Study, r.plan), time.Now()
	return o.Folder.Run(ctx, r, experiment.Options{Watch: o.Watch, Renewals: 1, Ran: o.Ran})
}

// reconcile records which cells are complete. A complete cell counts even if it could not be
// measured here now. The other cells that can be measured here are pending.
func (p *Plan) reconcile(complete map[experiment.Identity]string) {
	for i := range p.Cells {
		c := &p.Cells[i]
		run := complete[c.identity()]
		if run != "" {
			c.Absent = false
		}
		if !c.Absent {
			c.Reconcile(run)
		}
	}
}

// completeIn returns the names of the complete runs and searches in a folder.
func completeIn(dir string) (map[experiment.Identity]string, error) {
	runs, err := experiment.Complete(dir)
	if err != nil {
		return nil, err
	}
	searches, err := peak.Folders.Complete(dir)
	maps.Copy(runs, searches)
	return runs, err
}

// Next returns the measurement of the next cell, or of the current one once more. It records the
// cells before it whose job is refused, or whose measurement is complete.
func (r *runner) Next() (*experiment.Measurement, error) {
	if r.again {
		c := &r.plan.Cells[r.at]
		if job, err := r.jobOf(c); err == nil {
			r.Watch.Cell(r.number, r.number+len(r.left), c, job)
			return r.measurement(c, job), nil
		}
		r.again = false
	}
	for {
		if len(r.left) == 0 {
			if err := r.further(); err != nil || len(r.left) == 0 {
				return nil, err
			}
		}
		r.at, r.left = r.left[0], r.left[1:]
		r.number++
		c := &r.plan.Cells[r.at]
		job, err := r.jobOf(c)
		switch run := r.complete[c.identity()]; {
		case run != "":
			c.Set(experiment.Done, run, "")
		case err != nil:
			c.Set(experiment.Failed, "", err.Error())
		default:
			c.Set(experiment.Running, "", "")
			r.Watch.Cell(r.number, r.number+len(r.left), c, job)
			return r.measurement(c, job), r.Folder.Save()
		}
		if err := r.Folder.Save(); err != nil {
			return nil, err
		}
	}
}

// seeksPeak reports whether a peak is still to be found on the servers of a cell, which are warmed
// up once for all of its cells.
func (r *runner) seeksPeak(c *Cell) bool {
	return c.Measure == MeasurePeak || slices.ContainsFunc(r.left, func(i int) bool {
		other := &r.plan.Cells[i]
		return other.Measure == MeasurePeak && other.Round == c.Round &&
			other.grouped() == c.grouped()
	})
}

func (r *runner) measurement(c *Cell, job *bench.Job) *experiment.Measurement {
	if system.Starts(job.System, job.Target) {
		job.WarmUp = bench.WarmUp{Auto: true, Fastest: r.seeksPeak(c)}
	}
	m := &experiment.Measurement{Job: job, Servers: clusterOf(job), Do: r.Do}
	if c.Measure == MeasurePeak && r.Do == nil {
		m.Do = r.search
	}
	return m
}

// Take records the outcome of a cell. A run that kept its promises and whose figures are left out,
// because its servers were still changing or plimsoll limited it, is made a second time on the same
// servers. The second counts if it is complete.
func (r *runner) Take(ctx context.Context, o experiment.Outcome) error {
	c := &r.plan.Cells[r.at]
	if was := *c; r.again {
		if c.Take(ctx, o); c.State == experiment.Done {
			c.Twice = true
		} else {
			*c = was
		}
	} else {
		c.Take(ctx, o)
	}
	r.spend()
	if c.State == experiment.Done {
		r.complete[c.identity()] = c.Run
	}
	r.again = !r.again && ctx.Err() == nil && c.State == experiment.Done && o.Run != nil &&
		spoiled(o.Run)
	return r.Folder.Save()
}

// spoiled reports whether a sound run's figures are left out for a reason that may have passed.
func spoiled(run *result.Saved) bool {
	_, why := verdict.RankingOf(&run.Run)
	return verdict.Sound(&run.Run) &&
		(why.Code == verdict.Generator || why.Code == verdict.Steady)
}

// jobOf returns the checked job of a cell, at the rate that its peaks give.
func (r *runner) jobOf(c *Cell) (*bench.Job, error) {
	if c.Rate != "" && r.Study.rate(c.Rate).shared(r.scale) {
		rate, err := r.rate(c)
		if err != nil {
			return nil, err
		}
		t := r.Study.Table(c.Table)
		w, err := r.Study.workloadAt(t, c.placeIn(t), r.scale, rate,
			r.Study.workload(t.Workload).Backlog != nil)
		if err != nil {
			return nil, err
		}
		c.Workload = w.YAML()
	}
	job, err := c.job(r.Job, r.Folder.Dir())
	if err != nil {
		return nil, err
	}
	job.Asked = result.Asked{Command: r.plan.Asked.Command, Workload: c.Workload,
		Target: c.Target}
	job.Interval = experiment.Interval(job.Workload.Duration)
	return job, nil
}

// rate returns the rate of a cell, in messages per second, as a share of measured peaks. For a
// search without a stable rate it takes the highest acknowledged rate, so that a noisy machine
// does not fail all other cells.
func (r *runner) rate(c *Cell) (float64, error) {
	of := r.Study.rate(c.Rate)
	var rates []float64
	for _, at := range r.Study.peaksOf(r.plan, c) {
		same := func(round int) bool { return round == c.Round }
		for _, s := range r.searchesAt(of.Table, at, 0, same) {
			if most := mostCarried(s); most > 0 {
				rates = append(rates, r.Study.shareOf(of, at)*most)
			}
		}
	}
	return lowest(rates)
}

// searchesAt returns the searches of some rounds at a place of a table, as published or at an equal
// level.
func (r *runner) searchesAt(table, at string, equal int, in func(round int) bool) (
	out []*peak.Saved) {
	for _, c := range r.plan.Cells {
		if c.Table != table || c.At != at || c.Equal != equal || c.Run == "" || !in(c.Round) {
			continue
		}
		if s, err := peak.Folders.Read(filepath.Join(r.Folder.Dir(), c.Run)); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// mostCarried returns the peak of a search, or the highest acknowledged rate when no rate was
// stable.
func mostCarried(s *peak.Saved) (most float64) {
	if s.Bracket.StableRate > 0 {
		return s.Bracket.StableRate
	}
	for _, p := range s.Trials {
		most = max(most, p.AchievedRate)
	}
	return most
}

// search searches for the peak of a job's system.
func (r *runner) search(ctx context.Context, job *bench.Job) experiment.Outcome {
	trial, w := *job, *job.Workload
	start, near, err := r.start(ctx, job)
	if err != nil {
		return experiment.Outcome{Err: err}
	}
	window := time.Duration(r.scale.Trial)
	if err := w.SetDuration(window); err != nil {
		return experiment.Outcome{Err: err}
	}
	trial.Workload, trial.Interval = &w, 0
	s, err := peak.Run(ctx, peak.Options{
		Job: &trial,
		Plan: peak.Plan{
			StartRate: start, Near: near, Tolerance: r.scale.Tolerance,
			Confirmations: r.scale.Confirm, MaxTrials: peak.MostTrials,
			LeastRate: peak.FewestMessages / window.Seconds(), MostRate: workload.MaxRate,
		},
		Trial: window, Confirm: peak.ConfirmTimes * window, MaxTime: time.Duration(r.scale.Search),
		Watch: r.Watch,
	})
	if s == nil {
		return experiment.Outcome{Err: err}
	}
	return experiment.Outcome{Dir: s.Dir, State: s.State, StateReason: s.StateReason, Err: err}
}
