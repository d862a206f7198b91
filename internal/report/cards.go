package report

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

type card = document.Card

// cards are the headline figures of a run.
func cards(r *result.Run, sure within) []card {
	s := r.Summary
	out := []card{throughputCard(r)}
	if r.Backlog != nil {
		out = append(out, backlogCard(r.Backlog))
	}
	publish := "Publish, p99"
	if imported(r) {
		publish = "Send, uncorrected, p99"
	}
	for _, c := range []struct {
		label  string
		series result.Series
	}{{publish, publishSeries(r)}, {"End-to-end, p99", result.EndToEnd}} {
		out = append(out, latencyCard(c.label, s.Series(c.series), r.Load, sure))
	}
	if i := s.Instrument; i != nil && counted(i.Publish) {
		out = append(out, instrumentCard(i))
	}
	account := accountCard(r)
	if imported(r) {
		account.Details = nil
		account.Add("", accountLine(r))
	}
	out = append(out, account)
	d, asked := card{Label: "Durability", Number: none}, none
	if r.Durability.Asked > 0 {
		asked = level(r.Durability.Asked)
	}
	d.Add("asked", asked)
	if r.Durability.Level > 0 {
		d.Number, d.Unit = fmt.Sprint(r.Durability.Level), "level, read back"
		if r.Durability.Stated {
			d.Unit = "level, stated"
		}
		d.Tone = badIf(r.Durability.Asked > 0 && r.Durability.Level != r.Durability.Asked)
	}
	switch {
	case r.Durability.Single():
		d.Add("copies", result.SingleCopy)
	case r.Durability.Copies > 0:
		d.Add("copies", quantity.Count(int64(r.Durability.Copies)))
	}
	if n := len(r.Durability.Evidence); n > 0 {
		d.Add("evidence", plural(n, "fact", "facts"))
	}
	return append(out, d)
}

func throughputCard(r *result.Run) card {
	s := r.Summary
	c := card{Label: "Acknowledged", Number: none}
	if s.WindowNs <= 0 {
		c.Add("", "nothing was measured")
		return c
	}
	c.Number, c.Unit = unit(rate(s.AchievedRate))
	switch {
	case r.Load.Closed != nil:
		c.Add("offered", "as answered")
	case s.OfferedRate > 0 || s.AchievedRate == 0 && !imported(r):
		c.Add("offered", rate(s.OfferedRate))
		c.Add("achieved", achievedShare(s))
	}
	if s.BytesPerS > 0 || s.AchievedRate == 0 && !imported(r) {
		c.Add("bytes", bytesPerSecond(s.BytesPerS))
	}
	c.Add("received", printed(figure.Received)(r))
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
func latencyCard(label string, l result.Latency, load result.Load, sure within) card {
	c := card{Label: label, Number: none}
	if !counted(l) {
		c.Add("", "no message was measured")
		return c
	}
	printLatency(&c, at(l, 99))
	if words := sure.words(l.Series, 99); words != "" {
		c.Add("95% interval", words)
	}
	c.Add("p50", at(l, 50))
	c.Add("p99.9", at(l, 99.9))
	c.Add("max", greatest(l))
	if words := arrivalWords(load); words != "" {
		c.Add("load", words)
	}
	if n := l.Missing.Total(); n > 0 {
		c.Add("without a latency", quantity.Count(n))
	}
	if len(l.Answered) > 0 {
		c.Add("p99 "+answeredWords(l.Series), at(answered(l), 99))
	}
	return c
}

// printLatency splits a printed latency into the card's number and unit.
func printLatency(c *card, printed string) {
	number, isBound := strings.CutPrefix(printed, "≥ ")
	c.Number, c.Unit = unit(number)
	if isBound {
		c.Number = "≥ " + c.Number
	}
	c.Word = printed == notReached
}

// instrumentCard is plimsoll's own error.
func instrumentCard(i *result.Instrument) card {
	c := card{Label: "Instrument, p99"}
	printLatency(&c, at(i.Publish, 99))
	c.Add("p50", at(i.Publish, 50))
	if counted(i.EndToEnd) {
		c.Add("end-to-end p50", at(i.EndToEnd, 50))
		c.Add("end-to-end p99", at(i.EndToEnd, 99))
	}
	c.Add("", "plimsoll's own error")
	return c
}

func accountCard(r *result.Run) card {
	l := r.Ledger
	c := card{Label: "Lost", Number: none}
	if n := r.Counters.Unknown; n > 0 {
		c.Add("unanswered", quantity.Count(n))
	}
	if !l.Accounted {
		c.Add("", notAccounted)
		return c
	}
	t := l.Total()
	c.Number, c.Tone = lostOf(t), badIf(t.Lost > 0)
	c.Add("duplicate", quantity.Count(t.Duplicate))
	c.Add("reordered", quantity.Count(t.Reordered))
	c.Add("of acked", quantity.Count(t.Acked))
	if t.Unread > 0 {
		c.Add("unread", quantity.Count(t.Unread))
	}
	if p, ok := lostAtMost(r); ok {
		c.Add("lost at most (95%)", oneIn(p))
	}
	if p, ok := twiceAtMost(r); ok {
		c.Add("duplicate at most (95%)", oneIn(p))
	}
	return c
}
