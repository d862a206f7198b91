package compare

import (
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

// KnownCells says how well the figures of each cell of a sweep are known, if the sweep measures
// cells until they are; otherwise nil. runs are the judged runs of the cells, and further those of
// the further measurements; nil where there is none. A cell is judged by itself, because cells have
// different loads.
func KnownCells(p *sweep.Plan, runs, further []*result.Saved) ([]*Known, error) {
	if p.Until <= 0 {
		return nil, nil
	}
	primary, err := FindPrimary(p.Primary)
	if err != nil {
		return nil, err
	}
	of := make([][]*result.Saved, len(p.Cells))
	add := func(cell int, s *result.Saved) {
		if s != nil && s.Run.Trial != nil && s.Run.State == result.Complete {
			of[cell] = append(of[cell], s)
		}
	}
	for i := range p.Cells {
		add(i, runs[i])
	}
	for i, f := range p.Further {
		add(f.Of, further[i])
	}
	out := make([]*Known, len(of))
	for i, all := range of {
		out[i] = NewKnown(Goal{p.Until, primary}, all)
	}
	return out, nil
}
