package study

import "github.com/plimsoll-bench/plimsoll/internal/experiment"

// results are the plan of a study with what was measured of it.
type results struct {
	study    *Study
	plan     *Plan
	measured []Measured // of the plan's cells
}

// round is a cell with its measurement.
type round struct {
	*Cell
	m Measured
}

// rounds returns some cells with their measurements.
func (r results) rounds(some func(*Cell) bool) (out []round) {
	for i := range r.plan.Cells {
		if c := &r.plan.Cells[i]; some(c) {
			out = append(out, round{c, r.measured[i]})
		}
	}
	return out
}

// at returns the rounds of a place of a table: as published, or at a durability level.
func (r results) at(table, at string, equal int) []round {
	return r.rounds(func(c *Cell) bool {
		return c.Table == table && c.At == at && c.Equal == equal
	})
}

// byPlace returns the rounds of some cells by place, in order of the first cell of each.
func (r results) byPlace(some func(*Cell) bool) (out [][]round) {
	index := map[[2]string]int{}
	for _, one := range r.rounds(some) {
		place := [2]string{one.Table, one.Place()}
		at, known := index[place]
		if !known {
			at, out = len(out), append(out, nil)
			index[place] = at
		}
		out[at] = append(out[at], one)
	}
	return out
}

// in returns the figure of a round. known is false when the round does not have it.
func (f Figure) in(r round) (value float64, known bool) {
	value, known = f.Value(r.m)
	return value, known && r.State == experiment.Done
}
