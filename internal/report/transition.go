package report

import "github.com/plimsoll-bench/plimsoll/internal/document"

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
