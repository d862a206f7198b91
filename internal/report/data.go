package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// JSON writes each run's run.json, in one array. It adds the cost of a message where it was
// observed, the confidence intervals, the figures that a run of an earlier format lacks, and how
// well a set of runs is known.
func JSON(w io.Writer, runs []*result.Saved) error {
	type costed struct {
		*result.Run
		Cost  map[string]any `json:"cost,omitempty"`
		Price *result.Price  `json:"price,omitempty"`
		Sure  *confidence    `json:"confidence_95,omitempty"`
		Lacks string         `json:"lacks,omitempty"`
		// Known is of the whole set that the runs are; its last run has it.
		Known *knownJSON `json:"known,omitempty"`
	}
	out := make([]costed, len(runs))
	for i, s := range runs {
		out[i] = costed{&s.Run, newMessageCost(&s.Run), s.Price, newConfidence(s),
			lacksSentence(&s.Run), nil}
	}
	if len(runs) > 0 {
		out[len(runs)-1].Known = newKnownJSON(knownOf(runs))
	}
	return document.JSON(w, out)
}

// confidence holds the intervals and bounds of a run's figures, at 95%.
type confidence struct {
	// Intervals cover the variation within the run, by the names of figures in gates.
	Intervals within `json:"intervals,omitempty"`
	// The upper bounds of the probabilities of loss and of duplicates.
	LostAtMost      *float64 `json:"lost_at_most,omitempty"`
	DuplicateAtMost *float64 `json:"duplicate_at_most,omitempty"`
}

// newConfidence is nil where no interval and no bound is known.
func newConfidence(s *result.Saved) *confidence {
	c := confidence{Intervals: newWithin(s), LostAtMost: maybe(lostAtMost(&s.Run)),
		DuplicateAtMost: maybe(twiceAtMost(&s.Run))}
	if len(c.Intervals) == 0 && c.LostAtMost == nil && c.DuplicateAtMost == nil {
		return nil
	}
	return &c
}

// cell is text for a spreadsheet: some take a cell that begins with one of
// these signs for a formula and run it.
func cell(s string) string {
	s = clean(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

func integer(n int64) string { return strconv.FormatInt(n, 10) }

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
		head = append(head, percentileName(p)+"_ns")
	}
	head = append(head, "max_ns", "clamped", "negative")
	rows := [][]string{slices.Concat(head, costHead(), csvBoundHead())}
	for _, s := range runs {
		about, spent, sure := csvRun(&s.Run), csvCost(&s.Run), newWithin(s)
		for _, l := range csvSeries(&s.Run) {
			rows = append(rows, slices.Concat(about, csvLatency(l), spent,
				csvBounds(&s.Run, l, sure)))
		}
	}
	return out.WriteAll(rows)
}

// csvSeries are the series for which a run has a row: those of its load, and others where
// they were measured.
func csvSeries(r *result.Run) []result.Latency {
	var out []result.Latency
	for _, series := range r.Load.Series() {
		out = append(out, r.Summary.Series(series))
	}
	if l := r.Summary.Series(result.Copies); counted(l) {
		out = append(out, l)
	}
	for _, series := range []result.Series{result.Twin, result.TwinReceive} {
		if l := instrument(r, series); counted(l) {
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
		out = append(out, percentileName(p)+"_bound")
	}
	out = append(out, "max_bound")
	for _, p := range result.Percentiles {
		out = append(out, "answered_"+percentileName(p)+"_ns")
	}
	return append(out, "p99_low95_ns", "p99_high95_ns", "lost_at_most95", "duplicate_at_most95",
		"durability_copies", "clients")
}

func csvBounds(r *result.Run, l result.Latency, sure within) []string {
	m := l.Missing
	out := []string{strconv.Itoa(r.SchemaVersion), cell(arrivals(r.Load)),
		integer(m.Unanswered), integer(m.Refused), integer(m.Unsent), integer(m.NotReceived)}
	if r.Lacks() || imported(r) {
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
		if ns, ok := answered(l).At(p); ok {
			value = integer(ns)
		}
		out = append(out, value)
	}
	more := make([]string, 6)
	if span, ok := sure.of(l.Series, 99); ok {
		more[0], more[1] = integer(span.LowNs), integer(span.HighNs)
	}
	if p, ok := lostAtMost(r); ok {
		more[2] = strconv.FormatFloat(p, 'g', 4, 64)
	}
	if p, ok := twiceAtMost(r); ok {
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
		codes = append(codes, clean(w.Code))
	}
	out := []string{
		cell(r.ID), cell(r.Name), stateWord(r), r.StartedAt.UTC().Format("2006-01-02T15:04:05Z"),
		cell(r.System.Name), cell(r.Load.Workload), strconv.Itoa(r.Durability.Asked),
		strconv.Itoa(r.Durability.Level), integer(r.Load.MessageBytes), exact(r.Load.TargetRate),
		exact(sum.OfferedRate), exact(sum.AchievedRate), exact(sum.ReceivedRate),
		exact(sum.BytesPerS), integer(sum.WindowNs), integer(c.Scheduled), integer(c.Acked),
		integer(c.Failed), csvFigure("unknown", r), csvFigure("unsent", r),
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
	return exact(span.Least)
}

// emptyUnrecorded empties the cells of an imported run that are zero because the tool that measured
// it did not record them. recorded are the columns of the figures that it may have recorded.
func emptyUnrecorded(r *result.Run, head, cells []string, recorded map[string]string) {
	if !imported(r) {
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
	out := []string{string(l.Series), integer(l.Count), "", ""}
	if l.Count > 0 {
		out[2], out[3] = exact(l.MeanNs), integer(l.MinNs)
	}
	out = append(out, csvPercentiles(l, result.Percentiles)...)
	return append(out, integer(l.Clamped), integer(l.Negative))
}

// csvPercentiles is a cell for each percentile and one for the greatest.
func csvPercentiles(l result.Latency, percentiles []float64) []string {
	out := make([]string, len(percentiles)+1)
	for i, p := range percentiles {
		if point, ok := l.Point(p); ok && point.Bound != result.NotReached {
			out[i] = integer(point.LatencyNs)
		}
	}
	if ns, _ := l.Worst(); counted(l) && ns > 0 {
		out[len(percentiles)] = integer(ns)
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
	out := []string{cell(id), integer(i.StartNs), integer(i.EndNs), cell(string(i.Phase)),
		integer(i.Scheduled), integer(i.Sent), integer(i.Acked), integer(i.Failed),
		integer(i.Received), integer(i.InFlight), integer(i.Backlog), integer(i.BlockedNs),
		exact(i.CPUSeconds), integer(i.RSSBytes), integer(i.GCPauseNs)}
	for _, series := range result.AllSeries {
		out = append(out, csvPercentiles(latencyOf(i, series), []float64{50, 99})...)
	}
	return out
}

// latencyOf is an interval's latency of a series, or the zero Latency.
func latencyOf(i result.Interval, series result.Series) result.Latency {
	return result.Summary{Latency: i.Latency}.Series(series)
}
