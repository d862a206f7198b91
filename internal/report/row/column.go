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

// CostFigure is a figure of what a message costs: a row of the table that sets runs side by side, a
// field of JSON and CSV, and a unit of benchfmt; empty where it has none.
type CostFigure struct {
	row, Field, Bench string
	unit              figure.Unit
	of                func(figure.Cost) (float64, bool)
	// apart: it is not known of servers inside plimsoll, whose use nobody can tell from plimsoll's.
	apart bool
}

var (
	allCPU = CostFigure{"CPU per message, together", "cpu_ns_per_msg", "cpu-ns/msg",
		figure.Nanoseconds, figure.Cost.AllCPU, false}
	serverCPU = CostFigure{"server CPU per message", "server_cpu_ns_per_msg", "server-cpu-ns/msg",
		figure.Nanoseconds, figure.Cost.ServerCPU, true}
)

// CostFigures are all figures of what a message costs, in the order of tables.
var CostFigures = []CostFigure{
	allCPU, serverCPU,
	{"plimsoll's CPU per message", "own_cpu_ns_per_msg", "own-cpu-ns/msg", figure.Nanoseconds,
		figure.Cost.OwnCPU, false},
	{"messages per core-second of the servers", "", "", figure.Number,
		figure.Cost.MsgsPerCoreSecond, true},
	{"fsyncs per message, all nodes", "syncs_per_msg", "fsyncs/msg", figure.Number,
		perMessage(figure.Syncs), false},
	{"fsyncs per second, each node", "syncs_per_s_per_node", "", figure.Number,
		func(c figure.Cost) (float64, bool) { return c.EachNode(figure.Syncs) }, false},
	{"", "map_syncs_per_msg", "", figure.Number, perMessage(figure.MapSyncs), false},
	{"bytes written per byte published", "write_amplification", "", figure.Number,
		figure.Cost.Amplification, false},
	{"server memory", "", "", figure.Bytes, figure.Cost.Memory, true},
}

func perMessage(of func(result.ProcessUse) *int64) func(figure.Cost) (float64, bool) {
	return func(c figure.Cost) (float64, bool) { return c.PerMessage(of) }
}

// Value is the figure of a run; unknown where it cannot be told from plimsoll's.
func (f CostFigure) Value(r *result.Run) (float64, bool) {
	c := figure.NewCost(r)
	v, known := f.of(c)
	return v, known && c.Observed() && (!f.apart || !c.Embedded)
}

// text prints the figure of a run.
func (f CostFigure) text(r *result.Run) string {
	c := figure.NewCost(r)
	v, known := f.of(c)
	switch {
	case !known || !c.Observed():
		return document.None
	case f.apart && c.Embedded:
		return insidePlimsoll
	}
	return f.unit.Print(v)
}

// insidePlimsoll is printed for figures of servers inside plimsoll's process.
const insidePlimsoll = "inside plimsoll"
