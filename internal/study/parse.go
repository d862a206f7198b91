package study

import (
	"cmp"
	"embed"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

//go:embed library/*.yaml
var files embed.FS

var library = strict.Library{Kind: "study", Files: files}

// Names lists the studies that are built in, sorted.
func Names() []string { return library.Names() }

// Find returns a study by its name in the library or by the path of its file. The error is a
// strict.Violations when a file does not hold a valid study, and one sentence when there is no
// such file or name.
func Find(nameOrPath string) (*Study, error) {
	src, fileName, err := library.Read(nameOrPath)
	if err != nil {
		return nil, err
	}
	return Parse(fileName, src)
}

// Parse reads a study from YAML and checks all of it, including the workload of each cell at
// each scale. The file's name is for errors only. The error is a strict.Violations with all
// errors in the file.
func Parse(fileName string, src []byte) (*Study, error) {
	s := &Study{YAML: string(src)}
	doc := strict.Decode(fileName, src, s,
		"a study needs at least tables with cells: see docs/WRITE-A-STUDY.md")
	if doc.Broken() {
		return nil, doc.Err()
	}
	for i := range s.Targets {
		s.Targets[i].Nodes = cmp.Or(s.Targets[i].Nodes, 3)
	}
	for i := range s.Tables {
		s.Tables[i].complete(doc, fmt.Sprintf("tables[%d]", i), s.Axes)
	}
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

// complete gives a table the values of shared axes, and reads its bounds and published figures.
func (t *Table) complete(doc *strict.Document, path string, shared []Axis) {
	for i := range t.Axes {
		a := &t.Axes[i]
		same := named(shared, func(s *Axis) bool { return s.Name == a.Name })
		if len(a.Values) == 0 && same != nil {
			a.Values = same.Values
		}
		for k := range a.Values {
			a.Values[k].Label = cmp.Or(a.Values[k].Label, a.Values[k].Name)
		}
	}
	t.bounds, t.references = map[string]float64{}, map[string][]Reference{}
	for _, b := range t.Until {
		var err error
		if t.bounds[b.Name], err = bound(b.Value); err != nil {
			doc.Reject(path+".until."+b.Name, err.Error())
		}
	}
	for _, p := range t.Published {
		var err error
		if t.references[p.Name], err = references(p.Value, t.Figures); err != nil {
			doc.Reject(path+".published."+p.Name, err.Error())
		}
	}
}

// leastBound is the narrowest interval that can be asked for.
const leastBound = 0.01

// bound reads the bound of a figure.
func bound(text string) (float64, error) {
	share, err := quantity.ParseShare(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("is wrong: %w", err)
	case share < leastBound:
		return 0, fmt.Errorf("must be %s to 100%%", quantity.ExactShare(leastBound))
	}
	return share, nil
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
		f, err := FindFigure(figures[i])
		if part == "-" || err != nil { // the check of the table's figures reports it
			continue
		}
		written, about := strings.CutPrefix(part, "~")
		value, err := f.Unit.Parse(written)
		if err != nil {
			return nil, fmt.Errorf("is wrong: %w", err)
		}
		out[i] = Reference{About: about, Value: value, Text: written}
	}
	return out, nil
}
