package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The bounds of a study.
const (
	maxText  = 1_000
	maxNodes = 9
	// maxRounds bounds the rounds of a study.
	maxRounds = 20
)

// file is the YAML form of a study.
type file struct {
	Study
	Rounds quantity.Number `yaml:"rounds"`
	AtMost quantity.Span   `yaml:"at_most"`
	Scales []fileLengths   `yaml:"scales"`
	// Axes are those that several tables have; a table names them and gives no values.
	Axes   []Axis      `yaml:"axes"`
	Tables []fileTable `yaml:"tables"`
}

// fileLengths are the lengths of a scale of the file.
type fileLengths struct {
	Name string `yaml:"name"`
	Lengths
}

// fileTable is Table.
type fileTable struct {
	Table
	Until     strict.Pairs `yaml:"until"`
	Published strict.Pairs `yaml:"published"`
}

// Parse reads a study from YAML and checks all of it, including the workload of each cell at
// each scale. The file's name is for errors only. The error is a strict.Violations with all
// errors in the file.
func Parse(fileName string, src []byte) (*Study, error) {
	var f file
	doc := strict.Decode(fileName, src, &f,
		"a study needs at least tables with cells: see docs/WRITE-A-STUDY.md")
	if doc.Broken() {
		return nil, doc.Err()
	}
	s := f.study(doc)
	s.YAML = string(src)
	c := &checker{doc: doc, study: s}
	c.all()
	if err := doc.Err(); err != nil {
		return nil, err
	}
	// The checks of cells need valid names.
	c.cells()
	if err := doc.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

func (f *file) study(doc *strict.Document) *Study {
	s := &f.Study
	s.Rounds, s.AtMost = int(min(f.Rounds, maxRounds+1)), time.Duration(f.AtMost)
	s.Scales = make(map[string]Lengths)
	for _, l := range f.Scales {
		s.Scales[l.Name] = l.Lengths
	}
	for i := range s.Targets {
		s.Targets[i].Nodes = cmp.Or(s.Targets[i].Nodes, 3)
	}
	for i, t := range f.Tables {
		s.Tables = append(s.Tables, t.table(doc, fmt.Sprintf("tables[%d]", i), f.Axes))
	}
	return s
}

func (f *fileTable) table(doc *strict.Document, path string, shared []Axis) Table {
	t := f.Table
	t.Until, t.Axes = bounds(doc, path+".until", f.Until), nil
	for _, a := range f.Axes {
		same := slices.IndexFunc(shared, func(s Axis) bool { return s.Name == a.Name })
		if len(a.Values) == 0 && same >= 0 {
			a = shared[same]
		}
		for i := range a.Values {
			a.Values[i].Label = cmp.Or(a.Values[i].Label, a.Values[i].Name)
		}
		t.Axes = append(t.Axes, a)
	}
	for _, p := range f.Published {
		figures, err := references(p.Value, t.Figures)
		if err != nil {
			doc.Reject(path+".published."+p.Name, err.Error())
			continue
		}
		t.Published = append(t.Published, Published{At: p.Name, Figures: figures})
	}
	return t
}

// references reads the published figures of a cell: a value for each figure, with slashes
// between. A value of - is unknown; ~ stands before a rounded value.
func references(text string, figures []string) ([]Reference, error) {
	parts := strings.Split(text, " / ")
	if len(parts) != len(figures) {
		return nil, fmt.Errorf(
			"holds %d values, and the table has %d figures: write one for each with \" / \" "+
				"between, and - where there is none", len(parts), len(figures))
	}
	out := make([]Reference, len(parts))
	for i, part := range parts {
		if part == "-" {
			continue
		}
		f, err := FindFigure(figures[i])
		if err != nil {
			continue // the check of the table's figures reports it
		}
		written, about := strings.CutPrefix(part, "~")
		value, err := f.Unit.Parse(written)
		if err != nil {
			return nil, fmt.Errorf("is wrong: %w", err)
		}
		out[i] = Reference{Known: true, About: about, Value: value, Text: written}
	}
	return out, nil
}

// checker holds the rules of a study.
type checker struct {
	doc   *strict.Document
	study *Study
	// The names of what the study has.
	rateNames, targetNames, workloadNames []string
}

func (c *checker) all() {
	c.texts()
	c.rateNames = names(c, "rates", c.study.Rates, func(r Rate) string { return r.Name })
	c.targets()
	c.repetition()
	c.untils()
	for i, w := range c.study.Workloads {
		path := fmt.Sprintf("workloads[%d]", i)
		c.known(path+".rate", "rate", w.Rate, c.rateNames)
		if b := w.Backlog; b != nil {
			if b.Then != workload.BacklogDrain && b.Then != workload.BacklogReplay {
				c.doc.Reject(path+".backlog.then",
					fmt.Sprintf("must be %s or %s", workload.BacklogDrain, workload.BacklogReplay))
			}
			if b.Size < 1 {
				c.doc.Reject(path+".backlog", "has no size: write a size like 512GB")
			}
		}
	}
	c.workloadNames = names(c, "workloads", c.study.Workloads,
		func(w Workload) string { return w.Name })
	names(c, "tables", c.study.Tables, func(t Table) string { return t.Name })
	for i := range c.study.Tables {
		c.table(fmt.Sprintf("tables[%d]", i), &c.study.Tables[i])
	}
	if len(c.study.Tables) == 0 {
		c.doc.Reject("tables", "are missing: a study has at least one")
	}
	for i, q := range c.study.Qualities {
		for k, row := range q.Probes {
			c.known(fmt.Sprintf("qualities[%d].probes[%d]", i, k), "probe", row, probe.Rows())
		}
	}
}

func (c *checker) texts() {
	for _, t := range []struct{ path, text string }{{"name", c.study.Name},
		{"title", c.study.Title}, {"question", c.study.Question}, {"source", c.study.Source}} {
		switch {
		case t.text == "":
			c.doc.Reject(t.path, "is missing: write one")
		case len(t.text) > maxText:
			c.doc.Reject(t.path, fmt.Sprintf("is longer than %d characters", maxText))
		}
	}
}

func (c *checker) targets() {
	c.targetNames = names(c, "targets", c.study.Targets, func(t Target) string { return t.Name })
	for i, t := range c.study.Targets {
		path := fmt.Sprintf("targets[%d]", i)
		if t.System == "" {
			c.doc.Reject(path, "names no system: write system: NAME (plimsoll systems lists the "+
				"names)")
		}
		if t.Nodes < 1 || t.Nodes > maxNodes {
			c.doc.Reject(path+".nodes", fmt.Sprintf("must be 1 to %d", maxNodes))
		}
	}
}

// names returns the names of the items of a list, and checks that each has its own.
func names[T any](c *checker, list string, items []T, name func(T) string) (all []string) {
	seen := map[string]bool{}
	for i, item := range items {
		path, n := fmt.Sprintf("%s[%d]", list, i), name(item)
		switch {
		case n == "":
			c.doc.Reject(path, "has no name: write a name")
		case strings.ContainsAny(n, ",/"):
			c.doc.Reject(path+".name", "cannot hold a comma or a slash")
		case seen[n]:
			c.doc.Reject(path+".name",
				fmt.Sprintf("is %q, which another item has: give each its own name", n))
		}
		seen[n], all = true, append(all, n)
	}
	return all
}

// known checks that a name is valid. An empty name is allowed.
func (c *checker) known(path, kind, name string, valid []string) {
	if name == "" || slices.Contains(valid, name) {
		return
	}
	if len(valid) == 0 {
		c.doc.Reject(path, fmt.Sprintf("names a %s, and the study has none", kind))
		return
	}
	c.doc.Reject(path, "is an "+strict.Unknown(kind, name, valid))
}
