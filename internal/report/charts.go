package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

const noIntervals = "No interval was saved, so there is nothing to show over time."

// wordsOfRun are the charts of one run without their drawings: what they show, in words, or why
// there is nothing to show. The charts of its cost are separate.
func wordsOfRun(s *result.Saved) []*document.Chart {
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
	out := []*document.Chart{
		{ID: "throughput", Empty: empty, Title: "Messages per second",
			Note:  "Each interval: due, acknowledged, and received by each subscription.",
			Label: "Throughput over time. " + throughputSentence(&s.Run) + "."},
		{ID: "backlog", Empty: empty, Title: "Backlog and in flight",
			Note: "Backlog: acknowledged and not yet received. In flight: handed over and not " +
				"yet answered.",
			Label: fmt.Sprintf(
				"Backlog and messages in flight over time. The greatest backlog was %s messages.",
				quantity.Count(sum.MaxBacklog))},
		{ID: "latency", Empty: empty, Title: "Latency over time",
			Note:  "From the moment each message was due, by the interval in which it ended.",
			Label: "Publish and end-to-end latency over time: " + publish + "; " + e2e + "."},
		{ID: "heat", Empty: noLatency, Title: "Latency heat map",
			Note: "The number of messages by time and latency: a stronger colour means more " +
				"messages. Two bands are two kinds of messages, which no percentile line shows.",
			Label: "Heat map of latency over time."},
		{ID: "curve", Empty: noCurve, Title: "Latency by percentile",
			Note: uncorrectedSentence(&s.Run),
			Label: "Latency by percentile: " + publish + "; " + e2e + "; uncorrected " +
				latencyLabel(sum.Series(result.Send)) + "."},
		{ID: "self", Empty: empty, Title: "Is plimsoll to blame?",
			Note: "Schedule lag: how late messages were handed over, because plimsoll was late " +
				"or because the system blocked its producers. Hiccups: how late a thread woke " +
				"that only sleeps; where hiccups rise, plimsoll causes part of the latencies " +
				"above.",
			Label: "Schedule lag, hiccups and garbage collection pauses over time: " +
				latencyLabel(sum.Series(result.Lag)) + "."},
	}
	if len(s.Resources) == 0 {
		out = append(out, &document.Chart{ID: "cpu", Empty: empty, Title: "Plimsoll's own CPU",
			Note: "Cores that this process used; servers that run inside it are included.",
			Label: fmt.Sprintf("CPU of plimsoll over time, %s of all cores on average.",
				share(sum.Generator.CPUShare, 1))})
	}
	if imported(&s.Run) {
		out = forImported(&s.Run, out)
	}
	return withMissing(out, sum)
}

// withMissing adds to the notes of latency charts which messages the charts leave out.
func withMissing(out []*document.Chart, s result.Summary) []*document.Chart {
	sentences := missingOf(s)
	for i := range out {
		switch id := out[i].ID; {
		case len(sentences) == 0:
		case id == "curve":
			out[i].Note += " A line ends where the messages without a latency begin (" +
				strings.Join(sentences, "; ") + ")."
		case id == "latency" || id == "heat":
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
	if n <= 2*document.LineGroups {
		return ""
	}
	each := float64(s.Intervals[n-1].EndNs-s.Intervals[0].StartNs) / 1e9 / document.LineGroups
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

// wordsOfAll are the charts that overlay the lines of all runs, without their drawings.
func wordsOfAll(runs []*result.Saved) []*document.Chart {
	empty, noCurve := noIntervals, "No message was measured in any of these runs."
	if slices.ContainsFunc(runs, func(s *result.Saved) bool { return len(s.Intervals) > 0 }) {
		empty = ""
	}
	if slices.ContainsFunc(inner(runs),
		func(r *result.Run) bool { return r.Summary.Series(publishSeries(r)).Count > 0 }) {
		noCurve = ""
	}
	words := func(value func(*result.Run) string) string {
		out := ""
		for i, n := range names(runs) {
			out += fmt.Sprintf(" %s: %s.", n, value(&runs[i].Run))
		}
		return out
	}
	out := []*document.Chart{
		{ID: "compare-curve", Empty: noCurve, Title: "Latency by percentile",
			Note: "Each run's whole distribution. Publish and end-to-end latency start when each " +
				"message was due.",
			Label: "Latency by percentile, runs side by side." + words(publishLabel)},
		{ID: "compare-throughput", Empty: empty, Title: "Throughput, acknowledged",
			Note:  "Runs are aligned on the start of the measured window.",
			Label: "Throughput over time, runs side by side." + words(throughputSentence)},
		{ID: "compare-latency", Empty: empty, Title: "Latency over time, p99",
			Label: "The 99th percentile of latency over time, runs side by side." +
				words(publishLabel)},
		{ID: "compare-backlog", Empty: empty, Title: "Backlog",
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
func compareUsage(runs []*result.Saved) []*document.Chart {
	var out []*document.Chart
	for _, c := range comparedUsage {
		if slices.ContainsFunc(runs, func(s *result.Saved) bool {
			return newUsage(s).values(c.line(s)) != nil
		}) {
			out = append(out, &document.Chart{ID: c.id, Title: c.title, Note: c.note,
				Label: c.title + " over time, runs side by side."})
		}
	}
	return out
}

func publishLabel(r *result.Run) string { return latencyLabel(r.Summary.Series(publishSeries(r))) }

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
