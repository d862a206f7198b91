package study

import (
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Study is a question and the grid of cells that answers it.
type Study struct {
	Name     string
	Title    string
	Question string
	Source   string   // of the published figures
	Testbed  []string // sentences: the machines of the published measurement
	// Rounds is how often each cell is measured, in random order; 0: once. A study with rounds has
	// only measured figures, no published ones.
	Rounds int
	// Scales replace lengths of the scales, by name.
	Scales  map[string]Lengths
	Missing []string // sentences: the parts that one machine cannot repeat, and other settings

	Targets   []Target
	Workloads []Workload
	Rates     []Rate
	Tables    []Table
	Claims    []Claim
	Qualities []Quality
	// YAML is the source of the study.
	YAML string
}

// Pair is a key and its value in their written form.
type Pair struct{ Key, Value string }

// Target is a system in one variant.
type Target struct {
	Name, System string
	Nodes        int
	Settings     []Pair
	// Unavailable says why the target cannot be measured here; empty: it can.
	Unavailable string
}

// Layer changes keys of a workload, named as in sweeps (partitions, message.size). Set has the
// values of the published size; Small and Smoke replace them at the two smaller scales.
type Layer struct {
	Set, Small, Smoke []Pair
	Rate              string // the name of a Rate of the study; empty: none
}

// Workload is a load by name.
type Workload struct {
	Name string
	Layer
	// Backlog is the backlog that waits before it is read; nil: none.
	Backlog *Backlog
}

// Backlog is messages that wait before they are read.
type Backlog struct {
	Bytes int64 // at the published size
	Then  workload.BacklogThen
}

// Rate is a rate of a workload. At smaller scales it is a share of the lowest of some peaks,
// which are measured first.
type Rate struct {
	Name      string
	Published float64 // messages per second
	Share     float64
	Table     string   // of peaks
	At        []string // cells of the table
	// Own makes it, at every scale, a share of the peak at the cell's own place: the axes of Table
	// are the first ones of the cell's table.
	Own bool
}

// Measure is the kind of measurement in a table's cells.
type Measure string

// The kinds of measurements.
const (
	MeasureRun     Measure = "run"     // a run at a fixed rate
	MeasurePeak    Measure = "peak"    // a search for the highest stable rate
	MeasureBacklog Measure = "backlog" // a run whose readers begin late
	MeasureMixed   Measure = "mixed"   // a run with a second reader from the beginning
	MeasureClosed  Measure = "closed"  // a run whose producers wait for each acknowledgement
)

func measures() []string {
	return []string{string(MeasureRun), string(MeasurePeak), string(MeasureBacklog),
		string(MeasureMixed), string(MeasureClosed)}
}

// Table is a published table or chart. It has a cell for every combination of the values of its
// axes.
type Table struct {
	Name, Title, From string
	Measure           Measure
	Workload          string
	Figures           []string // of each cell; see FindFigure
	Once              bool     // measured in the first round only
	Axes              []Axis
	Published         []Published
}

// Axis is one direction of a table.
type Axis struct {
	Name   string
	Values []Value
}

// Value is one place on an axis.
type Value struct {
	Name, Label string
	Target      string // empty: another axis names it
	Layer
	// Leave lists the scales at which the cells of this value are left out.
	Leave []string
}

// Published holds the published figures of a cell, in the order of the table's figures.
type Published struct {
	At      string
	Figures []Reference
}

// Reference is a published figure. Its value is in the figure's unit.
type Reference struct {
	Known bool
	About bool // read from a chart, or rounded in the text
	Value float64
}

// Claim is a published statement about the ratio of a figure between two cells of a table.
type Claim struct {
	Says, Table, Figure string
	Of, To              string // cells; the ratio is Of divided by To
	AtLeast, AtMost     float64
}

// Quality is a row of a table without figures.
type Quality struct {
	Name   string
	Probes []string // the rows of internal/probe that test it; may be empty
}

// Table returns the table of a name; nil when there is none.
func (s *Study) Table(name string) *Table {
	return named(s.Tables, func(t *Table) bool { return t.Name == name })
}

func (s *Study) target(name string) *Target {
	return named(s.Targets, func(t *Target) bool { return t.Name == name })
}

func (s *Study) workload(name string) *Workload {
	return named(s.Workloads, func(w *Workload) bool { return w.Name == name })
}

func (s *Study) rate(name string) *Rate {
	return named(s.Rates, func(r *Rate) bool { return r.Name == name })
}

// named returns the first item that has the name; nil when there is none.
func named[T any](items []T, has func(*T) bool) *T {
	for i := range items {
		if has(&items[i]) {
			return &items[i]
		}
	}
	return nil
}

// reference returns the published value of a cell's figure.
func (t *Table) reference(at string, figure int) Reference {
	for _, p := range t.Published {
		if p.At == at {
			return p.Figures[figure]
		}
	}
	return Reference{}
}
