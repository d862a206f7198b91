package runs

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// backlogSentence describes the backlog and how it was read; empty without a backlog.
func backlogSentence(b *result.Backlog) string {
	if b == nil {
		return ""
	}
	if b.BuiltNs == 0 {
		return "it was not built when the run ended, so it was not read"
	}
	readers := "the subscriptions' own consumers"
	if fact.Replays(b) {
		readers = "a new subscription, from the beginning"
	}
	out := fmt.Sprintf("%s messages (%s) waited", quantity.Count(b.Messages),
		quantity.Bytes(b.Bytes))
	if b.FirstNs == 0 {
		return out + " and none was read by " + readers
	}
	if b.ReadRate > 0 {
		out += fmt.Sprintf("; read at %s (%s) by %s, while %s were published",
			phrase.Rate(b.ReadRate), phrase.BytesPerSecond(b.ReadBytesPerS), readers,
			phrase.Rate(b.PublishedRate))
	}
	switch {
	case b.End == result.BacklogCaughtUp:
		out += fmt.Sprintf("; caught up in %s", quantity.Duration(b.CatchUpNs()))
	case b.LeftMessages > 0:
		out += fmt.Sprintf("; not caught up, %s were left", quantity.Count(b.LeftMessages))
	}
	if late := b.FirstNs - b.BuiltNs; late > 0 {
		out += fmt.Sprintf(" (the first message came %s after the consumers began to open)",
			quantity.Duration(late))
	}
	return out
}

// effectSentence gives, for each series, the ratio of p99 while the backlog was read to p99
// before; empty when no ratio is known.
func effectSentence(b *result.Backlog) string {
	if b == nil {
		return ""
	}
	var parts []string
	for _, f := range effects(b) {
		parts = append(parts, f.Name+" "+f.Value)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + " while catching up, relative to before"
}

// effects are the ratios of p99 while a backlog was read to p99 before. End-to-end latencies of
// consumers that drain a backlog include the time that messages waited on purpose: they are left
// out.
func effects(b *result.Backlog) (out []document.Fact) {
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		ratio, known := b.Effect(series, 99)
		if known && phrase.Finite(ratio) && (series == result.Publish || fact.Replays(b)) {
			out = append(out, document.Fact{Name: phrase.SeriesTitle(series) + " p99",
				Value: fmt.Sprintf("× %.2f", ratio)})
		}
	}
	return out
}

// backlogCard is the headline of the reading.
func backlogCard(b *result.Backlog) document.Card {
	c := document.Card{Label: "Backlog, read at", Number: document.None, Tone: part.BadIf(
		b.End == result.BacklogNever || b.End == result.BacklogTooLong)}
	if b.ReadRate > 0 {
		c.Number, c.Unit = part.Unit(phrase.Rate(b.ReadRate))
		c.Add("bytes", phrase.BytesPerSecond(b.ReadBytesPerS))
	}
	if b.Messages > 0 {
		c.Add("waited", quantity.Bytes(b.Bytes))
	}
	caughtUp := "no"
	if b.CaughtUpNs > 0 {
		caughtUp = "in " + quantity.Duration(b.CatchUpNs())
	}
	c.Add("caught up", caughtUp)
	c.Details = append(c.Details, effects(b)...)
	return c
}

// stretchTable sets the figures before, during and after the reading side by side.
func stretchTable(b *result.Backlog) document.Table {
	t := document.Table{
		ID: "backlog", Title: "Before, while and after the backlog was read",
		Note:  "A message counts in the stretch in which it was acknowledged or received. ",
		Empty: "The run ended before there was a backlog.",
	}
	if fact.Replays(b) {
		t.Note += "End-to-end latencies are those of the subscriptions that kept up, without the " +
			"subscription that read the backlog."
	} else {
		t.Note += "End-to-end latencies of messages in the backlog measure their wait, so only " +
			"the latencies after catching up are shown."
	}
	if len(b.Stretches) == 0 {
		return t
	}
	add := func(name string, of func(result.Stretch) string) {
		var cells []string
		for _, s := range b.Stretches {
			cells = append(cells, of(s))
		}
		t.Add(name, cells...)
	}
	for _, s := range b.Stretches {
		t.Head = append(t.Head, document.Column{Name: string(s.Name)})
	}
	add("lasted", func(s result.Stretch) string { return quantity.Duration(s.EndNs - s.StartNs) })
	add("acknowledged", func(s result.Stretch) string { return phrase.Rate(s.AckedRate) })
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		for _, p := range []float64{50, 99, 99.9} {
			name := phrase.SeriesTitle(series) + " " + result.PercentileName(p)
			add(name, func(s result.Stretch) string {
				if series == result.EndToEnd && !fact.Replays(b) && s.Name != result.After {
					return document.None
				}
				return latency.At(result.Summary{Latency: s.Latency}.Series(series), p)
			})
		}
	}
	return t
}

// minuteSentence gives the 95th percentiles of a closed loop's minutes: the least, the median
// and the greatest where there are several.
func minuteSentence(minutes []result.Minute) string {
	if len(minutes) == 0 {
		return ""
	}
	out := "in each of " + quantity.Count(int64(len(minutes))) +
		" minutes, least, median and greatest:"
	if len(minutes) == 1 {
		out = fmt.Sprintf("in a single window of %s:",
			quantity.Duration(minutes[0].EndNs-minutes[0].StartNs))
	}
	for i, word := range row.MinuteSeries {
		if i > 0 {
			out += ","
		}
		out += " " + phrase.SeriesTitle(word.Series) + " " + row.MinuteFigure(minutes, word.Of)
	}
	return out
}

// maxMinutes bounds the rows of the table of minutes; more are in run.json.
const maxMinutes = 60

// minuteTable is the 95th percentile of each minute beside that of the run.
func minuteTable(s result.Summary) document.Table {
	t := document.Table{
		ID: "minutes", Title: "95th percentile by minute",
		Note: "The form in which mqperf's figures were published: windows of one minute, by the " +
			"time of the answer or arrival. A run shorter than a minute is one window; the rest " +
			"after the last whole minute is left out.",
	}
	var whole []string
	for _, word := range row.MinuteSeries {
		t.Head = append(t.Head, document.Column{Name: phrase.SeriesTitle(word.Series)})
		whole = append(whole, latency.At(s.Series(word.Series), 95))
	}
	t.Add("whole run", whole...)
	for i, m := range s.Minutes {
		if i == maxMinutes {
			t.Note += fmt.Sprintf(" The run has %s minutes; the first %d are shown.",
				quantity.Count(int64(len(s.Minutes))), maxMinutes)
			break
		}
		var cells []string
		for _, word := range row.MinuteSeries {
			ns := word.Of(m)
			cells = append(cells, figure.Nanoseconds.Known(float64(ns), ns > 0))
		}
		t.Add(quantity.Duration(m.StartNs)+" to "+quantity.Duration(m.EndNs), cells...)
	}
	return t
}
