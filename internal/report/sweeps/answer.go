package sweeps

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

// growth is the least factor by which a rate counts as grown.
const growth = 1.05

// cellRates are the cells of a sweep whose rates may be compared.
type cellRates struct {
	plan  *sweep.Plan
	runs  []*result.Saved
	cells []int // their places, in order
	// most and grown are places in cells: of the greatest rate, and of the last rate that was
	// greater than all earlier ones by a growth that counts.
	most, grown int
}

// ratesOf leaves out the cells with a mark. Overloaded cells are compared, by their rates.
func ratesOf(plan *sweep.Plan, runs []*result.Saved) *cellRates {
	c := &cellRates{plan: plan, runs: runs}
	for i, s := range runs {
		mark, _ := fact.CellMark(plan.Cells[i], s)
		if s != nil && (mark == "" || mark == fact.OverloadedMark) {
			c.cells = append(c.cells, i)
		}
	}
	for at := range c.cells {
		if c.rate(at) > c.rate(c.most) {
			c.most = at
		}
		if c.rate(at) > growth*c.rate(c.grown) {
			c.grown = at
		}
	}
	return c
}

func (c *cellRates) run(at int) *result.Run { return &c.runs[c.cells[at]].Run }

func (c *cellRates) rate(at int) float64 { return c.run(at).Summary.AchievedRate }

// named names a cell and its rate.
func (c *cellRates) named(at int) (label, rate string) {
	return sweep.Label(c.plan.Axes, c.plan.Cells[c.cells[at]].Values), phrase.Rate(c.rate(at))
}

// carried reports whether a cell carried the rate that was offered. A closed loop offers none.
func (c *cellRates) carried(at int) bool {
	r := c.run(at)
	return r.Load.Closed == nil && !fact.Overloaded(r)
}

// levelsOff reports whether the rate grows along the only axis, and then no more, although more was
// offered than the last cell carried.
func (c *cellRates) levelsOff() bool {
	last := len(c.cells) - 1
	return len(c.plan.Axes) == 1 && c.plan.Axes[0].Ascends() && c.grown > 0 && c.grown < last &&
		!c.carried(last)
}

// sweepAnswer says what the rates of a sweep's cells show: no limit, the value from which on they
// stop growing, or the cell with the greatest.
func sweepAnswer(plan *sweep.Plan, runs []*result.Saved) string {
	c := ratesOf(plan, runs)
	if len(c.cells) == 0 {
		return "no cell has a rate that can be compared."
	}
	label, rate := c.named(c.most)
	switch {
	case c.allCarried():
		return c.noLimit()
	case c.levelsOff():
		label, rate = c.named(c.grown)
		return fmt.Sprintf("throughput stops growing at %s, where %s were acknowledged.", label,
			rate)
	case c.carried(c.most):
		return fmt.Sprintf("most was acknowledged at %s, %s, which was what was offered there.",
			label, rate)
	}
	return fmt.Sprintf("most was acknowledged at %s: %s.", label, rate)
}

// allCarried reports whether every cell carried what was offered to it.
func (c *cellRates) allCarried() bool {
	for at := range c.cells {
		if !c.carried(at) {
			return false
		}
	}
	return true
}

// noLimit says that no cell met a limit of the system.
func (c *cellRates) noLimit() string {
	offered := make([]float64, len(c.cells))
	for at := range c.cells {
		offered[at] = c.run(at).Summary.OfferedRate
	}
	least, most := phrase.Rate(slices.Min(offered)), phrase.Rate(slices.Max(offered))
	rates := least + " to " + most
	if least == most {
		rates = most
	}
	cells := "every cell"
	if len(c.cells) < len(c.runs) {
		cells = "every cell without a mark"
	}
	return fmt.Sprintf("%s carried what was offered to it, %s: a higher rate would find a limit.",
		cells, rates)
}
