package row

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Throughput compares the achieved rate with the offered rate.
func Throughput(r *result.Run) string {
	s := r.Summary
	switch {
	case s.WindowNs <= 0 && fact.Running(r):
		return "nothing is measured yet"
	case s.WindowNs <= 0:
		return "nothing was measured"
	}
	out := phrase.Rate(s.AchievedRate) + " acknowledged"
	switch {
	case r.Load.Closed != nil:
		out += " in a closed loop"
	// Acknowledged messages were offered: without an offered rate, that rate is unknown.
	case s.OfferedRate > 0 || s.AchievedRate == 0 && !fact.Imported(r):
		out += fmt.Sprintf(" of %s offered (%s)", phrase.Rate(s.OfferedRate),
			phrase.AchievedShare(s))
	}
	if s.BytesPerS > 0 || s.AchievedRate == 0 && !fact.Imported(r) {
		out += ", " + phrase.BytesPerSecond(s.BytesPerS)
	}
	if received := Printed(figure.Received)(r); received != document.None {
		out += "; " + received + " received"
	}
	if s.Generator.Limited {
		out += "; limited by plimsoll itself, so not to be ranked"
	} else if _, is := verdict.Overloaded(r); is {
		out += "; overloaded, so its latencies are not to be ranked"
	} else if _, why := verdict.RankingOf(r); why.Code == verdict.Steady {
		out += "; " + why.Sentence + ", so not to be ranked"
	}
	return out
}

// figureRow is a row of the table that sets runs side by side.
type figureRow struct {
	section, name string
	text          func(*result.Run) string
	// number is the length of its bar; nil if it has no bar.
	number func(*result.Run) (float64, bool)
}

// The sections of the table.
const (
	ofThroughput = "Throughput"
	ofSendCall   = "A whole send of a closed loop"
	ofBacklog    = "A backlog and its readers"
	ofPublish    = "Publish latency"
	ofEndToEnd   = "End-to-end latency"
	ofCopies     = "End-to-end latency of copies"
	ofRedelivery = "Redelivery, from the return of a message to its next delivery"
	ofSend       = "Send latency, uncorrected"
	ofMessages   = "Account of messages"
	ofCost       = "Cost"
	ofInstrument = "Plimsoll's own error (instrument)"
	ofTrust      = "Before you trust it"
)

// latency reports whether the row is of a latency of messages.
func (f figureRow) latency() bool {
	return slices.Contains([]string{ofPublish, ofEndToEnd, ofCopies, ofRedelivery, ofSend,
		ofSendCall}, f.section)
}

// Figures are the figures of a comparison that any of its runs has.
func Figures(runs []*result.Saved) []document.Row {
	all := slices.Concat(figures(), sendFigures(runs), accountFigures())
	for _, f := range CostFigures {
		if f.row != "" {
			all = append(all, figureRow{ofCost, f.row, f.text, f.Value})
		}
	}
	all = append(all, figureRow{ofCost, "limiting resource", fact.Limiting, nil})
	all = append(append(all, instrumentFigures()...), figureRow{ofTrust,
		"limited by plimsoll itself", limitedWord, nil})
	ranked := map[bool][]bool{true: ranking(runs, true), false: ranking(runs, false)}
	var rows []document.Row
	for _, f := range all {
		r := each(runs, f.name, f.text)
		if slices.ContainsFunc(r.Values,
			func(c document.Cell) bool { return c.Words != document.None }) {
			r.Section = f.section
			addBars(r, runs, f.number, ranked[f.latency()])
			rows = append(rows, r)
		}
	}
	count := document.Row{Name: "warnings", Section: ofTrust}
	for _, s := range runs {
		words := strconv.Itoa(len(fact.WarningSentences(s)))
		count.Values = append(count.Values, document.Cell{Words: words})
	}
	return append(rows, count)
}

// limitedWord says whether plimsoll itself was the limit.
func limitedWord(r *result.Run) string {
	switch {
	case fact.Imported(r):
		return document.None
	case r.Summary.Generator.Limited:
		return "yes: must not be ranked"
	}
	return "no"
}

// ranking says which runs have bars beside a figure, which may be a latency: none when the runs are
// not comparable.
func ranking(runs []*result.Saved, latency bool) []bool {
	out := make([]bool, len(runs))
	if len(verdict.Comparable(fact.Runs(runs))) > 0 {
		return out
	}
	for i, s := range runs {
		out[i] = fact.RankedBy(&s.Run, latency)
	}
	return out
}

// addBars adds the bars of a row, the longest 100, if it has a number.
func addBars(r document.Row, runs []*result.Saved, number func(*result.Run) (float64, bool),
	ranked []bool) {
	if number == nil {
		return
	}
	values, greatest, shown := make([]float64, len(runs)), 0.0, 0
	for i, s := range runs {
		v, ok := number(&s.Run)
		if !ok || !ranked[i] || !phrase.Finite(v) || v < 0 {
			values[i] = math.NaN()
			continue
		}
		values[i], greatest, shown = v, max(greatest, v), shown+1
	}
	if greatest <= 0 || shown < 2 {
		return
	}
	for i, v := range values {
		if phrase.Finite(v) {
			r.Values[i].Bar = int(math.Ceil(v / greatest * 100)) // a small value still has a bar
		}
	}
}

// figures are throughput and latency.
func figures() []figureRow {
	return slices.Concat([]figureRow{
		{ofThroughput, "state", fact.StateWord, nil},
		{ofThroughput, "durability read back", func(r *result.Run) string {
			if r.Durability.Level == 0 {
				return document.None
			}
			return phrase.LevelRead(r.Durability)
		}, nil},
		{ofThroughput, "offered", offeredFigure, nil},
		{ofThroughput, "arrivals", func(r *result.Run) string { return fact.Arrivals(r.Load) },
			nil},
		// A producer is not the same thing on every system.
		{ofThroughput, "connections of producers and consumers", func(r *result.Run) string {
			return figure.Messages.Known(float64(r.Connections), r.Connections > 0)
		}, nil},
		{ofThroughput, "acknowledged", achievedFigure, figure.Named(figure.Rate).Value},
		{ofThroughput, "acknowledged bytes", bytesFigure, nil},
		{ofThroughput, "received", Printed(figure.Received), figure.Named(figure.Received).Value},
	}, closedFigures(), backlogFigures(), latencyFigures(ofPublish, result.Publish),
		[]figureRow{{ofPublish, phrase.SeriesTitle(result.Publish) + ", waits on purpose",
			func(r *result.Run) string { return fact.WaitWords(r, result.Publish) }, nil}},
		latencyFigures(ofEndToEnd, result.EndToEnd), latencyFigures(ofCopies, result.Copies),
		latencyFigures(ofRedelivery, result.Redelivered))
}

// instrumentFigures are the rows of plimsoll's own error.
func instrumentFigures() []figureRow {
	var out []figureRow
	for _, series := range []struct {
		title string
		name  result.Series
	}{{"publish", result.Twin}, {"end-to-end", result.TwinReceive}} {
		of := func(r *result.Run) result.Latency { return latency.Instrument(r, series.name) }
		out = append(out,
			percentileFigures(ofInstrument, "instrument, "+series.title, of, 50, 99)...)
	}
	return out
}

// Instruments gives plimsoll's own error over several runs; empty if no run measured it.
func Instruments(runs []*result.Saved) string {
	var parts []string
	for _, f := range instrumentFigures() {
		least, most := math.Inf(1), 0.0
		for _, s := range runs {
			if v, ok := f.number(&s.Run); ok {
				least, most = min(least, v), max(most, v)
			}
		}
		if most == 0 {
			continue
		}
		part := strings.TrimPrefix(f.name, "instrument, ") + " " + phrase.Nanoseconds(least)
		if most > least {
			part += " to " + phrase.Nanoseconds(most)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	out := strings.Join(parts, ", ") + " over these runs: plimsoll's own error"
	if slices.ContainsFunc(runs,
		func(s *result.Saved) bool { return latency.Marked(s.Run.Summary) }) {
		out += "; " + latency.OwnNote
	}
	return out
}

// latencyFigures are the rows of a latency series.
func latencyFigures(section string, series result.Series) []figureRow {
	out := []figureRow{{section, phrase.SeriesTitle(series) + ", messages without it",
		func(r *result.Run) string {
			return r.Summary.Series(series).Missing.Words()
		}, nil}}
	out = append(out,
		percentileFigures(section, phrase.SeriesTitle(series), seriesOf(series), 50, 99, 99.9)...)
	return append(out, figureRow{section, phrase.SeriesTitle(series) + " max",
		func(r *result.Run) string {
			return latency.Greatest(r.Summary.Series(series))
		}, func(r *result.Run) (float64, bool) {
			ns, ok := latency.ExactMax(r.Summary.Series(series))
			return float64(ns), ok
		}})
}

// percentileFigures are the rows of percentiles of a latency.
func percentileFigures(section, name string, of func(*result.Run) result.Latency,
	percentiles ...float64) []figureRow {
	var out []figureRow
	for _, p := range percentiles {
		out = append(out, figureRow{section, name + " " + result.PercentileName(p),
			func(r *result.Run) string { return latency.At(of(r), p) },
			func(r *result.Run) (float64, bool) {
				ns, ok := latency.ExactAt(of(r), p)
				return float64(ns), ok
			}})
	}
	return out
}

// seriesOf takes a latency series from a run.
func seriesOf(series result.Series) func(*result.Run) result.Latency {
	return func(r *result.Run) result.Latency { return r.Summary.Series(series) }
}

func offeredFigure(r *result.Run) string {
	switch {
	case r.Summary.WindowNs <= 0:
		return document.None
	case r.Load.Closed != nil:
		return "as answered"
	}
	return fact.UnlessUnknown(r, r.Summary.OfferedRate == 0, phrase.Rate(r.Summary.OfferedRate))
}

func achievedFigure(r *result.Run) string {
	s := r.Summary
	switch {
	case s.WindowNs <= 0:
		return document.None
	case r.Load.Closed != nil, s.OfferedRate == 0 && (s.AchievedRate > 0 || fact.Imported(r)):
		return phrase.Rate(s.AchievedRate)
	}
	return fmt.Sprintf("%s (%s)", phrase.Rate(s.AchievedRate), phrase.AchievedShare(s))
}

func bytesFigure(r *result.Run) string {
	s := r.Summary
	return figure.BytesPerSecond.Known(s.BytesPerS,
		s.WindowNs > 0 && (s.BytesPerS != 0 || !fact.Imported(r)))
}

func accountFigures() []figureRow {
	return []figureRow{
		{ofMessages, "lost", lostFigure, nil},
		{ofMessages, "duplicate", Printed("duplicate"), nil},
		{ofMessages, "reordered", Printed("reordered"), nil},
		{ofMessages, "fairness among consumers", fairness, nil},
		{ofMessages, "failed", Printed(figure.Failed), nil},
		{ofMessages, "unknown", Printed("unknown"), nil},
		{ofMessages, "unsent", Printed("unsent"), nil},
		{ofMessages, "greatest backlog", func(r *result.Run) string {
			n := r.Summary.MaxBacklog
			return figure.Messages.Known(float64(n), r.Summary.WindowNs > 0 &&
				!fact.Unrecorded(r, result.RecordedBacklog, n == 0))
		}, nil},
	}
}

// lostFigure is the number of lost messages of a run.
func lostFigure(r *result.Run) string {
	if !r.Accounted() {
		return document.None
	}
	return fact.Lost(r.Ledger.Total())
}

// fairness is Jain's index of the least fair subscription, and its messages of the consumers with
// the fewest and the most.
func fairness(r *result.Run) string {
	var worst *result.Sharing
	for _, l := range r.Ledger.Subscriptions {
		if s := l.Sharing; s != nil && (worst == nil || s.Fairness < worst.Fairness) {
			worst = s
		}
	}
	if worst == nil {
		return document.None
	}
	return fmt.Sprintf("%.2f (%s to %s messages each of %s)", worst.Fairness,
		quantity.Count(worst.Least), quantity.Count(worst.Most),
		quantity.Count(int64(worst.Consumers)))
}

// backlogFigures are the rows of a comparison that only runs with a backlog
// have.
func backlogFigures() []figureRow {
	text := func(value func(*result.Backlog) string) func(*result.Run) string {
		return func(r *result.Run) string {
			if r.Backlog == nil || r.Backlog.ReadRate == 0 {
				return document.None
			}
			return value(r.Backlog)
		}
	}
	out := []figureRow{
		{ofBacklog, "read", text(func(b *result.Backlog) string { return phrase.Rate(b.ReadRate) }),
			func(r *result.Run) (float64, bool) {
				if r.Backlog == nil {
					return 0, false
				}
				return r.Backlog.ReadRate, r.Backlog.ReadRate != 0
			}},
		{ofBacklog, "read bytes", Printed("catch_up"), nil},
		{ofBacklog, "caught up in", text(func(b *result.Backlog) string {
			if b.CaughtUpNs == 0 {
				return "never"
			}
			return quantity.Duration(b.CatchUpNs())
		}), nil},
	}
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		out = append(out, figureRow{ofBacklog, phrase.SeriesTitle(series) + " p99, × while read",
			text(func(b *result.Backlog) string {
				ratio, known := b.Effect(series, 99)
				if !known || series == result.EndToEnd && !fact.Replays(b) {
					return document.None
				}
				return fmt.Sprintf("%.2f", ratio)
			}), nil})
	}
	return out
}

// closedFigures are the rows of a comparison that only closed loops have.
func closedFigures() []figureRow {
	out := percentileFigures(ofSendCall, "send call", seriesOf(result.SendCall), 50, 95, 99)
	return append(out, figureRow{ofSendCall, "send call p95 by minute", func(r *result.Run) string {
		return MinuteFigure(r.Summary.Minutes, MinuteSeries[0].Of)
	}, nil})
}

// sendFigures are the rows of a comparison in which some runs have no publish latency.
func sendFigures(runs []*result.Saved) []figureRow {
	if !slices.ContainsFunc(fact.Runs(runs), fact.Imported) {
		return nil
	}
	return latencyFigures(ofSend, result.Send)
}

// MinuteSeries are the series that a minute has, in the order of tables.
var MinuteSeries = []struct {
	Series result.Series
	Of     func(result.Minute) int64
}{
	{result.SendCall, func(m result.Minute) int64 { return m.SendCallP95Ns }},
	{result.EndToEnd, func(m result.Minute) int64 { return m.EndToEndP95Ns }},
	{result.Send, func(m result.Minute) int64 { return m.SendP95Ns }},
}

// MinuteFigure gives the range of a figure over minutes.
func MinuteFigure(minutes []result.Minute, of func(result.Minute) int64) string {
	var all []float64
	for _, m := range minutes {
		if ns := of(m); ns > 0 {
			all = append(all, float64(ns))
		}
	}
	length := func(ns float64) string { return quantity.Duration(int64(ns)) }
	switch len(all) {
	case 0:
		return document.None
	case 1:
		return length(all[0])
	}
	return fmt.Sprintf("%s / %s / %s", length(slices.Min(all)), length(stats.Median(all)),
		length(slices.Max(all)))
}
