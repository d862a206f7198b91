package row

import (
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/result"
)

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
