package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// costFigure is a figure of what a message costs: a row of the table that sets runs side by side, a
// field of JSON and CSV, and a unit of benchfmt; empty where it has none.
type costFigure struct {
	row, field, bench string
	unit              figure.Unit
	of                func(figure.Cost) (float64, bool)
	// apart: it is not known of servers inside plimsoll, whose use nobody can tell from plimsoll's.
	apart bool
}

var (
	allCPU = costFigure{"CPU per message, together", "cpu_ns_per_msg", "cpu-ns/msg",
		figure.Nanoseconds, figure.Cost.AllCPU, false}
	serverCPU = costFigure{"server CPU per message", "server_cpu_ns_per_msg", "server-cpu-ns/msg",
		figure.Nanoseconds, figure.Cost.ServerCPU, true}
)

var costFigures = []costFigure{
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

// value is the figure of a run; unknown where it cannot be told from plimsoll's.
func (f costFigure) value(r *result.Run) (float64, bool) {
	c := figure.NewCost(r)
	v, known := f.of(c)
	return v, known && c.Observed() && (!f.apart || !c.Embedded)
}

// text prints the figure of a run.
func (f costFigure) text(r *result.Run) string {
	c := figure.NewCost(r)
	v, known := f.of(c)
	switch {
	case !known || !c.Observed():
		return none
	case f.apart && c.Embedded:
		return insidePlimsoll
	}
	return f.unit.Print(v)
}

// insidePlimsoll is printed for figures of servers inside plimsoll's process.
const insidePlimsoll = "inside plimsoll"

// The other fields of the cost of a message. With servers inside plimsoll, their figures include
// the load generator.
const (
	costInside   = "servers_inside_plimsoll"
	costLimiting = "limiting_resource" // see internal/verdict
	costShare    = "limiting_share"    // of its limit
)

// newMessageCost is the cost of a message, for programs, by field. Unknown figures are left out. It
// is nil when nothing was observed.
func newMessageCost(r *result.Run) map[string]any {
	c := figure.NewCost(r)
	if !c.Observed() {
		return nil
	}
	l := verdict.Limiting(r)
	out := map[string]any{costInside: c.Embedded, costLimiting: l.Resource}
	for _, f := range costFigures {
		if v, known := f.value(r); known && finite(v) && f.field != "" {
			out[f.field] = v
		}
	}
	if l.Resource != verdict.NoneSeen && l.Share > 0 {
		out[costShare] = l.Share
	}
	return out
}

// maybe is a figure for programs; nil when it is not known.
func maybe(v float64, ok bool) *float64 {
	if !ok || !finite(v) {
		return nil
	}
	return &v
}

// costHead are the columns of a message's cost; they follow all other columns.
func costHead() (out []string) {
	for _, f := range costFigures {
		if f.field != "" {
			out = append(out, f.field)
		}
	}
	return append(out, costInside, costLimiting, costShare)
}

// csvCost is a cell for each column of costHead, empty where the figure is unknown.
func csvCost(r *result.Run) []string {
	c := newMessageCost(r)
	var out []string
	for _, name := range costHead() {
		switch v := c[name].(type) {
		case float64:
			out = append(out, exact(v))
		case bool:
			out = append(out, strconv.FormatBool(v))
		case string:
			out = append(out, cell(v))
		default:
			out = append(out, "")
		}
	}
	return out
}

func maybeExact(v *float64) string {
	if v == nil {
		return ""
	}
	return exact(*v)
}

func maybeInteger(v *int64) string {
	if v == nil {
		return ""
	}
	return integer(*v)
}

// resourcesHead are the columns of ResourcesCSV.
var resourcesHead = []string{
	"run_id", "start_ns", "end_ns", "phase", "kind", "name", "pid", "server", "cpu_seconds",
	"rss_bytes", "read_bytes", "write_bytes", "syncs", "map_syncs", "net_received_bytes",
	"net_sent_bytes", "iowait_seconds", "steal_seconds", "pressure_cpu", "pressure_io",
	"pressure_memory", "page_cache_bytes", "dirty_bytes", "loopback_bytes", "reads", "writes",
	"utilization", "compile_ns",
}

// ResourcesCSV writes one row per run, second and process, and one for the host
// and for each of its disks. A cell is empty where its kind of row has no such
// figure, or the kernel did not tell it.
func ResourcesCSV(w io.Writer, runs []*result.Saved) error {
	out := csv.NewWriter(w)
	rows := [][]string{resourcesHead}
	for _, s := range runs {
		for _, r := range s.Resources {
			about := []string{cell(s.Run.ID), integer(r.StartNs), integer(r.EndNs),
				cell(string(r.Phase))}
			for _, cells := range resourceCells(&s.Run, r) {
				row := slices.Clone(about)
				for _, column := range resourcesHead[len(about):] {
					row = append(row, cells[column])
				}
				rows = append(rows, row)
			}
		}
	}
	return out.WriteAll(rows)
}

// resourceCells returns the rows of one second, keyed by column name.
func resourceCells(run *result.Run, r result.Resources) []map[string]string {
	var out []map[string]string
	for _, p := range r.Processes {
		out = append(out, map[string]string{
			"kind": "process", "name": cell(p.Name), "pid": strconv.Itoa(p.PID),
			"server":      strconv.FormatBool(slices.Contains(run.Observation.Servers, p.Name)),
			"cpu_seconds": exact(p.CPUSeconds), "rss_bytes": integer(p.RSSBytes),
			"read_bytes": maybeInteger(p.ReadBytes), "write_bytes": maybeInteger(p.WriteBytes),
			"compile_ns": maybeInteger(p.CompileNs),
			"syncs":      maybeInteger(p.Syncs), "map_syncs": maybeInteger(p.MapSyncs),
			"net_received_bytes": maybeInteger(p.NetReceivedBytes),
			"net_sent_bytes":     maybeInteger(p.NetSentBytes),
		})
	}
	h := r.Host
	out = append(out, map[string]string{
		"kind": "host", "cpu_seconds": exact(h.CPUSeconds),
		"iowait_seconds": exact(h.IOWaitSeconds), "steal_seconds": exact(h.StealSeconds),
		"pressure_cpu": maybeExact(h.PressureCPU), "pressure_io": maybeExact(h.PressureIO),
		"pressure_memory":  maybeExact(h.PressureMemory),
		"page_cache_bytes": integer(h.PageCacheBytes), "dirty_bytes": integer(h.DirtyBytes),
		"loopback_bytes": maybeInteger(h.LoopbackBytes),
	})
	for _, d := range r.Disks {
		out = append(out, map[string]string{
			"kind": "disk", "name": cell(d.Name), "read_bytes": integer(d.ReadBytes),
			"write_bytes": integer(d.WriteBytes), "reads": integer(d.Reads),
			"writes": integer(d.Writes), "utilization": exact(d.Utilization),
		})
	}
	return out
}
