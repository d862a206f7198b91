package export

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/result"
)

// costHead are the columns of a message's cost; they follow all other columns.
func costHead() (out []string) {
	for _, f := range row.CostFigures {
		if f.Field != "" {
			out = append(out, f.Field)
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
			out = append(out, phrase.Exact(v))
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

// ifKnown returns the words for a figure; "": it is not known.
func ifKnown[T any](v *T, print func(T) string) string {
	if v == nil {
		return ""
	}
	return print(*v)
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
			about := []string{cell(s.Run.ID), phrase.Integer(r.StartNs), phrase.Integer(r.EndNs),
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
			"cpu_seconds": phrase.Exact(p.CPUSeconds), "rss_bytes": phrase.Integer(p.RSSBytes),
			"read_bytes":         ifKnown(p.ReadBytes, phrase.Integer),
			"write_bytes":        ifKnown(p.WriteBytes, phrase.Integer),
			"compile_ns":         ifKnown(p.CompileNs, phrase.Integer),
			"syncs":              ifKnown(p.Syncs, phrase.Integer),
			"map_syncs":          ifKnown(p.MapSyncs, phrase.Integer),
			"net_received_bytes": ifKnown(p.NetReceivedBytes, phrase.Integer),
			"net_sent_bytes":     ifKnown(p.NetSentBytes, phrase.Integer),
		})
	}
	h := r.Host
	out = append(out, map[string]string{
		"kind": "host", "cpu_seconds": phrase.Exact(h.CPUSeconds),
		"iowait_seconds":   phrase.Exact(h.IOWaitSeconds),
		"steal_seconds":    phrase.Exact(h.StealSeconds),
		"pressure_cpu":     ifKnown(h.PressureCPU, phrase.Exact),
		"pressure_io":      ifKnown(h.PressureIO, phrase.Exact),
		"pressure_memory":  ifKnown(h.PressureMemory, phrase.Exact),
		"page_cache_bytes": phrase.Integer(h.PageCacheBytes),
		"dirty_bytes":      phrase.Integer(h.DirtyBytes),
		"loopback_bytes":   ifKnown(h.LoopbackBytes, phrase.Integer),
	})
	for _, d := range r.Disks {
		out = append(out, map[string]string{
			"kind": "disk", "name": cell(d.Name), "read_bytes": phrase.Integer(d.ReadBytes),
			"write_bytes": phrase.Integer(d.WriteBytes), "reads": phrase.Integer(d.Reads),
			"writes": phrase.Integer(d.Writes), "utilization": phrase.Exact(d.Utilization),
		})
	}
	return out
}
