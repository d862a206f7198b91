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

// table is a table with a first column of names.
type table struct {
	ID, Title, Note string
	Head            []string
	Marks           []string // below each head, the reason why its run is not ranked
	Rows            []row
	// Words is set when the columns hold words rather than figures.
	Words bool
	// Runs is set when each column is a run: its head then shows the colour that
	// the run has in the charts.
	Runs bool
	// Empty says why the table is empty.
	Empty string
}

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

// doc is a table of the page of runs as a part of a document.
func (t table) doc() document.Table {
	out := document.Table{ID: t.ID, Title: t.Title, Note: t.Note, Head: heads(t.Head...),
		Words: t.Words, Runs: t.Runs, Empty: t.Empty}
	for i, mark := range t.Marks {
		if mark != "" {
			out.Head[i].Mark = "not ranked: " + mark
		}
	}
	for _, r := range t.Rows {
		row := document.Row{Section: r.Section, Name: r.Name, Values: values(r.Values...)}
		for i, bar := range r.Bars {
			row.Values[i].Bar = max(bar, 0)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
