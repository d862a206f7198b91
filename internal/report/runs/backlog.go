package runs

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
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
	for _, series := range stretchSeries(b) {
		if ratio, known := b.Effect(series, 99); known && phrase.Finite(ratio) {
			parts = append(parts, fmt.Sprintf("%s p99 × %.2f", phrase.SeriesTitle(series), ratio))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + " while catching up, relative to before"
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
	for _, series := range stretchSeries(b) {
		if ratio, known := b.Effect(series, 99); known && phrase.Finite(ratio) {
			c.Add(phrase.SeriesTitle(series)+" p99", fmt.Sprintf("× %.2f", ratio))
		}
	}
	return c
}

// stretchSeries are the series whose stretches can be compared: end-to-end latencies of
// consumers that drain a backlog include the time that messages waited on purpose.
func stretchSeries(b *result.Backlog) []result.Series {
	if fact.Replays(b) {
		return []result.Series{result.Publish, result.EndToEnd}
	}
	return []result.Series{result.Publish}
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
			add(phrase.SeriesTitle(series)+" "+phrase.Percentile(p), func(s result.Stretch) string {
				if series == result.EndToEnd && !fact.Replays(b) && s.Name != result.After {
					return document.None
				}
				return latency.At(result.Summary{Latency: s.Latency}.Series(series), p)
			})
		}
	}
	return t
}
