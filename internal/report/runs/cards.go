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
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// cards are the headline figures of a run.
func cards(r *result.Run, sure latency.Within) []document.Card {
	s := r.Summary
	out := []document.Card{throughputCard(r)}
	if r.Backlog != nil {
		out = append(out, backlogCard(r.Backlog))
	}
	publish := "Publish, p99"
	if fact.Imported(r) {
		publish = "Send, uncorrected, p99"
	}
	out = append(out, latencyCard(publish, s.Series(fact.PublishSeries(r)), r.Load, sure),
		latencyCard("End-to-end, p99", s.Series(result.EndToEnd), r.Load, sure))
	if i := s.Instrument; i != nil && latency.Counted(i.Publish) {
		out = append(out, instrumentCard(i))
	}
	out = append(out, accountCard(r))
	d, asked := document.Card{Label: "Durability", Number: document.None}, document.None
	if r.Durability.Asked > 0 {
		asked = phrase.Level(r.Durability.Asked)
	}
	d.Add("asked", asked)
	if r.Durability.Level > 0 {
		d.Number, d.Unit = fmt.Sprint(r.Durability.Level), "level, read back"
		if r.Durability.Stated {
			d.Unit = "level, stated"
		}
		d.Tone = part.BadIf(r.Durability.Asked > 0 && r.Durability.Level != r.Durability.Asked)
	}
	switch {
	case r.Durability.Single():
		d.Add("copies", result.SingleCopy)
	case r.Durability.Copies > 0:
		d.Add("copies", quantity.Count(int64(r.Durability.Copies)))
	}
	if n := len(r.Durability.Evidence); n > 0 {
		d.Add("evidence", phrase.Plural(n, "fact", "facts"))
	}
	return append(out, d)
}

func throughputCard(r *result.Run) document.Card {
	s := r.Summary
	c := document.Card{Label: "Acknowledged", Number: document.None}
	if s.WindowNs <= 0 {
		c.Add("", "nothing was measured")
		return c
	}
	c.Number, c.Unit = part.Unit(phrase.Rate(s.AchievedRate))
	switch {
	case r.Load.Closed != nil:
		c.Add("offered", "as answered")
	case s.OfferedRate > 0 || s.AchievedRate == 0 && !fact.Imported(r):
		c.Add("offered", phrase.Rate(s.OfferedRate))
		c.Add("achieved", phrase.AchievedShare(s))
	}
	if s.BytesPerS > 0 || s.AchievedRate == 0 && !fact.Imported(r) {
		c.Add("bytes", phrase.BytesPerSecond(s.BytesPerS))
	}
	c.Add("received", row.Printed(figure.Received)(r))
	if s.Generator.Limited {
		c.Tone = document.Bad
		c.Add("", "limited by plimsoll itself")
	} else if _, is := verdict.Overloaded(r); is {
		c.Tone = document.Bad
		c.Add("", "overloaded")
	}
	return c
}

// latencyCard shows the 99th percentile with its interval or its bound.
func latencyCard(label string, l result.Latency, load result.Load,
	sure latency.Within) document.Card {
	c := document.Card{Label: label, Number: document.None}
	if !latency.Counted(l) {
		c.Add("", "no message was measured")
		return c
	}
	printLatency(&c, latency.At(l, 99))
	if words := sure.Words(l.Series, 99); words != "" {
		c.Add("95% interval", words)
	}
	c.Add("p50", latency.At(l, 50))
	c.Add("p99.9", latency.At(l, 99.9))
	c.Add("max", latency.Greatest(l))
	if words := fact.ArrivalWords(load); words != "" {
		c.Add("load", words)
	}
	if n := l.Missing.Total(); n > 0 {
		c.Add("without a latency", quantity.Count(n))
	}
	if len(l.Answered) > 0 {
		c.Add("p99 "+latency.AnsweredWords(l.Series), latency.At(latency.Answered(l), 99))
	}
	return c
}

// printLatency splits a printed latency into the card's number and unit.
func printLatency(c *document.Card, printed string) {
	number, isBound := strings.CutPrefix(printed, "≥ ")
	c.Number, c.Unit = part.Unit(number)
	if isBound {
		c.Number = "≥ " + c.Number
	}
	c.Word = printed == latency.NotReached
}

// instrumentCard is plimsoll's own error.
func instrumentCard(i *result.Instrument) document.Card {
	c := document.Card{Label: "Instrument, p99"}
	printLatency(&c, latency.At(i.Publish, 99))
	c.Add("p50", latency.At(i.Publish, 50))
	if latency.Counted(i.EndToEnd) {
		c.Add("end-to-end p50", latency.At(i.EndToEnd, 50))
		c.Add("end-to-end p99", latency.At(i.EndToEnd, 99))
	}
	c.Add("", "plimsoll's own error")
	return c
}

func accountCard(r *result.Run) document.Card {
	c := document.Card{Label: "Lost", Number: document.None}
	if n := r.Counters.Unknown; n > 0 {
		c.Add("unanswered", quantity.Count(n))
	}
	if why := fact.Unaccounted(r); why != "" {
		c.Add("", why)
		return c
	}
	t := r.Ledger.Total()
	c.Number, c.Tone = fact.Lost(t), part.BadIf(t.Lost > 0 || t.Corrupt > 0)
	if t.Corrupt > 0 {
		c.Add("corrupt", quantity.Count(t.Corrupt))
	}
	c.Add("duplicate", quantity.Count(t.Duplicate))
	c.Add("reordered", quantity.Count(t.Reordered))
	c.Add("of acked", quantity.Count(t.Acked))
	if t.Unread > 0 {
		c.Add("unread", quantity.Count(t.Unread))
	}
	if p, ok := fact.LostAtMost(r); ok {
		c.Add("lost at most (95%)", fact.OneIn(p))
	}
	if p, ok := fact.TwiceAtMost(r); ok {
		c.Add("duplicate at most (95%)", fact.OneIn(p))
	}
	return c
}
