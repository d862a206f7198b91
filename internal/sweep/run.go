package sweep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Reconcile finds the cells whose runs are complete, by the run directories
// themselves: the process may have ended before the plan could say so. All
// others are pending again. What they left behind stays.
func (f *Folder) Reconcile() error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return fmt.Errorf("read the sweep's folder: %w", err)
	}
	type asked struct{ workload, target string }
	complete := map[asked]string{}
	for _, e := range entries {
		if !e.IsDir() || e.Name()[0] == '.' {
			continue
		}
		// What is no run, or cannot be read, is no complete run either.
		if s, err := result.Read(filepath.Join(f.Dir, e.Name())); err == nil &&
			s.Run.State == result.Complete {
			complete[asked{s.Run.Asked.Workload, s.Run.Asked.Target}] = e.Name()
		}
	}
	for i := range f.Plan.Cells {
		c := &f.Plan.Cells[i]
		c.State, c.Run, c.Reason = Pending, complete[asked{c.Workload, c.Target}], ""
		if c.Run != "" {
			c.State = Done
		}
	}
	return f.Save()
}

// Left is how many cells are still to be measured.
func (p *Plan) Left() int {
	n := 0
	for _, c := range p.Cells {
		if c.State != Done {
			n++
		}
	}
	return n
}

// Measure measures a cell: it returns the cell's run as far as there is one,
// and why it did not come to its end. The run's Asked must hold the cell's own
// workload and target.
type Measure func(ctx context.Context, cell int) (*result.Saved, error)

// Run measures every cell that is not done, one after the other, until ctx is
// cancelled. A cell that fails is noted. The error is about the folder.
func (f *Folder) Run(ctx context.Context, measure Measure) error {
	for i := range f.Plan.Cells {
		c := &f.Plan.Cells[i]
		if c.State == Done {
			continue
		}
		if stopped(ctx) {
			return nil
		}
		c.State, c.Run, c.Reason = Running, "", ""
		if err := f.Save(); err != nil {
			return err
		}
		c.ended(ctx, measure, i)
		if err := f.Save(); err != nil {
			return err
		}
	}
	if stopped(ctx) {
		return nil
	}
	f.Plan.EndedAt = time.Now().UTC()
	return f.Save()
}

func stopped(ctx context.Context) bool { return ctx.Err() != nil }

// ended measures a cell and notes what came of it.
func (c *Cell) ended(ctx context.Context, measure Measure, i int) {
	run, err := measure(ctx, i)
	c.State = Failed
	if run != nil {
		c.Run = filepath.Base(run.Dir)
		switch run.Run.State {
		case result.Complete:
			c.State = Done
		case result.Interrupted:
			c.State = Pending
		default:
			c.Reason = run.Run.StateReason
		}
	}
	if err != nil {
		c.Reason = err.Error()
	}
	if c.State == Failed && stopped(ctx) {
		c.State, c.Reason = Pending, ""
	}
}
