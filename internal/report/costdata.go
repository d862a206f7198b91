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

// costFields are the figures of the cost of a message, by their names in JSON and CSV.
var costFields = []struct {
	name string
	of   func(figure.Cost) (float64, bool)
}{
	{"cpu_ns_per_msg", figure.Cost.AllCPU}, // servers and plimsoll together
	{"server_cpu_ns_per_msg", func(c figure.Cost) (float64, bool) {
		v, known := c.ServerCPU()
		return v, known && !c.Embedded
	}},
	{"own_cpu_ns_per_msg", figure.Cost.OwnCPU},
	{"syncs_per_msg", perMessage(figure.Syncs)}, // of all nodes
	{"syncs_per_s_per_node", func(c figure.Cost) (float64, bool) {
		v, known := c.PerSecond(figure.Syncs)
		return v / c.Nodes(), known
	}},
	{"map_syncs_per_msg", perMessage(figure.MapSyncs)}, // of all nodes
	// bytes written by all nodes per byte acknowledged
	{"write_amplification", figure.Cost.Amplification},
}

func perMessage(of func(result.ProcessUse) *int64) func(figure.Cost) (float64, bool) {
	return func(c figure.Cost) (float64, bool) { return c.PerMessage(of) }
}

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
	for _, f := range costFields {
		if v := maybe(f.of(c)); v != nil {
			out[f.name] = *v
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
	for _, f := range costFields {
		out = append(out, f.name)
	}
	return append(out, costInside, costLimiting, costShare)
}

// csvCost is a cell for each column of costHead, empty where the figure is unknown.
func csvCost(r *result.Run) []string {
	c := newMessageCost(r)
	out := make([]string, 0, len(costFields)+3)
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
