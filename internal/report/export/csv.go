package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/result"
)

// printed is a value for machines: a number with all its digits and without an exponent, or a text;
// empty where it is not known.
func printed(v any) string {
	switch v := v.(type) {
	case string:
		v = document.Clean(v)
		// Some spreadsheets run a cell that begins with one of these signs, as a formula.
		if v != "" && strings.ContainsRune("=+-@", rune(v[0])) {
			return "'" + v
		}
		return v
	case bool, int, int64:
		return fmt.Sprint(v)
	case float64:
		if phrase.Finite(v) {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	case *int64:
		if v != nil {
			return printed(*v)
		}
	case *float64:
		if v != nil {
			return printed(*v)
		}
	}
	return ""
}

// column is a cell of a row, with the head of its column.
type column struct {
	head  string
	value any // as printed takes it
}

// writeCSV writes rows below the heads of their columns; nothing is a row of nothing, which has
// them too.
func writeCSV(w io.Writer, nothing []column, rows [][]column) error {
	lines := make([][]string, 1+len(rows))
	for _, c := range nothing {
		lines[0] = append(lines[0], c.head)
	}
	for i, columns := range rows {
		for _, c := range columns {
			lines[i+1] = append(lines[i+1], printed(c.value))
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// CSV writes one row per run and latency series, plimsoll's own error among them.
// A figure that the samples do not support is an empty cell, and so is a percentile that is
// not reached; the column of its bound tells the two apart.
func CSV(w io.Writer, runs []*result.Saved) error {
	var rows [][]column
	for _, s := range runs {
		about, spent, sure := csvRun(warned(s)), csvCost(&s.Run), latency.NewWithin(s)
		for _, l := range csvSeries(&s.Run) {
			rows = append(rows, slices.Concat(about, csvLatency(l), spent,
				csvBounds(&s.Run, l, sure)))
		}
	}
	var r result.Run
	var l result.Latency
	return writeCSV(w, slices.Concat(csvRun(&r), csvLatency(l), csvCost(&r),
		csvBounds(&r, l, nil)), rows)
}

// csvSeries are the series for which a run has a row: those of its load and of its classes of
// messages, and others where they were measured.
func csvSeries(r *result.Run) []result.Latency {
	var out []result.Latency
	for _, series := range r.Load.Series() {
		out = append(out, r.Summary.Series(series))
	}
	for _, c := range r.Classes {
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			l := r.Latency(result.OfClass(series, c.Name))
			l.Series = result.OfClass(series, c.Name)
			out = append(out, l)
		}
	}
	for _, series := range []result.Series{result.Request, result.Copies, result.Redelivered,
		result.CatchUp} {
		if l := r.Summary.Series(series); latency.Counted(l) {
			out = append(out, l)
		}
	}
	for _, series := range []result.Series{result.Twin, result.TwinReceive} {
		if l := latency.Instrument(r, series); latency.Counted(l) {
			l.Series = series
			out = append(out, l)
		}
	}
	return out
}

// csvRun has what is equal in all rows of a run.
func csvRun(r *result.Run) []column {
	sum, c := r.Summary, r.Counters
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, document.Clean(w.Code))
	}
	count := func(name string) *float64 { // or its lower bound
		span, known := figure.Named(name).Span(r)
		return maybe(span.Least, known)
	}
	out := []column{
		{"run_id", r.ID}, {"name", r.Name}, {"state", fact.StateWord(r)},
		{"started_at", r.StartedAt.UTC().Format("2006-01-02T15:04:05Z")},
		{"system", r.System.Name}, {"workload", r.Load.Workload},
		{"durability_asked", r.Durability.Asked}, {"durability_level", r.Durability.Level},
		{"message_size_bytes", r.Load.MessageBytes}, {"target_rate_msgs_per_s", r.Load.TargetRate},
		{"offered_rate_msgs_per_s", sum.OfferedRate},
		{"achieved_rate_msgs_per_s", sum.AchievedRate},
		{"received_rate_msgs_per_s", sum.ReceivedRate},
		{"achieved_rate_bytes_per_s", sum.BytesPerS}, {"window_ns", sum.WindowNs},
		{"scheduled", c.Scheduled}, {"acked", c.Acked},
		{"failed", c.Failed}, {"unknown", count("unknown")}, {"unsent", count("unsent")},
		{"lost", count(figure.Lost)}, {"duplicate", count("duplicate")},
		{"reordered", count("reordered")}, {"generator_limited", sum.Generator.Limited},
		{"warnings", strings.Join(codes, " ")},
	}
	emptyUnrecorded(r, out, map[string]string{
		"achieved_rate_msgs_per_s": result.RecordedAcked,
		"received_rate_msgs_per_s": result.RecordedReceived, "failed": result.RecordedRefused})
	return out
}

// emptyUnrecorded empties the columns of an imported run that are zero because the tool that
// measured it did not record them. recorded are those that it may have recorded.
func emptyUnrecorded(r *result.Run, columns []column, recorded map[string]string) {
	if !fact.Imported(r) {
		return
	}
	zeros := []string{"0", "false", "0001-01-01T00:00:00Z"}
	for i, c := range columns {
		name, may := recorded[c.head]
		if slices.Contains(zeros, printed(c.value)) && (!may || !r.Imported.Knows(name)) {
			columns[i].value = nil
		}
	}
}

func csvLatency(l result.Latency) []column {
	out := []column{{"series", string(l.Series)}, {"count", l.Count}, {"mean_ns", l.MeanNs},
		{"min_ns", l.MinNs}}
	if l.Count == 0 {
		out[2].value, out[3].value = nil, nil
	}
	out = append(out, csvPercentiles("", l, result.Percentiles)...)
	return append(out, column{"clamped", l.Clamped}, column{"negative", l.Negative})
}

// csvPercentiles is a column for each percentile and one for the greatest; before begins their
// heads.
func csvPercentiles(before string, l result.Latency, percentiles []float64) (out []column) {
	for _, p := range percentiles {
		c := column{head: before + result.PercentileName(p) + "_ns"}
		if point, ok := l.Point(p); ok && point.Bound != result.NotReached {
			c.value = point.LatencyNs
		}
		out = append(out, c)
	}
	c := column{head: before + "max_ns"}
	if ns, _ := l.Worst(); latency.Counted(l) && ns > 0 {
		c.value = ns
	}
	return append(out, c)
}

// csvBounds say how a row's figures relate to the true ones.
func csvBounds(r *result.Run, l result.Latency, sure latency.Within) []column {
	m := l.Missing
	out := []column{{"schema_version", r.SchemaVersion}, {"arrivals", fact.Arrivals(r.Load)},
		{"unanswered", m.Unanswered}, {"refused", m.Refused}, {"never_sent", m.Unsent},
		{"not_received", m.NotReceived}}
	if r.Lacks() || fact.Imported(r) { // what is missing is not on record
		for i := 2; i < len(out); i++ {
			out[i].value = nil
		}
	}
	for _, p := range result.Percentiles {
		point, _ := l.Point(p)
		out = append(out, column{result.PercentileName(p) + "_bound", string(point.Bound)})
	}
	_, bound := l.Worst()
	out = append(out, column{"max_bound", string(bound)})
	for _, p := range result.Percentiles {
		c := column{head: "answered_" + result.PercentileName(p) + "_ns"}
		if ns, ok := latency.Answered(l).At(p); ok {
			c.value = ns
		}
		out = append(out, c)
	}
	more := []column{{head: "p99_low95_ns"}, {head: "p99_high95_ns"}, {head: "lost_at_most95"},
		{head: "duplicate_at_most95"}, {head: "durability_copies"}, {"clients", r.Load.Clients}}
	if span, ok := sure.Of(l.Series, 99); ok {
		more[0].value, more[1].value = span.LowNs, span.HighNs
	}
	if p, ok := fact.LostAtMost(r); ok {
		more[2].value = strconv.FormatFloat(p, 'g', 4, 64)
	}
	if p, ok := fact.TwiceAtMost(r); ok {
		more[3].value = strconv.FormatFloat(p, 'g', 4, 64)
	}
	if n := r.Durability.Copies; n > 0 {
		more[4].value = n
	}
	return append(out, more...)
}

// IntervalsCSV writes one row per run and interval.
func IntervalsCSV(w io.Writer, runs []*result.Saved) error {
	var rows [][]column
	for _, s := range runs {
		for _, i := range s.Intervals {
			columns := csvInterval(s.Run.ID, i)
			// The times before are known.
			emptyUnrecorded(&s.Run, columns[4:], map[string]string{
				"acked": result.RecordedAcked, "failed": result.RecordedRefused,
				"received": result.RecordedReceived, "backlog_msgs": result.RecordedBacklog})
			rows = append(rows, columns)
		}
	}
	return writeCSV(w, csvInterval("", result.Interval{}), rows)
}

func csvInterval(id string, i result.Interval) []column {
	out := []column{{"run_id", id}, {"start_ns", i.StartNs}, {"end_ns", i.EndNs},
		{"phase", string(i.Phase)}, {"scheduled", i.Scheduled}, {"sent", i.Sent},
		{"acked", i.Acked}, {"failed", i.Failed}, {"received", i.Received},
		{"in_flight_msgs", i.InFlight}, {"backlog_msgs", i.Backlog}, {"blocked_ns", i.BlockedNs},
		{"cpu_seconds", i.CPUSeconds}, {"rss_bytes", i.RSSBytes}, {"gc_pause_ns", i.GCPauseNs}}
	for _, series := range slices.Concat(result.AllSeries, []result.Series{result.SendCall}) {
		out = append(out, csvPercentiles(string(series)+"_", latency.Of(i, series),
			[]float64{50, 99})...)
	}
	return out
}

// csvCost is the cost of a message, empty where it is unknown.
func csvCost(r *result.Run) (out []column) {
	c := newMessageCost(r)
	for _, f := range row.CostFigures {
		if f.Field != "" {
			out = append(out, column{f.Field, c[f.Field]})
		}
	}
	for _, name := range []string{costInside, costLimiting, costShare} {
		out = append(out, column{name, c[name]})
	}
	return out
}

// ResourcesCSV writes one row per run, second and process, and one for the host
// and for each of its disks. A cell is empty where its kind of row has no such
// figure, or the kernel did not tell it.
func ResourcesCSV(w io.Writer, runs []*result.Saved) error {
	var rows [][]column
	for _, s := range runs {
		for _, r := range s.Resources {
			for _, values := range resourceValues(&s.Run, r) {
				rows = append(rows, csvResources(s.Run.ID, r, values))
			}
		}
	}
	return writeCSV(w, csvResources("", result.Resources{}, nil), rows)
}

// csvResources is a row of ResourcesCSV, with the values that it has.
func csvResources(id string, r result.Resources, values map[string]any) []column {
	out := []column{{"run_id", id}, {"start_ns", r.StartNs}, {"end_ns", r.EndNs},
		{"phase", string(r.Phase)}}
	for _, head := range []string{"kind", "name", "pid", "server", "cpu_seconds", "rss_bytes",
		"read_bytes", "write_bytes", "syncs", "map_syncs", "net_received_bytes", "net_sent_bytes",
		"iowait_seconds", "steal_seconds", "pressure_cpu", "pressure_io", "pressure_memory",
		"page_cache_bytes", "dirty_bytes", "loopback_bytes", "reads", "writes", "utilization",
		"compile_ns", "log_bytes"} {
		out = append(out, column{head, values[head]})
	}
	return out
}

// resourceValues returns the rows of one second, by the heads of their columns.
func resourceValues(run *result.Run, r result.Resources) []map[string]any {
	var out []map[string]any
	for _, p := range r.Processes {
		out = append(out, map[string]any{
			"kind": "process", "name": p.Name, "pid": p.PID,
			"server":      slices.Contains(run.Observation.Servers, p.Name),
			"cpu_seconds": p.CPUSeconds, "rss_bytes": p.RSSBytes, "read_bytes": p.ReadBytes,
			"write_bytes": p.WriteBytes, "compile_ns": p.CompileNs,
			"log_bytes": p.LogBytes, "syncs": p.Syncs,
			"map_syncs": p.MapSyncs, "net_received_bytes": p.NetReceivedBytes,
			"net_sent_bytes": p.NetSentBytes,
		})
	}
	h := r.Host
	out = append(out, map[string]any{
		"kind": "host", "cpu_seconds": h.CPUSeconds, "iowait_seconds": h.IOWaitSeconds,
		"steal_seconds": h.StealSeconds, "pressure_cpu": h.PressureCPU, "pressure_io": h.PressureIO,
		"pressure_memory": h.PressureMemory, "page_cache_bytes": h.PageCacheBytes,
		"dirty_bytes": h.DirtyBytes, "loopback_bytes": h.LoopbackBytes,
	})
	for _, d := range r.Disks {
		out = append(out, map[string]any{
			"kind": "disk", "name": d.Name, "read_bytes": d.ReadBytes, "write_bytes": d.WriteBytes,
			"reads": d.Reads, "writes": d.Writes, "utilization": d.Utilization,
		})
	}
	return out
}
