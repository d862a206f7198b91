package probe

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
)

// observed has the results of the last `make probes`.
//
//go:embed observed.json
var observed []byte

// Observed returns the results of the last `make probes` for a system, a column for each
// variant.
func Observed(system string) ([]Column, error) {
	all, err := Parse(observed)
	if err != nil {
		return nil, err
	}
	var its []Column
	for _, c := range all {
		if c.System == system {
			its = append(its, c)
		}
	}
	return its, nil
}

// Brief says which capabilities the system has, has under conditions, and lacks.
func (c Column) Brief() (all []document.Fact) {
	for _, one := range []struct {
		answer Answer
		stated bool
		words  string
	}{
		{Yes, false, "does"}, {Conditional, false, "does, under conditions"},
		{No, false, "does not"}, {Unknown, false, "unknown"},
		{Yes, true, "states that it does"}, {Conditional, true, "states conditions"},
		{No, true, "states that it does not"},
	} {
		var names []string
		for _, r := range rows {
			if f := c.Finding(r.Name); f.Answer == one.answer && f.Stated == one.stated {
				names = append(names, r.Name)
			}
		}
		if len(names) > 0 {
			all = append(all, document.Fact{Name: one.words, Value: strings.Join(names, ", ")})
		}
	}
	return all
}

// Source returns the servers of a column and the date.
func (c Column) Source() string {
	return fmt.Sprintf("as tried on %s on %s", servers(c), c.At.Format("2006-01-02"))
}
