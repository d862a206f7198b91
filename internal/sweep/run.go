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
	for i := range f.Saved.size() {
		c := f.Saved.at(i)
		c.Reconcile(complete[experiment.Identity{Workload: c.Workload, Target: c.Target}])
	}
	return f.Save()
}

// Left returns the number of measurements that must still be made.
func (p *Plan) Left() int {
	n := 0
	for i := range p.size() {
		if p.at(i).State != experiment.Done {
			n++
		}
	}
	return n
}

// Strategy says how cells are measured.
type Strategy struct {
	// Measure returns the measurement of a cell in a round from 1. Its run's Asked must have the
	// cell's workload and target.
	Measure func(cell, round int) *experiment.Measurement
	// Next, if not nil, is called when every measurement was made. It returns those of the next
	// round; none: the sweep ends.
	Next func() ([]Further, error)
}

// Run makes every measurement that is not done, one by one, until ctx is cancelled. A failing cell
// is recorded and does not end the sweep. The error is about the folder.
func Run(ctx context.Context, f *Folder, o experiment.Options, s Strategy) error {
	return f.Run(ctx, &strategy{Strategy: s, folder: f, index: -1}, o)
}

// strategy measures the cells in their order, and then their further rounds.
type strategy struct {
	Strategy
	folder *Folder
	index  int // of the current measurement
}

// Next returns the next measurement that is not done.
func (s *strategy) Next() (*experiment.Measurement, error) {
	plan := s.folder.Saved
	for s.index++; ; s.index++ {
		if s.index == plan.size() {
			if err := s.another(); err != nil || s.index == plan.size() {
				return nil, err
			}
		}
		if c := plan.at(s.index); c.State != experiment.Done {
			c.Set(experiment.Running, "", "")
			cell, round := s.index, 1
			if further := s.index - len(plan.Cells); further >= 0 {
				cell, round = plan.Further[further].Of, plan.Further[further].Round
			}
			return s.Measure(cell, round), s.folder.Save()
		}
	}
}

// another adds another round to the plan, if there is one.
func (s *strategy) another() error {
	if s.Strategy.Next == nil {
		return nil
	}
	more, err := s.Strategy.Next()
	s.folder.Saved.Further = append(s.folder.Saved.Further, more...)
	return err
}

// Take records the outcome of a measurement.
func (s *strategy) Take(ctx context.Context, o experiment.Outcome) error {
	s.folder.Saved.at(s.index).Take(ctx, o)
	return s.folder.Save()
}
