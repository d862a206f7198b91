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
	Testbed  []string // sentences: what was measured on
	Missing  []string // sentences: what one machine cannot give of it, and how settings differ

	Targets   []Target
	Workloads []Workload
	Rates     []Rate
	Tables    []Table
	Claims    []Claim
	Qualities []Quality
	// YAML is what the study was read from.
	YAML string
}

// Pair is a key and its value, as they are written.
type Pair struct{ Key, Value string }

// Target is a system in one variant.
type Target struct {
	Name, System string
	Nodes        int
	Settings     []Pair
	// Unavailable is why it cannot be had; empty: it can.
	Unavailable string
}

// Layer is what is laid over a workload: keys of workloads as sweeps vary them
// (partitions, message.size), those of the published size and what takes their
// place at the two smaller scales.
type Layer struct {
	Set, Small, Smoke []Pair
	Rate              string // name of one of the study's rates; empty: none
}

// Workload is a load by name.
type Workload struct {
	Name string
	Layer
	// Backlog is what waits before it is read; nil: none does.
	Backlog *Backlog
}

// Backlog is messages that wait before they are read.
type Backlog struct {
	Bytes int64 // at the published size
	Then  workload.BacklogThen
}

// Rate is a rate that at smaller scales is a share of the lowest of some peaks
// that are measured first.
type Rate struct {
	Name      string
	Published float64 // messages per second
	Share     float64
	Table     string   // of peaks
	At        []string // cells in it
}

// Measure says what a table's cells are.
type Measure string

// What is measured.
const (
	MeasureRun     Measure = "run"     // a run at a fixed rate
	MeasurePeak    Measure = "peak"    // a search for the highest stable rate
	MeasureBacklog Measure = "backlog" // a run whose readers begin late
	MeasureMixed   Measure = "mixed"   // a run with a second reader from the beginning
	MeasureClosed  Measure = "closed"  // a run whose senders wait for each answer
)

func measures() []string {
	return []string{string(MeasureRun), string(MeasurePeak), string(MeasureBacklog),
		string(MeasureMixed), string(MeasureClosed)}
}

// Table is a published table or figure: a cell for every combination of the
// values of its axes.
type Table struct {
	Name, Title, From string
	Measure           Measure
	Workload          string
	Figures           []string // of each cell; see Figures
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
	Target      string // empty: another axis says
	Layer
	// Leave are the scales at which its cells are left out.
	Leave []string
}

// Published is what the study found in a cell: a figure each as the table lists
// them.
type Published struct {
	At      string
	Figures []Reference
}

// Reference is a published figure. Its value is in the figure's unit.
type Reference struct {
	Known bool
	About bool // read off a picture, or rounded in prose
	Value float64
}

// Claim is a ratio between a figure of two cells of a table, which the published
// figures show.
type Claim struct {
	Says, Table, Figure string
	Of, To              string // cells: the ratio is that of Of to To
	AtLeast, AtMost     float64
}

// Quality is a row of a table without figures.
type Quality struct {
	Name   string
	Probes []string // rows of internal/probe that try it; none: nothing does
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

// reference is what was published of a cell's figure.
func (t *Table) reference(at string, figure int) Reference {
	for _, p := range t.Published {
		if p.At == at {
			return p.Figures[figure]
		}
	}
	return Reference{}
}
