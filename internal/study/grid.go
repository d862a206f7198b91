package study

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Cell is one measurement of a table.
type Cell struct {
	Table string `json:"table"`
	At    string `json:"at"` // the names of its values, one of each axis
	// Equal is the durability level that makes the sides of a claim equal; 0: the published level.
	Equal   int     `json:"equal_level,omitempty"`
	Round   int     `json:"round,omitempty"` // from 1; 0: the study has no rounds
	Measure Measure `json:"measure"`
	// Rate is the name of the workload's rate. Until its value is known, the workload has another
	// rate.
	Rate string `json:"rate,omitempty"`
	experiment.Cell
	// Absent is set when the cell cannot be measured here, or is left out at this scale.
	Absent bool `json:"absent,omitempty"`
	// Twice is set when the run is a second one, because the first was cold, drifting or limited by
	// plimsoll.
	Twice bool `json:"made_twice,omitempty"`
}

// place is a combination of values, one of each axis.
type place []Value

func (p place) name() string {
	var parts []string
	for _, v := range p {
		parts = append(parts, v.Name)
	}
	return strings.Join(parts, ", ")
}

// target returns the target that the values name; empty: none does.
func (p place) target() (name string) {
	for _, v := range p {
		name = cmp.Or(v.Target, name)
	}
	return name
}

// workload returns the workload that is known so far; nil: none is.
func (c *Cell) workload() *workload.Workload {
	w, err := workload.Parse("the cell's workload", []byte(c.Workload))
	if err != nil || c.Workload == "" {
		return nil
	}
	return w
}

// Labels returns the labels of a cell's values.
func (t *Table) Labels(at string) (out []string) {
	for _, v := range t.place(at) {
		out = append(out, v.Label)
	}
	return out
}

// place returns the place of a name; nil: the table does not have it.
func (t *Table) place(name string) place {
	for _, p := range t.places() {
		if p.name() == name {
			return p
		}
	}
	return nil
}

// places returns all combinations of values, none if they are too many; the last axis changes
// fastest.
func (t *Table) places() (out []place) {
	all, _ := t.combinations() // the check of the table reports the error
	for _, p := range all {
		out = append(out, p)
	}
	return out
}

func (t *Table) combinations() ([][]Value, error) {
	var each [][]Value
	for _, a := range t.Axes {
		each = append(each, a.Values)
	}
	return experiment.Combine(each)
}

// cell makes the cell at a place of a table, at a durability level; 0: the published one; and in
// a round; 0: the study has none. The error is about the study's file.
func (s *Study) cell(t *Table, at place, scale Scale, level, round int) (Cell, error) {
	c := Cell{Table: t.Name, At: at.name(), Equal: level, Round: round, Measure: t.Measure,
		Cell: experiment.Cell{State: experiment.Pending}}
	at = c.placeIn(t)
	named := at.target()
	for _, v := range at {
		if slices.Contains(v.Leave, scale.Name) {
			c.absent(leftOut)
		}
	}
	if named == "" {
		return c, errors.New("no value of an axis names a target")
	}
	of, own := s.target(named), s.ownOf(named)
	if of.Unavailable != "" && own == nil {
		c.absent(of.Unavailable)
		return c, nil
	}
	settings, _ := experiment.Divide(at.changes(scale))
	settings = of.Settings.With(settings)
	to := &target.Target{Name: of.Name, System: of.System, Settings: settings,
		Testbed: target.Testbed{Nodes: int(of.Nodes)}}
	if own != nil {
		to = own.at(settings)
	}
	c.Target = to.YAML()
	known := 0.0
	if r := s.rate(s.rateOf(t, at)); r != nil && t.Measure != MeasurePeak {
		if c.Rate = r.Name; !r.shared(scale) {
			known = float64(r.Published)
		}
	}
	w, err := s.workloadAt(t, at, scale, known, false)
	if err != nil {
		return c, err
	}
	if s.workload(t.Workload).Backlog != nil {
		if w, err = s.workloadAt(t, at, scale, known, true); err != nil {
			c.absent("its backlog cannot be built: " + firstOf(err))
			return c, nil
		}
	}
	c.Workload = w.YAML()
	if own != nil {
		if why := own.lacks(settings, w); why != "" {
			c.absent(why)
		}
	}
	return c, nil
}

// cellsAt makes the cells at a place of a table in each round, at a durability level; 0: the
// published one.
func (s *Study) cellsAt(t *Table, at place, scale Scale, level int) (out []Cell, _ error) {
	for _, round := range s.roundsOf(t, scale) {
		c, err := s.cell(t, at, scale, level, round)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

const leftOut = "left out at this scale"

// Why returns why an absent or failed cell has no figure.
func (c *Cell) Why() string {
	if c.Reason == leftOut {
		return leftOut
	}
	return "not measured: " + c.Reason
}

func (c *Cell) absent(why string) {
	if !c.Absent {
		c.Absent, c.Reason = true, why
	}
}

// firstOf returns the first violation of an error, without its place, because the text was
// generated.
func firstOf(err error) string {
	var all strict.Violations
	if errors.As(err, &all) && len(all) > 0 {
		return all[0].Message
	}
	return err.Error()
}

// changes returns what the values change at a scale. Later ones win.
func (p place) changes(scale Scale) (out strict.Pairs) {
	for _, v := range p {
		out = slices.Concat(out, v.Set, scale.of(v.Layer))
	}
	return out
}

// rateOf returns the name of the rate at a place: the last that a layer names.
func (s *Study) rateOf(t *Table, at place) string {
	name := s.workload(t.Workload).Rate
	for _, v := range at {
		name = cmp.Or(v.Rate, name)
	}
	return name
}

// workloadAt returns the workload of a cell at a rate in messages per second; 0: the rate is not
// known yet.
func (s *Study) workloadAt(t *Table, at place, scale Scale, rate float64,
	backlog bool) (*workload.Workload, error) {
	of := s.workload(t.Workload)
	own := scale.layer(t.Measure)
	if backlog {
		// The length of the window follows from the backlog.
		own = of.Backlog.layer(scale)
	}
	all := slices.Concat(strict.Pairs{pair("isolate.cpus",
		string(cmp.Or(scale.CPUs, workload.CPUsSplit)))},
		of.Set, own, scale.of(of.Layer), at.changes(scale))
	if rate > 0 {
		all = append(all, pair("load.rate", quantity.ExactRate(rate)))
	}
	_, keys := experiment.Divide(all)
	src, err := strict.SetAll([]byte("name: "+strict.Quote(of.Name)+"\n"), keys)
	if err != nil {
		return nil, err
	}
	return workload.Parse("its workload", []byte(src))
}

// layer returns the keys of every run with a backlog at a scale.
func (b *Backlog) layer(scale Scale) strict.Pairs {
	bytes := int64(b.Size)
	if scale.BacklogBytes > 0 {
		bytes = min(bytes, scale.BacklogBytes)
	}
	return strict.Pairs{
		// The messages of the warm-up are part of the backlog, and must not be all of it.
		pair("warmup", (scale.Warmup / 4).String()),
		pair("drain", scale.Drain.String()),
		pair("backlog.size", quantity.ExactBytes(bytes)), pair("backlog.then", string(b.Then)),
		pair("backlog.limit", scale.Limit.String()),
		pair("backlog.after", scale.After.String()),
	}
}

// shared reports whether the rate is a share of measured peaks at a scale.
func (r *Rate) shared(scale Scale) bool {
	return r.Own && r.Published <= 0 || !scale.Published
}

// shareOf returns the share of the peak at a place at which the rate is.
func (s *Study) shareOf(r *Rate, at string) float64 {
	if r.Share > 0 {
		return float64(r.Share)
	}
	return s.publishedShare(r, at)
}

// lowest returns the least of some rates, to four digits, so that a share near a peak stays one.
func lowest(rates []float64) (float64, error) {
	if len(rates) == 0 {
		return 0, errors.New("no peak was measured, so there is no rate at a share of it")
	}
	value := slices.Min(rates)
	digit := math.Pow(10, math.Floor(math.Log10(value))-3)
	return math.Round(value/digit) * digit, nil
}
