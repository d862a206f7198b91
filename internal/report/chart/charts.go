package chart

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

const noIntervals = "No interval was saved, so there is nothing to show over time."

// maxSpans bounds the faults and events that a chart marks; more could not be told apart.
const maxSpans = 100

// timeAxis spans the time of a run with figures, or of a long drain only the beginning.
func timeAxis(s *result.Saved) document.Axis {
	from, to := lasted(s)
	if _, until, ok := longDrain(s); ok {
		to = until
	}
	if !(from < to) {
		return document.Axis{Unit: document.Seconds}
	}
	return document.Axis{Unit: document.Seconds, From: &from, To: &to}
}

// longDrain is a drain that would take more than a quarter of a time axis: its start and the
// moment at which the axis ends, in seconds.
func longDrain(s *result.Saved) (start, until float64, ok bool) {
	const share = 0.25
	from, to := lasted(s)
	for _, p := range s.Run.Phases {
		if p.Name == result.PhaseDrain {
			start = float64(p.StartNs) / 1e9
			until = start + (start-from)*share/(1-share)
			return start, until, from < start && until < to
		}
	}
	return 0, 0, false
}

// Sentence says how the charts of a long run are thinned, and how much of a long drain they
// show.
func Sentence(s *result.Saved) string {
	var out []string
	if n := len(s.Intervals); n > 2*document.LineGroups {
		each := float64(s.Intervals[n-1].EndNs-s.Intervals[0].StartNs) / 1e9 / document.LineGroups
		out = append(out, fmt.Sprintf("The run has %s intervals. A line is a band from the least "+
			"to the greatest value of about every %s. A column of a heat map sums up neighbouring "+
			"intervals.", quantity.Count(int64(n)), phrase.Seconds(math.Round(each))))
	}
	if start, until, ok := longDrain(s); ok {
		_, to := lasted(s)
		tenths := func(s float64) string { return phrase.Seconds(math.Round(s*10) / 10) }
		out = append(out, fmt.Sprintf("The drain lasted %s. Charts over time end %s after its "+
			"start; the figures below each chart go on to its end.", tenths(to-start),
			tenths(until-start)))
	}
	return strings.Join(out, " ")
}

func latencyLabel(l result.Latency) string {
	if !latency.Counted(l) {
		return phrase.SeriesTitle(l.Series) + " has no measured message"
	}
	return fmt.Sprintf("%s p50 %s, p99 %s, max %s", phrase.SeriesTitle(l.Series), latency.At(l,
		50), latency.At(l, 99), latency.Greatest(l))
}

// latencyLabels describe publish and end-to-end latency.
func latencyLabels(r *result.Run) string {
	return publishLabel(r) + "; " + latencyLabel(r.Summary.Series(result.EndToEnd))
}

func publishLabel(r *result.Run) string {
	return latencyLabel(r.Summary.Series(fact.PublishSeries(r)))
}

// labelOf describes a latency.
func labelOf(series result.Series) func(*result.Run) string {
	if series == result.Publish {
		return publishLabel
	}
	return func(r *result.Run) string { return latencyLabel(r.Summary.Series(series)) }
}

func backlogLabel(r *result.Run) string { return quantity.Count(r.Summary.MaxBacklog) + " at most" }

// runSpans are the phases of a run that are not measured, its faults and its other events.
func runSpans(s *result.Saved) []document.Span {
	names := map[result.PhaseName]string{result.PhaseWarmup: "warm-up",
		result.PhaseDrain: "drain"}
	var out []document.Span
	for _, p := range s.Run.Phases {
		if p.Name != result.PhaseMeasure && p.EndNs > p.StartNs && len(out) < maxSpans {
			out = append(out, document.Span{From: float64(p.StartNs) / 1e9,
				To: float64(p.EndNs) / 1e9, Words: names[p.Name]})
		}
	}
	if b := s.Run.Backlog; b != nil {
		if during, read := b.Stretch(result.During); read {
			out = append(out, document.Span{From: float64(during.StartNs) / 1e9,
				To: float64(during.EndNs) / 1e9, Words: "catching up"})
		}
	}
	out = append(out, faultSpans(s, 0)...)
	for _, e := range s.Events {
		if e.Kind != "phase" && e.Kind != "fault" && len(out) < maxSpans {
			at := float64(e.AtNs) / 1e9
			out = append(out, document.Span{From: at, To: at, Tone: document.Unsure})
		}
	}
	return out
}

// faultSpans are the faults of a run until they were healed, or all copies complete, in seconds
// since a moment of it.
// A run that ended early has only its events.
func faultSpans(s *result.Saved, since float64) []document.Span {
	var out []document.Span
	add := func(fromNs, toNs int64, words string) {
		if from := float64(fromNs)/1e9 - since; len(out) < maxSpans {
			out = append(out, document.Span{From: from, To: max(float64(toNs)/1e9-since, from),
				Tone: document.Bad, Words: document.Cut(words, 120)})
		}
	}
	for _, f := range s.Run.Faults {
		add(f.StartNs, max(f.HealedNs, f.InSyncNs, f.FoundNs), fact.Fault(f))
	}
	for _, e := range s.Events {
		if e.Kind == "fault" && len(s.Run.Faults) == 0 {
			add(e.AtNs, e.AtNs, document.Clean(e.Sentence))
		}
	}
	return out
}

// lasted is the start and the end of the time with figures, in seconds.
func lasted(s *result.Saved) (from, to float64) {
	first, last := int64(math.MaxInt64), int64(0)
	see := func(start, end int64) { first, last = min(first, start), max(last, end) }
	for _, i := range s.Intervals {
		see(i.StartNs, i.EndNs)
	}
	for _, l := range s.Latency {
		see(l.StartNs, l.EndNs)
	}
	for _, r := range s.Resources {
		see(r.StartNs, r.EndNs)
	}
	return float64(max(min(first, last), 0)) / 1e9, float64(last) / 1e9
}
