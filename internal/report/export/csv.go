package export

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
)

// cell is text for a spreadsheet: some take a cell that begins with one of
// these signs for a formula and run it.
func cell(s string) string {
	s = document.Clean(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

// csvRunHead is the head of the columns that are equal in all rows of a run.
var csvRunHead = []string{
	"run_id", "name", "state", "started_at", "system", "workload", "durability_asked",
	"durability_level", "message_size_bytes", "target_rate_msgs_per_s",
	"offered_rate_msgs_per_s", "achieved_rate_msgs_per_s", "received_rate_msgs_per_s",
	"achieved_rate_bytes_per_s", "window_ns", "scheduled", "acked", "failed", "unknown",
	"unsent", "lost", "duplicate", "reordered", "generator_limited", "warnings",
}

// CSV writes one row per run and latency series, plimsoll's own error among them.
// A figure that the samples do not support is an empty cell, and so is a percentile that is
// not reached; the column of its bound tells the two apart.
func CSV(w io.Writer, runs []*result.Saved) error {
	out := csv.NewWriter(w)
	head := append(slices.Clone(csvRunHead), "series", "count", "mean_ns", "min_ns")
	for _, p := range result.Percentiles {
		head = append(head, phrase.Percentile(p)+"_ns")
	}
	head = append(head, "max_ns", "clamped", "negative")
	rows := [][]string{slices.Concat(head, costHead(), csvBoundHead())}
	for _, s := range runs {
		about, spent, sure := csvRun(warned(s)), csvCost(&s.Run), latency.NewWithin(s)
		for _, l := range csvSeries(&s.Run) {
			rows = append(rows, slices.Concat(about, csvLatency(l), spent,
				csvBounds(&s.Run, l, sure)))
		}
	}
	return out.WriteAll(rows)
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
	if l := r.Summary.Series(result.Copies); latency.Counted(l) {
		out = append(out, l)
	}
	for _, series := range []result.Series{result.Twin, result.TwinReceive} {
		if l := latency.Instrument(r, series); latency.Counted(l) {
			l.Series = series
			out = append(out, l)
		}
	}
	return out
}

// csvBoundHead is the head of the columns that say how a row's figures relate to
// the true ones.
func csvBoundHead() []string {
	out := []string{"schema_version", "arrivals", "unanswered", "refused", "never_sent",
		"not_received"}
	for _, p := range result.Percentiles {
		out = append(out, phrase.Percentile(p)+"_bound")
	}
	out = append(out, "max_bound")
	for _, p := range result.Percentiles {
		out = append(out, "answered_"+phrase.Percentile(p)+"_ns")
	}
	return append(out, "p99_low95_ns", "p99_high95_ns", "lost_at_most95", "duplicate_at_most95",
		"durability_copies", "clients")
}

func csvBounds(r *result.Run, l result.Latency, sure latency.Within) []string {
	m := l.Missing
	out := []string{strconv.Itoa(r.SchemaVersion), cell(fact.Arrivals(r.Load)),
		phrase.Integer(m.Unanswered), phrase.Integer(m.Refused), phrase.Integer(m.Unsent),
		phrase.Integer(m.NotReceived)}
	if r.Lacks() || fact.Imported(r) {
		clear(out[2:]) // not on record
	}
	for _, p := range result.Percentiles {
		point, _ := l.Point(p)
		out = append(out, string(point.Bound))
	}
	_, bound := l.Worst()
	out = append(out, string(bound))
	for _, p := range result.Percentiles {
		value := ""
		if ns, ok := latency.Answered(l).At(p); ok {
			value = phrase.Integer(ns)
		}
		out = append(out, value)
	}
	more := make([]string, 6)
	if span, ok := sure.Of(l.Series, 99); ok {
		more[0], more[1] = phrase.Integer(span.LowNs), phrase.Integer(span.HighNs)
	}
	if p, ok := fact.LostAtMost(r); ok {
		more[2] = strconv.FormatFloat(p, 'g', 4, 64)
	}
	if p, ok := fact.TwiceAtMost(r); ok {
		more[3] = strconv.FormatFloat(p, 'g', 4, 64)
	}
	if n := r.Durability.Copies; n > 0 {
		more[4] = strconv.Itoa(n)
	}
	more[5] = cell(r.Load.Clients)
	return append(out, more...)
}

func csvRun(r *result.Run) []string {
	sum, c := r.Summary, r.Counters
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, document.Clean(w.Code))
	}
	out := []string{
		cell(r.ID), cell(r.Name), fact.StateWord(r),
		r.StartedAt.UTC().Format("2006-01-02T15:04:05Z"),
		cell(r.System.Name), cell(r.Load.Workload), strconv.Itoa(r.Durability.Asked),
		strconv.Itoa(r.Durability.Level), phrase.Integer(r.Load.MessageBytes),
		phrase.Exact(r.Load.TargetRate),
		phrase.Exact(sum.OfferedRate), phrase.Exact(sum.AchievedRate),
		phrase.Exact(sum.ReceivedRate),
		phrase.Exact(sum.BytesPerS), phrase.Integer(sum.WindowNs), phrase.Integer(c.Scheduled),
		phrase.Integer(c.Acked),
		phrase.Integer(c.Failed), csvFigure("unknown", r), csvFigure("unsent", r),
		csvFigure(figure.Lost, r), csvFigure("duplicate", r), csvFigure("reordered", r),
		strconv.FormatBool(sum.Generator.Limited), cell(strings.Join(codes, " ")),
	}
	emptyUnrecorded(r, csvRunHead, out, map[string]string{
		"achieved_rate_msgs_per_s": result.RecordedAcked,
		"received_rate_msgs_per_s": result.RecordedReceived, "failed": result.RecordedRefused})
	return out
}

// csvFigure is a figure of the catalogue, or its lower bound; empty if it is not known.
func csvFigure(name string, r *result.Run) string {
	span, known := figure.Named(name).Span(r)
	if !known {
		return ""
	}
	return phrase.Exact(span.Least)
}

// emptyUnrecorded empties the cells of an imported run that are zero because the tool that measured
// it did not record them. recorded are the columns of the figures that it may have recorded.
func emptyUnrecorded(r *result.Run, head, cells []string, recorded map[string]string) {
	if !fact.Imported(r) {
		return
	}
	for i, c := range cells {
		name, may := recorded[head[i]]
		if (c == "0" || c == "false" || c == "0001-01-01T00:00:00Z") &&
			(!may || !r.Imported.Knows(name)) {
			cells[i] = ""
		}
	}
}

func csvLatency(l result.Latency) []string {
	out := []string{string(l.Series), phrase.Integer(l.Count), "", ""}
	if l.Count > 0 {
		out[2], out[3] = phrase.Exact(l.MeanNs), phrase.Integer(l.MinNs)
	}
	out = append(out, csvPercentiles(l, result.Percentiles)...)
	return append(out, phrase.Integer(l.Clamped), phrase.Integer(l.Negative))
}

// csvPercentiles is a cell for each percentile and one for the greatest.
func csvPercentiles(l result.Latency, percentiles []float64) []string {
	out := make([]string, len(percentiles)+1)
	for i, p := range percentiles {
		if point, ok := l.Point(p); ok && point.Bound != result.NotReached {
			out[i] = phrase.Integer(point.LatencyNs)
		}
	}
	if ns, _ := l.Worst(); latency.Counted(l) && ns > 0 {
		out[len(percentiles)] = phrase.Integer(ns)
	}
	return out
}

// IntervalsCSV writes one row per run and interval.
func IntervalsCSV(w io.Writer, runs []*result.Saved) error {
	out := csv.NewWriter(w)
	head := []string{"run_id", "start_ns", "end_ns", "phase", "scheduled", "sent", "acked",
		"failed", "received", "in_flight_msgs", "backlog_msgs", "blocked_ns", "cpu_seconds",
		"rss_bytes", "gc_pause_ns"}
	for _, series := range result.AllSeries {
		for _, of := range []string{"p50_ns", "p99_ns", "max_ns"} {
			head = append(head, string(series)+"_"+of)
		}
	}
	rows := [][]string{head}
	for _, s := range runs {
		for _, i := range s.Intervals {
			cells := csvInterval(s.Run.ID, i)
			// The times before are known.
			emptyUnrecorded(&s.Run, head[4:], cells[4:], map[string]string{
				"acked": result.RecordedAcked, "failed": result.RecordedRefused,
				"received": result.RecordedReceived, "backlog_msgs": result.RecordedBacklog})
			rows = append(rows, cells)
		}
	}
	return out.WriteAll(rows)
}

func csvInterval(id string, i result.Interval) []string {
	out := []string{cell(id), phrase.Integer(i.StartNs), phrase.Integer(i.EndNs),
		cell(string(i.Phase)), phrase.Integer(i.Scheduled), phrase.Integer(i.Sent),
		phrase.Integer(i.Acked), phrase.Integer(i.Failed), phrase.Integer(i.Received),
		phrase.Integer(i.InFlight), phrase.Integer(i.Backlog), phrase.Integer(i.BlockedNs),
		phrase.Exact(i.CPUSeconds), phrase.Integer(i.RSSBytes), phrase.Integer(i.GCPauseNs)}
	for _, series := range result.AllSeries {
		out = append(out, csvPercentiles(latency.Of(i, series), []float64{50, 99})...)
	}
	return out
}
