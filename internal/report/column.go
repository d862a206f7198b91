package report

import (
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// figureColumn is a figure in a table with a row for each run, by its name in the catalogue or in
// beside; those with the greatest keep are shown on a narrow terminal.
type figureColumn struct {
	title, figure string
	keep          int
}

// headOf are the heads of columns.
func headOf(columns []figureColumn) (out []document.Column) {
	for _, c := range columns {
		out = append(out, document.Column{Name: c.title, Keep: c.keep})
	}
	return out
}

// beside are the columns that the catalogue has no figure for, or that say more than a number.
var beside = map[string]func(*result.Run) string{
	"offered": offeredFigure, "level": shortLevel, "bytes": bytesFigure, figure.Lost: lostFigure,
	"servers_cpu": func(r *result.Run) string {
		if words := serverCPU.text(r); words != insidePlimsoll {
			return words
		}
		return atMost + allCPU.text(r)
	},
	"limiting": func(r *result.Run) string {
		resource, _, _ := strings.Cut(limitingWord(r), ",")
		return resource
	},
}

// printed returns the printer of a figure by its name. It prints the figure of a run with its bound
// and its mark, or none.
func printed(name string) func(*result.Run) string {
	if words, is := beside[name]; is {
		return words
	}
	f := figure.Named(name)
	_, part, _ := strings.Cut(name, ".")
	return func(r *result.Run) string {
		span, known := f.Span(r)
		switch {
		case f.Percentile > 0:
			return at(r.Summary.Series(f.Series), f.Percentile)
		case f.IsLatency() && part == "max":
			return greatest(r.Summary.Series(f.Series))
		}
		return f.Unit.Known(span.Least, known && span.Exact())
	}
}
