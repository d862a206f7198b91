package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Footing is the durability level at which the two sides of a claim are equal.
type Footing struct {
	Table string `json:"table"`
	Of    string `json:"of"`
	To    string `json:"to"`
	// Level is the level of both sides; 0: none, for the reason in Why.
	Level int    `json:"level,omitempty"`
	Why   string `json:"why,omitempty"`
}

// footing returns the footing of a claim; nil: the plan has none, because the levels are equal as
// published or the plan is of an earlier plimsoll.
func (p *Plan) footing(c Claim) *Footing {
	return named(p.Footings,
		func(f *Footing) bool { return f.Table == c.Table && f.Of == c.Of && f.To == c.To })
}

// find returns the first cell of the plan at a place: as published, or with Equal; nil: there is
// none.
func (p *Plan) find(table, at string, equal int) *Cell {
	return named(p.Cells,
		func(c *Cell) bool { return c.Table == table && c.At == at && c.Equal == equal })
}

// equalize adds to a plan the cells at which both sides of a claim have one durability level: the
// level of the stronger side if both systems give it, and otherwise the highest that both give.
// newJob shows what they give. A plan that has the cells stays as it is.
func (s *Study) equalize(p *Plan, newJob NewJob, runs string) error {
	scale, err := s.Scale(p.Scale)
	if err != nil {
		return err
	}
	for _, c := range s.Claims {
		of, to := p.find(c.Table, c.Of, 0), p.find(c.Table, c.To, 0)
		if p.footing(c) != nil || of == nil || to == nil || of.Absent || to.Absent ||
			of.level() == to.level() {
			continue
		}
		f, err := s.footingOf(c, of, to, scale, newJob, runs)
		if err != nil {
			return err
		}
		p.Footings = append(p.Footings, f)
		for _, side := range []*Cell{of, to} {
			if f.Level == 0 || side.level() == f.Level ||
				p.find(side.Table, side.At, f.Level) != nil {
				continue
			}
			t := s.Table(side.Table)
			cells, err := s.cellsAt(t, t.place(side.At), scale, f.Level)
			if err != nil {
				return err
			}
			p.Cells = append(p.Cells, cells...)
		}
	}
	return nil
}

// footingOf returns the footing of a claim, given the cells of its two sides.
func (s *Study) footingOf(c Claim, of, to *Cell, scale Scale, newJob NewJob,
	runs string) (Footing, error) {
	f := Footing{Table: c.Table, Of: c.Of, To: c.To}
	if s.targetAt(of) == s.targetAt(to) {
		f.Why = "the claim compares the levels themselves"
		return f, nil
	}
	ofLevels, err := s.levelsOf(of, scale, newJob, runs)
	if err != nil {
		return f, err
	}
	toLevels, err := s.levelsOf(to, scale, newJob, runs)
	if err != nil {
		return f, err
	}
	stronger := min(of.level(), to.level())
	for _, level := range append([]int{stronger}, levels...) {
		if slices.Contains(ofLevels, level) && slices.Contains(toLevels, level) {
			f.Level = level
			return f, nil
		}
	}
	f.Why = fmt.Sprintf("no level is common, %s has %s and %s has %s", c.Of, listed(ofLevels),
		c.To, listed(toLevels))
	return f, nil
}

var levels = []int{int(workload.SyncSync), int(workload.SyncAsync), int(workload.AsyncSync),
	int(workload.AsyncAsync)}

// levelsOf returns the durability levels that a cell's system gives with the cell's settings.
func (s *Study) levelsOf(c *Cell, scale Scale, newJob NewJob, runs string) (out []int, _ error) {
	t := s.Table(c.Table)
	for _, level := range levels {
		if level == c.level() {
			out = append(out, level)
			continue
		}
		made, err := s.cell(t, t.place(c.At), scale, level, c.Round)
		if err != nil {
			return nil, fmt.Errorf("table %s at %s, level %d: %w", c.Table, c.At, level, err)
		}
		if job, err := made.job(newJob, runs); err == nil && job.CheckLevel() == nil {
			out = append(out, level)
		}
	}
	return out, nil
}

// listed returns levels in words.
func listed(levels []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(levels), " ", ", "), "[]")
}

// placeIn returns the cell's place in its table, with the layers of its level and its round.
func (c *Cell) placeIn(t *Table) place {
	p := t.place(c.At)
	set := func(key string, value int) {
		if value > 0 {
			changes := strict.Pairs{pair(key, strconv.Itoa(value))}
			p = append(p, Value{Layer: Layer{Set: changes}})
		}
	}
	set("durability", c.Equal)
	set("seed", c.Round)
	return p
}

// Place returns the cell's place, and its level where it is not the published one.
func (c *Cell) Place() string {
	if c.Equal > 0 {
		return fmt.Sprintf("%s at level %d", c.At, c.Equal)
	}
	return c.At
}

// Name returns the cell's place with its round.
func (c *Cell) Name() string {
	name := c.Place()
	if c.Round > 0 {
		name += fmt.Sprintf(", round %d", c.Round)
	}
	return name
}
