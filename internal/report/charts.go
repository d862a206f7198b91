package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// chart is a place that the page's script fills with a drawing, and a text for readers who
// cannot see the drawing.
type chart struct {
	Kind  string
	Run   int // -1: all runs
	Index int // among the run's charts of this kind
	Title string
	Note  string // a sentence below the title
	Label string // the content of the chart, in words
	Empty string // why there is nothing to show
}

const noIntervals = "No interval was saved, so there is nothing to show over time."

// charts are the charts of one run, in order; throughput is the first. The charts of its cost
// are separate.
func charts(run int, s *result.Saved) []chart {
	empty := ""
	if len(s.Intervals) == 0 {
		empty = noIntervals
	}
	noLatency := ""
	if !slices.ContainsFunc(s.Latency, isMessageLatency) {
		noLatency = "No message's latency was saved, so there is no distribution to show."
	}
	noCurve := ""
	if !slices.ContainsFunc(s.Latency,
		func(l result.IntervalLatency) bool { return isMessageLatency(l) && !l.Warmup }) {
		noCurve = "No message was measured, so there is no distribution to show."
	}
	sum := s.Run.Summary
	publish, e2e := latencyLabel(sum.Series(publishSeries(&s.Run))), latencyLabel(
		sum.Series(result.EndToEnd))
	out := []chart{
		{Kind: "throughput", Run: run, Empty: empty, Title: "Messages per second",
			Note:  "Each interval: due, acknowledged, and received by each subscription.",
			Label: "Throughput over time. " + throughputSentence(&s.Run) + "."},
		{Kind: "backlog", Run: run, Empty: empty, Title: "Backlog and in flight",
			Note: "Backlog: acknowledged and not yet received. In flight: handed over and not " +
				"yet answered.",
			Label: fmt.Sprintf(
				"Backlog and messages in flight over time. The greatest backlog was %s messages.",
				quantity.Count(sum.MaxBacklog))},
		{Kind: "latency", Run: run, Empty: empty, Title: "Latency over time",
			Note:  "From the moment each message was due, by the interval in which it ended.",
			Label: "Publish and end-to-end latency over time: " + publish + "; " + e2e + "."},
		{Kind: "heat", Run: run, Empty: noLatency, Title: "Latency heat map",
			Note: "The number of messages by time and latency: a stronger colour means more " +
				"messages. Two bands are two kinds of messages, which no percentile line shows.",
			Label: "Heat map of latency over time."},
		{Kind: "curve", Run: run, Empty: noCurve, Title: "Latency by percentile",
			Note: uncorrectedSentence(&s.Run),
			Label: "Latency by percentile: " + publish + "; " + e2e + "; uncorrected " +
				latencyLabel(sum.Series(result.Send)) + "."},
		{Kind: "self", Run: run, Empty: empty, Title: "Is plimsoll to blame?",
			Note: "Schedule lag: how late messages were handed over, because plimsoll was late " +
				"or because the system blocked its producers. Hiccups: how late a thread woke " +
				"that only sleeps; where hiccups rise, plimsoll causes part of the latencies " +
				"above.",
			Label: "Schedule lag, hiccups and garbage collection pauses over time: " +
				latencyLabel(sum.Series(result.Lag)) + "."},
	}
	if len(s.Resources) == 0 {
		out = append(out, chart{Kind: "cpu", Run: run, Empty: empty, Title: "Plimsoll's own CPU",
			Note: "Cores that this process used; servers that run inside it are included.",
			Label: fmt.Sprintf("CPU of plimsoll over time, %s of all cores on average.",
				share(sum.Generator.CPUShare, 1))})
	}
	if imported(&s.Run) {
		out = forImported(out)
	}
	return withMissing(out, sum)
}

// withMissing adds to the notes of latency charts which messages the charts leave out.
func withMissing(out []chart, s result.Summary) []chart {
	sentences := missingOf(s)
	for i := range out {
		switch kind := out[i].Kind; {
		case len(sentences) == 0:
		case kind == "curve":
			out[i].Note += " A line ends where the messages without a latency begin (" +
				strings.Join(sentences, "; ") + ")."
		case kind == "latency" || kind == "heat":
			out[i].Note += " Messages without a latency are not drawn."
		}
	}
	return out
}

func isMessageLatency(l result.IntervalLatency) bool {
	return (l.Series == result.Publish || l.Series == result.EndToEnd || l.Series == result.Send) &&
		l.EndNs > l.StartNs && l.Histogram.TotalCount() > 0
}

// thinnedSentence says how the charts of a long run are thinned.
func thinnedSentence(s *result.Saved) string {
	n := len(s.Intervals)
	if n <= 2*maxGroups {
		return ""
	}
	each := float64(s.Intervals[n-1].EndNs-s.Intervals[0].StartNs) / 1e9 / maxGroups
	return fmt.Sprintf(
		"The run has %s intervals. A line shows two points for about every %s: the least and the "+
			"greatest value. A column of the heat map sums up neighbouring intervals.",
		quantity.Count(int64(n)), seconds(math.Round(each)))
}

func latencyLabel(l result.Latency) string {
	if !counted(l) {
		return seriesTitle(l.Series) + " has no measured message"
	}
	return fmt.Sprintf("%s p50 %s, p99 %s, max %s", seriesTitle(l.Series), at(l, 50), at(l, 99),
		greatest(l))
}

// compareCharts are the charts that overlay the lines of all runs.
func compareCharts(runs []*result.Saved) []chart {
	empty, noCurve := noIntervals, "No message was measured in any of these runs."
	if slices.ContainsFunc(runs, func(s *result.Saved) bool { return len(s.Intervals) > 0 }) {
		empty = ""
	}
	if slices.ContainsFunc(runs,
		func(s *result.Saved) bool {
			return s.Run.Summary.Series(
				publishSeries(&s.Run)).Count > 0
		}) {
		noCurve = ""
	}
	words := func(value func(*result.Run) string) string {
		out := ""
		for i, n := range names(runs) {
			out += fmt.Sprintf(" %s: %s.", n, value(&runs[i].Run))
		}
		return out
	}
	out := []chart{
		{Kind: "compare-curve", Run: -1, Empty: noCurve, Title: "Latency by percentile",
			Note: "Each run's whole distribution. Publish and end-to-end latency start when each " +
				"message was due.",
			Label: "Latency by percentile, runs side by side." + words(publishLabel)},
		{Kind: "compare-throughput", Run: -1, Empty: empty, Title: "Throughput, acknowledged",
			Note:  "Runs are aligned on the start of the measured window.",
			Label: "Throughput over time, runs side by side." + words(throughputLabel)},
		{Kind: "compare-latency", Run: -1, Empty: empty, Title: "Latency over time, p99",
			Label: "The 99th percentile of latency over time, runs side by side." +
				words(publishLabel)},
		{Kind: "compare-backlog", Run: -1, Empty: empty, Title: "Backlog",
			Label: "Backlog over time, runs side by side." + words(backlogLabel)},
	}
	if slices.ContainsFunc(inner(runs), imported) {
		out[0].Note = "Each run's whole distribution. Publish and end-to-end latency start when " +
			"each message was due. Send latency, and the end-to-end latency of runs that another " +
			"tool measured, start when it was handed over."
	}
	return append(out, compareUsage(runs)...)
}

// compareUsage are the charts of the runs' resource use, where at least one run has it.
func compareUsage(runs []*result.Saved) []chart {
	all := []chart{
		{Kind: "compare-cpu", Run: -1, Title: "CPU, servers and plimsoll together",
			Note: "Cores used. They are added up because servers inside plimsoll's process have " +
				"no separate CPU time."},
		{Kind: "compare-written", Run: -1, Title: "Written to disk by the servers",
			Note: "Bytes per second, all nodes together."},
		{Kind: "compare-syncs", Run: -1, Title: "fsync and fdatasync by the servers",
			Note: "Calls per second, all nodes together."},
	}
	var out []chart
	var spent []*usage
	for _, s := range runs {
		spent = append(spent, newUsage(s))
	}
	for i, c := range all {
		if slices.ContainsFunc(spent, func(u *usage) bool { return u.has(comparedUsage[i]) }) {
			c.Label = c.Title + " over time, runs side by side."
			out = append(out, c)
		}
	}
	return out
}

func publishLabel(r *result.Run) string { return latencyLabel(r.Summary.Series(publishSeries(r))) }

func throughputLabel(r *result.Run) string { return throughputSentence(r) }

func backlogLabel(r *result.Run) string { return quantity.Count(r.Summary.MaxBacklog) + " at most" }

func round(v float64) float64 {
	if !finite(v) {
		return 0
	}
	if math.Abs(v) < 100 {
		return math.Round(v*100) / 100
	}
	return math.Round(v)
}
