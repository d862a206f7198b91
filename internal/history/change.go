package history

import (
	"fmt"
	"math"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// level is the share of series without a change in which one is marked.
const level = 0.05

// Change is a change of a figure in a series.
type Change struct {
	Figure     string  `json:"figure"`
	At         int     `json:"-"`          // the index of the first point after it
	Experiment string  `json:"experiment"` // that point's
	P          float64 `json:"p"`
	// The medians of the points between this change and its neighbours.
	Before float64 `json:"median_before"`
	After  float64 `json:"median_after"`
}

// changes returns the changes of a figure in a series.
func (s *Series) changes(name string) []Change {
	values := s.column(name)
	found := stats.Changes(values, level)
	var out []Change
	for i, c := range found {
		from, to := 0, len(values)
		if i > 0 {
			from = found[i-1].At
		}
		if i+1 < len(found) {
			to = found[i+1].At
		}
		out = append(out, Change{Figure: name, At: c.At, Experiment: s.Points[c.At].ID, P: c.P,
			Before: stats.Median(values[from:c.At]), After: stats.Median(values[c.At:to])})
	}
	return out
}

// sentence describes the change.
func (c Change) sentence(f figure.Figure, s *Series) string {
	way := "higher"
	if c.After < c.Before {
		way = "lower"
	}
	by := ""
	if c.Before > 0 {
		by = percent(math.Abs(c.After/c.Before-1)) + " "
	}
	return fmt.Sprintf("from %s (%s) on, %s is %s%s: %s, before it %s (medians, p %.2g)",
		moment(s.Points[c.At].At), c.Experiment, f.Name, by, way, f.Unit.Print(c.After),
		f.Unit.Print(c.Before), c.P)
}

// percent prints the size of a change, which is never 0%.
func percent(share float64) string {
	switch {
	case share < 0.0005:
		return "less than 0.1%"
	case share < 0.005:
		return fmt.Sprintf("%.1f%%", 100*share)
	}
	return quantity.Count(int64(math.Round(100*share))) + "%"
}

// judged says how changes are marked, or that the series is too short for it.
func (s *Series) judged(changes int) string {
	fewest := stats.FewestForChange(level)
	switch {
	case len(s.Points) < fewest:
		return fmt.Sprintf("too short to mark a change: it has %s, but needs %d",
			quantity.Plural(len(s.Points), "point", "points"), fewest)
	case changes == 0:
		return "no change was found"
	}
	return ""
}

// Caution says how far to trust the marks.
const Caution = "Rank tests mark a change in at most 5 of 100 series that have none, if the " +
	"experiments are independent of each other. For more thorough tests give the output of -f " +
	"csv to Apache Otava."
