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

	system string
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

// places returns all combinations of values; the last axis changes fastest.
func (t *Table) places() []place {
	out := []place{nil}
	for _, a := range t.Axes {
		var longer []place
		for _, p := range out {
			for _, v := range a.Values {
				longer = append(longer, append(slices.Clone(p), v))
			}
		}
		if out = longer; len(out) > MaxCells {
			return out[:MaxCells+1]
		}
	}
	return out
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
	of, own := s.target(named), s.own[named]
	c.system = of.System
	if of.Unavailable != "" && own == nil {
		c.absent(of.Unavailable)
		return c, nil
	}
	settings := merged(of.Settings, settingsOf(at, scale))
	to := &target.Target{Name: of.Name, System: of.System, Settings: settings,
		Testbed: target.Testbed{Nodes: int(of.Nodes)}}
	if own != nil {
		to = own.at(settings)
	}
	c.Target = to.YAML()
	if c.Rate = s.rateOf(t, at); t.Measure == MeasurePeak {
		c.Rate = ""
	}
	known := 0.0
	if c.Rate != "" && !s.rate(c.Rate).shared(scale) {
		known = float64(s.rate(c.Rate).Published)
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

// merged returns settings with later ones, which replace those of the same name.
func merged(settings, later strict.Pairs) (out strict.Pairs) {
	for _, p := range slices.Concat(settings, later) {
		out = slices.DeleteFunc(out, func(has strict.Pair) bool { return has.Name == p.Name })
		out = append(out, pair(p.Name, p.Value))
	}
	return out
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

const ofTarget = "settings."

// layersAt returns the layers of a cell's workload. Later layers win.
func (s *Study) layersAt(t *Table, at place) []Layer {
	layers := []Layer{s.workload(t.Workload).Layer}
	for _, v := range at {
		layers = append(layers, v.Layer)
	}
	return layers
}

// settingsOf returns the target's settings at a place.
func settingsOf(at place, scale Scale) (out strict.Pairs) {
	for _, v := range at {
		for _, p := range append(slices.Clone(v.Set), scale.of(v.Layer)...) {
			if name, is := strings.CutPrefix(p.Name, ofTarget); is {
				out = append(out, pair(name, p.Value))
			}
		}
	}
	return out
}

// rateOf returns the name of the rate at a place, from the last layer that has a rate.
func (s *Study) rateOf(t *Table, at place) (name string) {
	for _, l := range s.layersAt(t, at) {
		name = cmp.Or(l.Rate, name)
	}
	return name
}

// workloadAt returns the workload of a cell at a rate in messages per second; 0: the rate is not
// known yet.
func (s *Study) workloadAt(t *Table, at place, scale Scale, rate float64,
	backlog bool) (*workload.Workload, error) {
	of := s.workload(t.Workload)
	layers := s.layersAt(t, at)
	own := scale.layer()
	if backlog {
		// The length of the window follows from the backlog.
		own = of.Backlog.layer(scale)
	}
	all := slices.Concat(strict.Pairs{pair("isolate.cpus",
		string(cmp.Or(scale.CPUs, workload.CPUsSplit)))},
		layers[0].Set, own, scale.of(layers[0]))
	for _, l := range layers[1:] {
		all = slices.Concat(all, l.Set, scale.of(l))
	}
	if rate > 0 {
		all = append(all, pair("load.rate", quantity.ExactRate(rate)))
	}
	given := slices.DeleteFunc(all,
		func(p strict.Pair) bool { return strings.HasPrefix(p.Name, ofTarget) })
	src, err := strict.SetAll([]byte("name: "+strict.Quote(of.Name)+"\n"), given)
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
		pair("warmup", quantity.ExactDuration(scale.Warmup/4)),
		pair("drain", quantity.ExactDuration(scale.Drain)),
		pair("backlog.size", quantity.ExactBytes(bytes)), pair("backlog.then", string(b.Then)),
		pair("backlog.limit", quantity.ExactDuration(scale.Limit)),
		pair("backlog.after", quantity.ExactDuration(scale.After)),
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
