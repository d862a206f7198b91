package sweep

import (
	"context"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
)

// Reconcile finds the cells whose runs are complete. All other cells become pending; their
// incomplete run directories stay.
func Reconcile(f *Folder) error {
	complete, err := experiment.Complete(f.Dir())
	if err != nil {
		return err
	}
	for i := range f.Saved.Cells {
		c := &f.Saved.Cells[i]
		c.Set(experiment.Pending, "", "")
		if run := complete[c.identity()]; run != "" {
			c.Set(experiment.Done, run, "")
		}
	}
	return f.Save()
}

func (c *Cell) identity() experiment.Identity {
	return experiment.Identity{Workload: c.Workload, Target: c.Target}
}

// Left returns the number of cells that must still be measured.
func (p *Plan) Left() int {
	n := 0
	for _, c := range p.Cells {
		if c.State != experiment.Done {
			n++
		}
	}
	return n
}

// Run measures every cell that is not done, one by one, until ctx is cancelled. A failing cell is
// recorded and does not end the sweep. measure returns the measurement of a cell; its run's Asked
// must have the cell's workload and target. The error is about the folder.
func Run(ctx context.Context, f *Folder, o experiment.Options,
	measure func(cell int) *experiment.Measurement) error {
	return f.Run(ctx, &strategy{folder: f, measure: measure, at: -1}, o)
}

// strategy measures the cells in their order.
type strategy struct {
	folder  *Folder
	measure func(cell int) *experiment.Measurement
	at      int // the current cell
}

// Next returns the measurement of the next cell that is not done.
func (s *strategy) Next() (*experiment.Measurement, error) {
	cells := s.folder.Saved.Cells
	for s.at++; s.at < len(cells); s.at++ {
		if c := &cells[s.at]; c.State != experiment.Done {
			c.Set(experiment.Running, "", "")
			return s.measure(s.at), s.folder.Save()
		}
	}
	return nil, nil
}

// Take records the outcome of a cell.
func (s *strategy) Take(ctx context.Context, o experiment.Outcome) error {
	s.folder.Saved.Cells[s.at].Take(ctx, o)
	return s.folder.Save()
}
