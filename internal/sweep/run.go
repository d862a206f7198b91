package sweep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Reconcile finds the cells whose runs are complete. It reads the run directories themselves,
// because the process may have ended before it saved the plan. All other cells become pending;
// their incomplete run directories stay.
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
		// A directory that cannot be read as a run does not count.
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

// Left returns the number of cells that are still to be measured.
func (p *Plan) Left() int {
	n := 0
	for _, c := range p.Cells {
		if c.State != Done {
			n++
		}
	}
	return n
}

// Measure measures a cell. It returns the run, if one was made, also together with an error. The
// run's Asked must have the cell's workload and target.
type Measure func(ctx context.Context, cell int) (*result.Saved, error)

// Run measures every cell that is not done, one after the other, until ctx is cancelled. A
// failing cell is recorded and does not end the sweep. The error is about the folder.
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

// ended measures a cell and records its result.
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
