package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Options describes how to run a study.
type Options struct {
	Folder *Folder
	Study  *Study
	Job    NewJob
	// Measure measures a job and judges its run. The run has the job's Asked. It may be returned
	// together with an error.
	Measure func(ctx context.Context, job *bench.Job) (*result.Saved, error)
	Watch   Watch
}

// Watch receives the progress of a study, from the goroutine that runs it.
type Watch interface {
	peak.Watch
	// Cell is called before each cell is measured.
	Cell(number, of int, c *Cell, job *bench.Job)
}

const (
	// points is how many readings a run's window has: enough for internal/compare to find the
	// interval of a figure of one run. Readings are at least leastInterval apart.
	points        = 20
	leastInterval = 100 * time.Millisecond
	mostInterval  = time.Second
)

// identity is equal for two cells that are the same measurement.
type identity struct {
	search           bool
	workload, target string
}

func (c *Cell) identity() identity {
	return identity{c.Measure == MeasurePeak, c.Workload, c.Target}
}

// runner is a study under way. It must be used by one goroutine.
type runner struct {
	Options
	scale    Scale
	complete map[identity]string // directories of complete runs and searches
	serves   string              // the key of the running cluster
	cluster  *bench.Cluster
	broken   map[string]error // clusters that did not start
	mended   map[string]bool  // clusters that were started again
}

// Run measures every cell that is not done, one after the other, until ctx is cancelled. A
// failing cell is recorded and does not end the study. The error is about the folder or about a
// cluster that did not stop.
func Run(ctx context.Context, o Options) (err error) {
	r := &runner{Options: o, broken: map[string]error{}, mended: map[string]bool{}}
	if r.scale, err = FindScale(o.Folder.Plan.Scale); err != nil {
		return err
	}
	if r.complete, err = completeIn(o.Folder.Dir); err != nil {
		return err
	}
	plan := &o.Folder.Plan
	for i := range plan.Cells {
		if c := &plan.Cells[i]; !c.Absent {
			c.State, c.Run, c.Reason = sweep.Pending, "", ""
		}
	}
	defer func() { err = errors.Join(err, r.cluster.Close()) }()
	for n, i := range order(o.Study, *plan) {
		if stopped(ctx) {
			break
		}
		if err := r.cell(ctx, n, i); err != nil {
			return err
		}
	}
	if !stopped(ctx) {
		plan.EndedAt = time.Now().UTC()
	}
	return o.Folder.Save()
}

func stopped(ctx context.Context) bool { return ctx.Err() != nil }

// completeIn finds the complete runs and searches in a folder. It reads the runs and searches
// themselves, because the process may have ended before it saved the plan.
func completeIn(dir string) (map[identity]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the study's folder: %w", err)
	}
	complete := map[identity]string{}
	for _, e := range entries {
		if !e.IsDir() || e.Name()[0] == '.' {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if m, whole := measuredAt(path, MeasurePeak); whole {
			complete[identity{true, m.Search.Asked.Workload, m.Search.Asked.Target}] = e.Name()
		} else if m, whole := measuredAt(path, MeasureRun); whole {
			complete[identity{false, m.Run.Run.Asked.Workload, m.Run.Run.Asked.Target}] = e.Name()
		}
	}
	return complete, nil
}

// Reconcile records which cells of a folder are complete, as far as their rates are known.
func Reconcile(f *Folder) error {
	complete, err := completeIn(f.Dir)
	if err != nil {
		return err
	}
	for i := range f.Plan.Cells {
		if c := &f.Plan.Cells[i]; !c.Absent {
			c.State, c.Run, c.Reason = sweep.Pending, complete[c.identity()], ""
			if c.Run != "" {
				c.State = sweep.Done
			}
		}
	}
	return nil
}

// cell measures a cell, unless the same measurement is complete.
func (r *runner) cell(ctx context.Context, n, i int) error {
	c := &r.Folder.Plan.Cells[i]
	job, err := r.jobOf(c)
	if err != nil {
		c.State, c.Reason = sweep.Failed, err.Error()
		return r.Folder.Save()
	}
	if dir := r.complete[c.identity()]; dir != "" {
		c.State, c.Run = sweep.Done, dir
		return r.Folder.Save()
	}
	c.State = sweep.Running
	if err := r.Folder.Save(); err != nil {
		return err
	}
	r.Watch.Cell(n+1, len(r.Folder.Plan.Cells), c, job)
	if err := r.serve(ctx, job); err != nil {
		c.State, c.Reason = sweep.Failed, err.Error()
	} else {
		r.measure(ctx, c, job)
	}
	switch {
	case stopped(ctx) && c.State != sweep.Done:
		c.State, c.Reason = sweep.Pending, ""
	case c.State == sweep.Failed:
		r.mend(c)
	}
	return r.Folder.Save()
}

// mend stops a cluster on which a cell failed, because its servers may have died. The next cell
// gets a new cluster. It does so once for each cluster, because the cell itself may be the
// cause.
func (r *runner) mend(c *Cell) {
	if r.cluster == nil || r.mended[r.serves] {
		return
	}
	r.mended[r.serves] = true
	if err := r.cluster.Close(); err != nil {
		c.Reason += "; then its cluster: " + err.Error()
	}
	r.cluster, r.serves = nil, ""
}

// jobOf returns the checked job of a cell, at the rate that its peaks give.
func (r *runner) jobOf(c *Cell) (*bench.Job, error) {
	if c.Rate != "" && !r.scale.Published {
		rate, err := r.rate(c.Rate)
		if err != nil {
			return nil, err
		}
		t := r.Study.Table(c.Table)
		for _, at := range t.places() {
			if at.name() != c.At {
				continue
			}
			w, err := r.Study.workloadAt(t, at, r.scale, rate,
				r.Study.workload(t.Workload).Backlog != nil)
			if err != nil {
				return nil, err
			}
			c.Workload = w.YAML()
		}
	}
	job, err := c.job(r.Job, r.Folder.Dir)
	if err != nil {
		return nil, err
	}
	job.Asked = result.Asked{Command: r.Folder.Plan.Command, Workload: c.Workload, Target: c.Target}
	job.Interval = min(max(job.Workload.Duration/points, leastInterval), mostInterval)
	return job, nil
}

// rate returns a rate of the study, in messages per second, as a share of measured peaks. For a
// search without a stable rate it takes the highest acknowledged rate, so that a noisy machine
// does not fail all other cells.
func (r *runner) rate(name string) (float64, error) {
	of := r.Study.rate(name)
	var peaks []float64
	for _, c := range r.Folder.Plan.Cells {
		for _, at := range of.At {
			if c.Table != of.Table || c.At != at || c.Run == "" {
				continue
			}
			m, _ := measuredAt(filepath.Join(r.Folder.Dir, c.Run), MeasurePeak)
			if most := mostCarried(m.Search); most > 0 {
				peaks = append(peaks, most)
			}
		}
	}
	return of.shareOf(peaks)
}

// mostCarried returns the peak of a search, or the highest acknowledged rate when no rate was
// stable.
func mostCarried(s *peak.Saved) (most float64) {
	if s == nil || s.Bracket.StableRate > 0 {
		most, _ = peakRate(Measured{Search: s})
		return most
	}
	for _, p := range s.Trials {
		most = max(most, p.AchievedRate)
	}
	return most
}

// serve starts the cluster that a job needs, unless it is running.
func (r *runner) serve(ctx context.Context, job *bench.Job) error {
	key := clusterOf(job)
	if err := r.broken[key]; err != nil {
		return err
	}
	if r.serves != key {
		err := r.cluster.Close()
		r.cluster, r.serves = nil, ""
		if err != nil {
			return err
		}
		logs := result.NamePart(
			fmt.Sprintf("%s-level-%d", job.Target.Name, job.Workload.Durability))
		cluster, err := bench.OpenCluster(ctx, job,
			filepath.Join(r.Folder.Dir, result.LogsDir, logs), r.Watch)
		if err != nil {
			if !stopped(ctx) {
				r.broken[key] = err
			}
			return err
		}
		r.cluster, r.serves = cluster, key
		job.Cluster = cluster
		return bench.Warm(ctx, job, r.scale.Warm, r.Watch)
	}
	job.Cluster = r.cluster
	return nil
}

// measure measures a cell and records its result.
func (r *runner) measure(ctx context.Context, c *Cell, job *bench.Job) {
	var dir string
	var state result.State
	var err error
	reason := ""
	if c.Measure == MeasurePeak {
		var s *peak.Saved
		if s, err = r.search(ctx, job); s != nil {
			dir, state, reason = s.Dir, s.State, s.StateReason
		}
	} else {
		var s *result.Saved
		if s, err = r.Measure(ctx, job); s != nil {
			dir, state, reason = s.Dir, s.Run.State, s.Run.StateReason
		}
	}
	c.State = sweep.Failed
	if dir != "" {
		c.Run = filepath.Base(dir)
	}
	if state == result.Complete && err == nil {
		c.State = sweep.Done
		r.complete[c.identity()] = c.Run
		return
	}
	c.Reason = reason
	if err != nil {
		c.Reason = err.Error()
	}
	c.Reason = cmp.Or(c.Reason, "the measurement did not finish")
}

// search searches for the peak of a job's system.
func (r *runner) search(ctx context.Context, job *bench.Job) (*peak.Saved, error) {
	trial, w := *job, *job.Workload
	start := w.Load.Segments[0].From
	if err := w.SetDuration(r.scale.Trial); err != nil {
		return nil, err
	}
	trial.Workload, trial.Interval = &w, 0
	return peak.Run(ctx, peak.Options{
		Job: &trial,
		Plan: peak.Plan{
			StartRate: start, Tolerance: r.scale.Tolerance, Confirmations: r.scale.Confirm,
			MaxTrials: peak.MostTrials,
			LeastRate: peak.FewestMessages / r.scale.Trial.Seconds(), MostRate: workload.MaxRate,
		},
		Trial: r.scale.Trial, Confirm: peak.ConfirmTimes * r.scale.Trial, MaxTime: r.scale.Search,
		Watch: r.Watch,
	})
}
