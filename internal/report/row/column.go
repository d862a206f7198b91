package row

import (
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Column is a figure in a table with a row for each run, by its name in the catalogue or in
// beside; those with the greatest keep are shown on a narrow terminal.
type Column struct {
	Title, Figure string
	Keep          int
}

// Heads are the heads of columns.
func Heads(columns []Column) (out []document.Column) {
	for _, c := range columns {
		out = append(out, document.Column{Name: c.Title, Keep: c.Keep})
	}
	return out
}

// beside are the columns that the catalogue has no figure for, or that say more than a number.
var beside = map[string]func(*result.Run) string{
	"offered": offeredFigure, "level": fact.ShortLevel, "bytes": bytesFigure,
	figure.Lost: lostFigure,
	"servers_cpu": func(r *result.Run) string {
		if words := serverCPU.text(r); words != insidePlimsoll {
			return words
		}
		return AtMost + allCPU.text(r)
	},
	"limiting": func(r *result.Run) string {
		resource, _, _ := strings.Cut(fact.Limiting(r), ",")
		return resource
	},
}

// Printed returns the printer of a figure by its name. It prints the figure of a run with its bound
// and its mark, or none.
func Printed(name string) func(*result.Run) string {
	if words, is := beside[name]; is {
		return words
	}
	f := figure.Named(name)
	_, part, _ := strings.Cut(name, ".")
	return func(r *result.Run) string {
		span, known := f.Span(r)
		switch {
		case f.Percentile > 0:
			return latency.At(r.Summary.Series(f.Series), f.Percentile)
		case f.IsLatency() && part == "max":
			return latency.Greatest(r.Summary.Series(f.Series))
		}
		return f.Unit.Known(span.Least, known && span.Exact())
	}
}

// AtMost marks the CPU time of servers in plimsoll's process, whose share is not known.
const AtMost = "≤"
