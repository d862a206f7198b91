package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

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

// The names of the cost rows, for lookups by other formats.
const (
	rowServerCPU     = "server CPU per message"
	rowOwnCPU        = "plimsoll's CPU per message"
	rowAllCPU        = "CPU per message, together"
	rowPerCore       = "messages per core-second of the servers"
	rowSyncsMessage  = "fsyncs per message, all nodes"
	rowSyncsNode     = "fsyncs per second, each node"
	rowAmplification = "bytes written per byte published"
	rowMemory        = "server memory"
	rowLimiting      = "limiting resource"
)

// insidePlimsoll is printed for figures of servers inside plimsoll's process.
const insidePlimsoll = "inside plimsoll"

// rowArrivals is the row of the arrival process, and rowFairness that of how evenly messages came
// to consumers.
const (
	rowArrivals = "arrivals"
	rowFairness = "fairness among consumers"
	// rowConnections shows that a producer is not the same thing on every system.
	rowConnections = "connections of producers and consumers"
)

// optional reports whether the row is left out when no run has a value for it.
func (f figureRow) optional() bool {
	sections := []string{ofCost, ofSendCall, ofBacklog, ofInstrument, ofCopies, ofRedelivery}
	return f.name == rowArrivals || f.name == rowFairness || f.name == rowConnections ||
		strings.HasSuffix(f.name, withoutLatency) || strings.HasSuffix(f.name, waitedRow) ||
		slices.Contains(sections, f.section)
}

// latency reports whether the row is of a latency of messages.
func (f figureRow) latency() bool {
	return slices.Contains([]string{ofPublish, ofEndToEnd, ofCopies, ofRedelivery, ofSend,
		ofSendCall}, f.section)
}

// figureRows are the figures of a comparison. Rows of cost, of closed loops and of backlogs
// for which no run has a value are left out.
func figureRows(runs []*result.Saved) []row {
	all := slices.Concat(withoutPublish(runs, figures()), sendFigures(runs), accountFigures(),
		costFigures(), instrumentFigures())
	all = append(all, figureRow{ofTrust, "limited by plimsoll itself", func(r *result.Run) string {
		if imported(r) {
			return none
		}
		if r.Summary.Generator.Limited {
			return "yes: must not be ranked"
		}
		return "no"
	}, nil})
	ranked := map[bool][]bool{true: ranking(runs, true), false: ranking(runs, false)}
	var rows []row
	for _, f := range all {
		r := each(runs, f.name, f.text)
		known := slices.ContainsFunc(r.Values, func(v string) bool { return v != none })
		if f.optional() && !known {
			continue
		}
		r.Section, r.Bars = f.section, bars(runs, f.number, ranked[f.latency()])
		rows = append(rows, r)
	}
	count := row{Name: "warnings", Section: ofTrust}
	for _, s := range runs {
		count.Values = append(count.Values, strconv.Itoa(len(warnings(s))))
	}
	return append(rows, count)
}

// rankable reports whether all of a run's figures may be ranked against another's.
func rankable(r *result.Run) bool {
	of, _ := verdict.RankingOf(r)
	return of == verdict.Ranked
}

// ranking says which runs have bars beside a figure, which may be a latency: none when the runs are
// not comparable.
func ranking(runs []*result.Saved, latency bool) []bool {
	out := make([]bool, len(runs))
	if len(verdict.Comparable(inner(runs))) > 0 {
		return out
	}
	for i, s := range runs {
		of, _ := verdict.RankingOf(&s.Run)
		out[i] = of == verdict.Ranked || of == verdict.RatesRanked && !latency
	}
	return out
}

// inner are the runs without their saved intervals, events and histograms.
func inner(runs []*result.Saved) []*result.Run {
	out := make([]*result.Run, len(runs))
	for i, s := range runs {
		out[i] = &s.Run
	}
	return out
}

// bars are the lengths of a row's bars, the longest 100.
func bars(runs []*result.Saved, number func(*result.Run) (float64, bool), ranked []bool) []int {
	if number == nil {
		return nil
	}
	values, greatest, shown := make([]float64, len(runs)), 0.0, 0
	for i, s := range runs {
		v, ok := number(&s.Run)
		if !ok || !ranked[i] || !finite(v) || v < 0 {
			values[i] = math.NaN()
			continue
		}
		values[i], greatest, shown = v, max(greatest, v), shown+1
	}
	if greatest <= 0 || shown < 2 {
		return nil
	}
	out := make([]int, len(runs))
	for i, v := range values {
		out[i] = -1
		if finite(v) {
			out[i] = int(math.Ceil(v / greatest * 100)) // a small value still has a bar
		}
	}
	return out
}

// figures are throughput and latency.
func figures() []figureRow {
	ofSummary := func(of func(result.Summary) float64) func(*result.Run) (float64, bool) {
		return func(r *result.Run) (float64, bool) { return of(r.Summary), r.Summary.WindowNs > 0 }
	}
	out := []figureRow{
		{ofThroughput, "state", stateWord, nil},
		{ofThroughput, "durability read back", func(r *result.Run) string {
			if r.Durability.Level == 0 {
				return none
			}
			return levelRead(r.Durability)
		}, nil},
		{ofThroughput, "offered", offeredFigure, nil},
		{ofThroughput, rowArrivals, func(r *result.Run) string {
			return cmp.Or(arrivals(r.Load), none)
		}, nil},
		{ofThroughput, rowConnections, func(r *result.Run) string {
			if r.Connections == 0 {
				return none
			}
			return quantity.Count(r.Connections)
		}, nil},
		{ofThroughput, "acknowledged", achievedFigure,
			ofSummary(func(s result.Summary) float64 { return s.AchievedRate })},
		{ofThroughput, "acknowledged bytes", func(r *result.Run) string {
			return unlessUnknown(r, r.Summary.BytesPerS == 0,
				measured(func(s result.Summary) string { return bytesPerSecond(s.BytesPerS) })(r))
		}, nil},
		{ofThroughput, "received", receivedFigure,
			ofSummary(func(s result.Summary) float64 { return s.ReceivedRate })},
	}
	out = append(out, closedFigures()...)
	out = append(out, backlogFigures()...)
	return slices.Concat(out, latencyFigures(ofPublish, result.Publish),
		[]figureRow{waitFigure(ofPublish, result.Publish)},
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
		of := func(r *result.Run) result.Latency { return instrument(r, series.name) }
		out = append(out,
			percentileFigures(ofInstrument, "instrument, "+series.title, of, 50, 99)...)
	}
	return out
}

// instrumentsSentence gives plimsoll's own error over several runs; empty if no run measured it.
func instrumentsSentence(runs []*result.Saved) string {
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
		part := strings.TrimPrefix(f.name, "instrument, ") + " " + nanoseconds(least)
		if most > least {
			part += " to " + nanoseconds(most)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	out := strings.Join(parts, ", ") + " over these runs: plimsoll's own error"
	if slices.ContainsFunc(runs, func(s *result.Saved) bool { return marked(s.Run.Summary) }) {
		out += "; " + ownNote
	}
	return out
}

// withoutLatency ends the name of a row that counts messages without a latency.
const withoutLatency = ", messages without it"

// latencyFigures are the rows of a latency series.
func latencyFigures(section string, series result.Series) []figureRow {
	out := []figureRow{{section, seriesTitle(series) + withoutLatency, func(r *result.Run) string {
		return cmp.Or(missingWords(r.Summary.Series(series).Missing), none)
	}, nil}}
	out = append(out,
		percentileFigures(section, seriesTitle(series), seriesOf(series), 50, 99, 99.9)...)
	return append(out, figureRow{section, seriesTitle(series) + " max", func(r *result.Run) string {
		return greatest(r.Summary.Series(series))
	}, func(r *result.Run) (float64, bool) {
		ns, ok := exactMax(r.Summary.Series(series))
		return float64(ns), ok
	}})
}

// percentileFigures are the rows of percentiles of a latency.
func percentileFigures(section, name string, of func(*result.Run) result.Latency,
	percentiles ...float64) []figureRow {
	var out []figureRow
	for _, p := range percentiles {
		out = append(out, figureRow{section, name + " " + percentileName(p),
			func(r *result.Run) string { return at(of(r), p) },
			func(r *result.Run) (float64, bool) {
				ns, ok := exactAt(of(r), p)
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
		return none
	case r.Load.Closed != nil:
		return "as answered"
	}
	return unlessUnknown(r, r.Summary.OfferedRate == 0, rate(r.Summary.OfferedRate))
}

func achievedFigure(r *result.Run) string {
	s := r.Summary
	switch {
	case s.WindowNs <= 0:
		return none
	case r.Load.Closed != nil, s.OfferedRate == 0 && (s.AchievedRate > 0 || imported(r)):
		return rate(s.AchievedRate)
	}
	return fmt.Sprintf("%s (%s)", rate(s.AchievedRate), achievedShare(s))
}

func receivedFigure(r *result.Run) string {
	if r.Summary.WindowNs <= 0 {
		return none
	}
	return unlessRecorded(r, result.RecordedReceived, r.Summary.ReceivedRate == 0,
		rate(r.Summary.ReceivedRate))
}

func accountFigures() []figureRow {
	return []figureRow{
		{ofMessages, "lost", accounted(lostOf), nil},
		{ofMessages, "duplicate", accounted(duplicateOf), nil},
		{ofMessages, "reordered", accounted(reorderedOf), nil},
		{ofMessages, rowFairness, fairness, nil},
		counterFigure("failed", result.RecordedRefused,
			func(c result.Counters) int64 { return c.Failed }),
		atLast(counterFigure("unknown", "", func(c result.Counters) int64 { return c.Unknown })),
		atLast(counterFigure("unsent", "", func(c result.Counters) int64 { return c.Unsent })),
		{ofMessages, "greatest backlog", func(r *result.Run) string {
			if r.Summary.WindowNs <= 0 {
				return none
			}
			return unlessRecorded(r, result.RecordedBacklog, r.Summary.MaxBacklog == 0,
				quantity.Count(r.Summary.MaxBacklog))
		}, nil},
	}
}

// counterFigure is the row of a count of scheduled messages, which another tool may have recorded.
func counterFigure(name, recorded string, of func(result.Counters) int64) figureRow {
	return figureRow{ofMessages, name, func(r *result.Run) string {
		n := of(r.Counters)
		return unlessRecorded(r, recorded, n == 0, quantity.Count(n))
	}, nil}
}

// atLast is the row of a count that is known once a run has ended.
func atLast(f figureRow) figureRow {
	text := f.text
	f.text = func(r *result.Run) string {
		if !r.Counted() {
			return none
		}
		return text(r)
	}
	return f
}

// costFigures are the costs of a message. Servers inside plimsoll's process have no separate
// figures.
func costFigures() []figureRow {
	of := func(name string, printed func(float64) string,
		value func(figure.Cost) (float64, bool)) figureRow {
		number := func(r *result.Run) (float64, bool) {
			c := figure.NewCost(r)
			v, ok := value(c)
			return v, ok && c.Observed()
		}
		return figureRow{ofCost, name, func(r *result.Run) string {
			v, ok := number(r)
			return known(v, ok, printed)
		}, number}
	}
	apart := func(f figureRow) figureRow {
		text, number := f.text, f.number
		f.text = func(r *result.Run) string {
			if out := text(r); out == none || !figure.Embedded(r.Observation) {
				return out
			}
			return insidePlimsoll
		}
		f.number = func(r *result.Run) (float64, bool) {
			v, ok := number(r)
			return v, ok && !figure.Embedded(r.Observation)
		}
		return f
	}
	return []figureRow{
		apart(of(rowServerCPU, nanoseconds, figure.Cost.ServerCPU)),
		of(rowOwnCPU, nanoseconds, figure.Cost.OwnCPU),
		of(rowAllCPU, nanoseconds, figure.Cost.AllCPU),
		apart(of(rowPerCore, rounded, figure.Cost.MsgsPerCoreSecond)),
		of(rowSyncsMessage, rounded, perMessage(figure.Syncs)),
		of(rowSyncsNode, rounded, func(c figure.Cost) (float64, bool) {
			v, ok := c.PerSecond(figure.Syncs)
			return v / c.Nodes(), ok
		}),
		of(rowAmplification, rounded, figure.Cost.Amplification),
		apart(of(rowMemory, size, figure.Cost.Memory)),
		{ofCost, rowLimiting, limitingWord, nil},
	}
}

// limitingWord names the limiting resource; none when nothing was observed.
func limitingWord(r *result.Run) string {
	l := verdict.Limiting(r)
	switch {
	case l.Resource == verdict.NotKnown:
		return none
	case l.Share > 0 && l.Resource != verdict.NoneSeen:
		return fmt.Sprintf("%s, %s", clean(l.Resource), share(l.Share, 1))
	}
	return clean(l.Resource)
}

func measured(value func(result.Summary) string) func(*result.Run) string {
	return func(r *result.Run) string {
		if r.Summary.WindowNs <= 0 {
			return none
		}
		return value(r.Summary)
	}
}

func accounted(value func(result.SubscriptionLedger) string) func(*result.Run) string {
	return func(r *result.Run) string {
		if !r.Ledger.Accounted {
			return none
		}
		return value(r.Ledger.Total())
	}
}

// lostOf is the number of lost messages. It is unknown if messages are unread and none is known to
// be lost.
func lostOf(l result.SubscriptionLedger) string {
	if l.Lost == 0 && l.Unread > 0 {
		return result.Unknown
	}
	return quantity.Count(l.Lost)
}

func duplicateOf(l result.SubscriptionLedger) string { return quantity.Count(l.Duplicate) }

func reorderedOf(l result.SubscriptionLedger) string { return quantity.Count(l.Reordered) }

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
		return none
	}
	return fmt.Sprintf("%.2f (%s to %s messages each of %s)", worst.Fairness,
		quantity.Count(worst.Least), quantity.Count(worst.Most),
		quantity.Count(int64(worst.Consumers)))
}
