package report

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// card is a headline figure.
type card struct {
	Label, Number, Unit string
	Details             []fact
	Bad                 bool
	Word                bool // the number is a text, which may wrap
}

type fact struct{ Name, Value string }

// cardsOf are headline figures as a part of a document.
func cardsOf(all []card) []document.Card {
	var out []document.Card
	for _, c := range all {
		d := document.Card{Label: c.Label, Number: c.Number, Unit: c.Unit, Word: c.Word}
		if c.Bad {
			d.Tone = document.Bad
		}
		for _, f := range c.Details {
			d.Details = append(d.Details, document.Fact{Name: f.Name, Value: f.Value})
		}
		out = append(out, d)
	}
	return out
}

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
		account.Details = []fact{{"", accountLine(r)}}
	}
	out = append(out, account)
	d := card{Label: "Durability", Number: none, Details: []fact{{"asked", none}}}
	if r.Durability.Asked > 0 {
		d.Details[0].Value = level(r.Durability.Asked)
	}
	if r.Durability.Level > 0 {
		d.Number, d.Unit = fmt.Sprint(r.Durability.Level), "level, read back"
		if r.Durability.Stated {
			d.Unit = "level, stated"
		}
		d.Bad = r.Durability.Asked > 0 && r.Durability.Level != r.Durability.Asked
	}
	if n := len(r.Durability.Evidence); n > 0 {
		d.Details = append(d.Details, fact{"evidence", plural(int64(n), "fact", "facts")})
	}
	return append(out, d)
}

func throughputCard(r *result.Run) card {
	s := r.Summary
	c := card{Label: "Acknowledged", Number: none}
	if s.WindowNs <= 0 {
		c.Details = []fact{{"", "nothing was measured"}}
		return c
	}
	c.Number, c.Unit = unit(rate(s.AchievedRate))
	if s.OfferedRate > 0 || s.AchievedRate == 0 {
		c.Details = []fact{{"offered", rate(s.OfferedRate)},
			{"achieved", share(s.AchievedRate, s.OfferedRate)}}
	}
	if r.Load.Closed != nil {
		c.Details = []fact{{"offered", "as answered"}}
	}
	if s.BytesPerS > 0 || s.AchievedRate == 0 {
		c.Details = append(c.Details, fact{"bytes", bytesPerSecond(s.BytesPerS)})
	}
	c.Details = append(c.Details, fact{"received", rate(s.ReceivedRate)})
	if c.Bad = s.Generator.Limited; c.Bad {
		c.Details = append(c.Details, fact{"", "limited by plimsoll itself"})
	}
	return c
}

// latencyCard shows the 99th percentile with its interval or its bound.
func latencyCard(label string, l result.Latency, load result.Load, sure within) card {
	c := card{Label: label, Number: none}
	if !counted(l) {
		c.Details = []fact{{"", "no message was measured"}}
		return c
	}
	c.show(at(l, 99))
	if span, ok := sure.of(l.Series, 99); ok {
		c.Details = append(c.Details, fact{"95% interval", span.String()})
	}
	c.Details = append(c.Details, fact{"p50", at(l, 50)}, fact{"p99.9", at(l, 99.9)},
		fact{"max", greatest(l)})
	if words := arrivalWords(load); words != "" {
		c.Details = append(c.Details, fact{"load", words})
	}
	if n := l.Missing.Total(); n > 0 {
		c.Details = append(c.Details, fact{"without a latency", quantity.Count(n)})
	}
	if len(l.Answered) > 0 {
		c.Details = append(c.Details, fact{"p99 " + answeredWords(l.Series),
			at(answered(l), 99)})
	}
	return c
}

// show splits a printed latency into the card's number and unit.
func (c *card) show(printed string) {
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
	c.show(at(i.Publish, 99))
	c.Details = []fact{{"p50", at(i.Publish, 50)}}
	if counted(i.EndToEnd) {
		c.Details = append(c.Details, fact{"end-to-end p50", at(i.EndToEnd, 50)},
			fact{"end-to-end p99", at(i.EndToEnd, 99)})
	}
	c.Details = append(c.Details, fact{"", "plimsoll's own error"})
	return c
}

func accountCard(r *result.Run) card {
	l := r.Ledger
	c := card{Label: "Lost", Number: none}
	if !l.Accounted {
		c.Details = []fact{{"", notAccounted}}
		return c
	}
	t := total(l)
	c.Number, c.Bad = lostOf(t), t.Lost > 0
	c.Details = []fact{{"duplicate", quantity.Count(t.Duplicate)},
		{"reordered", quantity.Count(t.Reordered)}, {"of acked", quantity.Count(t.Acked)}}
	if t.Unread > 0 {
		c.Details = append(c.Details, fact{"unread", quantity.Count(t.Unread)})
	}
	if p, ok := lostAtMost(r); ok {
		c.Details = append(c.Details, fact{"lost at most (95%)", oneIn(p)})
	}
	if p, ok := twiceAtMost(r); ok {
		c.Details = append(c.Details, fact{"duplicate at most (95%)", oneIn(p)})
	}
	return c
}
