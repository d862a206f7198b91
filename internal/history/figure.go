package history

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
)

// PeakFigure is the name of the figure of searches: the confirmed stable end of the bracket.
// The figures of runs have the names of compare.Find.
const PeakFigure = "peak"

// Default is the figure that is shown when none is named.
const Default = "publish.p99"

// Figure is a figure of runs, or that of searches.
type Figure struct {
	Name string
	Unit compare.Unit

	ofRun compare.Figure // of a run
}

// latency reports whether the figure is a latency of runs.
func (f Figure) latency() bool { return f.ofRun.IsLatency() }

// peak reports whether the figure belongs to searches.
func (f Figure) peak() bool { return f.Name == PeakFigure }

// FindFigures returns the figures of a list of names with commas between.
func FindFigures(names string) ([]Figure, error) {
	var out []Figure
	seen := map[string]bool{}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if seen[name] {
			return nil, fmt.Errorf("%s is named twice", name)
		}
		seen[name] = true
		if name == PeakFigure {
			out = append(out, Figure{Name: PeakFigure, Unit: compare.PerSecond})
			continue
		}
		f, err := compare.Find(name)
		if err != nil {
			return nil, fmt.Errorf("%w, or %s, of searches", err, PeakFigure)
		}
		out = append(out, Figure{Name: f.Name, Unit: f.Unit, ofRun: f})
	}
	if seen[PeakFigure] && len(out) > 1 {
		return nil, errors.New(
			"peak is a figure of searches and the others are of runs: name the one or the others")
	}
	return out, nil
}

// text prints a value of the figure.
func (f Figure) text(v float64) string {
	switch f.Unit {
	case compare.Nanoseconds:
		return quantity.Duration(int64(v))
	case compare.PerSecond:
		return quantity.Rate(v)
	}
	return quantity.Count(int64(v))
}
