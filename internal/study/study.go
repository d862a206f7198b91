package study

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Study is a question and the grid of cells that answers it.
type Study struct {
	Name     string   `yaml:"name"`
	Title    string   `yaml:"title"`
	Question string   `yaml:"question"`
	Source   string   `yaml:"source"`  // of the published figures
	Testbed  []string `yaml:"testbed"` // sentences: the machines of the published measurement
	// Missing has sentences: the parts that one machine cannot repeat, and other settings.
	Missing []string `yaml:"missing"`

	Targets   []Target   `yaml:"targets"`
	Workloads []Workload `yaml:"workloads"`
	Rates     []Rate     `yaml:"rates"`
	Claims    []Claim    `yaml:"claims"`
	Qualities []Quality  `yaml:"qualities"`
	// Rounds is how often each cell is measured, in random order; 0: once.
	Rounds quantity.Whole `yaml:"rounds"`
	// AtMost is the longest time of all rounds beyond Rounds, which measure cells again until the
	// figures with a bound are known, and the claims decided; 0: there are none.
	AtMost quantity.Span `yaml:"at_most"`
	// Scales replace lengths of the scales.
	Scales []Lengths `yaml:"scales"`
	// Axes are those that several tables have; a table names them and gives no values.
	Axes   []Axis  `yaml:"axes"`
	Tables []Table `yaml:"tables"`
	// YAML is the source of the study.
	YAML string

	own []Own // in the place of targets, in the order of their names
}

// Target is a system in one variant.
type Target struct {
	Name     string          `yaml:"name"`
	System   string          `yaml:"system"`
	Nodes    quantity.Number `yaml:"nodes"`
	Settings strict.Pairs    `yaml:"settings"`
	// Unavailable says why the target cannot be measured here; empty: it can.
	Unavailable string `yaml:"unavailable"`
}

// Layer changes keys of a workload, named as in sweeps (partitions, message.size). Set has the
// values of the published size; Small replaces them at scale small, and Smoke at the two below.
type Layer struct {
	Set   strict.Pairs `yaml:"set"`
	Small strict.Pairs `yaml:"small"`
	Smoke strict.Pairs `yaml:"smoke"`
	Rate  string       `yaml:"rate"` // the name of a Rate of the study; empty: none
}

// pair is a key and its value in their written form.
func pair(key, value string) strict.Pair { return strict.Pair{Name: key, Value: value} }

// Workload is a load by name.
type Workload struct {
	Name string `yaml:"name"`
	Layer
	// Backlog is the backlog that waits before it is read; nil: none.
	Backlog *Backlog `yaml:"backlog"`
}

// Backlog is messages that wait before they are read.
type Backlog struct {
	Size quantity.Size        `yaml:"size"` // as published
	Then workload.BacklogThen `yaml:"then"`
}

// Rate is a rate of a workload. At smaller scales it is a share of the lowest of some peaks,
// which are measured first.
type Rate struct {
	Name      string             `yaml:"name"`
	Published quantity.PerSecond `yaml:"published"`
	// Share is that of the peak; 0: the published rate as a share of the published peak.
	Share quantity.Fraction `yaml:"share"`
	Table string            `yaml:"table"` // of peaks
	At    []string          `yaml:"at"`    // cells in it
	// Own makes it a share of the peak of the cell's own system and level among At. Without At it
	// is, at every scale, a share of the peak at the cell's own place: the axes of Table are the
	// first ones of the cell's table.
	Own bool `yaml:"own"`
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

var measures = []string{string(MeasureRun), string(MeasurePeak), string(MeasureBacklog),
	string(MeasureMixed), string(MeasureClosed)}

// Table is a published table or chart. It has a cell for every combination of the values of its
// axes.
type Table struct {
	Name     string   `yaml:"name"`
	Title    string   `yaml:"title"`
	From     string   `yaml:"from"`
	Measure  Measure  `yaml:"measure"`
	Workload string   `yaml:"workload"`
	Figures  []string `yaml:"figures"`   // of each cell; see FindFigure
	Once     bool     `yaml:"once"`      // measured in the first round only
	Leave    []string `yaml:"leave_out"` // the scales at which the table is left out
	Axes     []Axis   `yaml:"axes"`
	// Until has a bound for each figure that is measured until it is known: how far its interval
	// may reach above it, as a share.
	Until strict.Pairs `yaml:"until"`
	// Published has the published figures of cells, as they are written.
	Published strict.Pairs `yaml:"published"`

	bounds     map[string]float64     // of Until
	references map[string][]Reference // of Published, in the order of Figures
}

// Axis is one direction of a table.
type Axis struct {
	Name   string  `yaml:"name"`
	Values []Value `yaml:"values"`
}

// Value is one place on an axis.
type Value struct {
	Name   string `yaml:"name"`
	Label  string `yaml:"label"`
	Target string `yaml:"target"` // empty: another axis names it
	Layer
	// Leave lists the scales at which the cells of this value are left out.
	Leave []string `yaml:"leave_out"`
}

// Reference is a published figure. Its value is in the figure's unit; 0: it is not known.
type Reference struct {
	About bool // read from a chart, or rounded in the text
	Value float64
	// Text has the digits and the unit of the publication.
	Text string
}

// String returns the figure as it was published; empty: it is not known.
func (r Reference) String() string {
	if r.About {
		return "~" + r.Text
	}
	return r.Text
}

// Claim is a published statement about the ratio of a figure between two cells of a table, or about
// that of two figures of one cell. A statement of several ratios is as many claims with one ID.
type Claim struct {
	ID   string `yaml:"id" json:"id,omitempty"`
	Says string `yaml:"says" json:"says"`
	// NotAsked says why there are no cells for it, and what would give them; empty: there are.
	NotAsked string `yaml:"not_asked" json:"why,omitempty"`

	Table  string `yaml:"table" json:"table,omitempty"`
	Figure string `yaml:"figure" json:"figure,omitempty"`
	Of     string `yaml:"of" json:"of,omitempty"` // a cell, as To; the ratio is Of divided by To
	To     string `yaml:"to" json:"to,omitempty"`
	// ToFigure is another figure of the cell, by which Figure is divided; empty: two cells are
	// compared. With it Of and To are the same cell.
	ToFigure string `yaml:"to_figure" json:"to_figure,omitempty"`

	AtLeast float64 `yaml:"at_least" json:"-"`
	AtMost  float64 `yaml:"at_most" json:"-"`
}

// Quality is a row of a table without figures.
type Quality struct {
	Name   string   `yaml:"name"`
	Probes []string `yaml:"probes"` // the rows of internal/probe that test it; none: no row does
}

// Ranks reports whether the study ranks its systems by rounds. Another study compares its figures
// with published ones.
func (s *Study) Ranks() bool {
	return s.Rounds > 0 && len(s.Claims) == 0 &&
		!slices.ContainsFunc(s.Tables, func(t Table) bool { return len(t.Published) > 0 })
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

// Reference returns the published value of a cell's figure.
func (t *Table) Reference(at string, figure int) Reference {
	if figures := t.references[at]; figures != nil {
		return figures[figure]
	}
	return Reference{}
}
