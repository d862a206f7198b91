package studies

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Plan shows a study's question, its published figures, and the planned measurements.
func Plan(r Result) document.Document {
	s := r.Study
	theirs, differs := "theirs", "differs"
	if s.Ranks() {
		theirs, differs = "source", "limits"
	}
	out := []document.Block{part.Heading(1, s.Name+": "+s.Title), {Facts: slices.Concat(
		part.Facts("question", "", s.Question), part.Facts(theirs, "", s.Source),
		part.Facts("measured on", "", s.Testbed...), part.Facts(differs, "", s.Missing...),
		r.ownServers())}}
	for i := range s.Tables {
		out = append(out, part.Table(plannedTable(&s.Tables[i], r)))
	}
	var claims []string
	for _, c := range s.Claims {
		words := " (" + c.Ratio() + ")"
		if c.NotAsked != "" {
			words = "; not asked: " + c.NotAsked
		}
		claims = append(claims, numbered(c)+words)
	}
	if len(claims) > 0 {
		out = append(out, part.Heading(2, "Their claims, as ratios with which ours are compared"),
			document.Block{Facts: part.Facts("", "", claims...)})
	}
	return document.Document{Title: "study " + s.Name,
		Blocks: append(out, r.ending("At scale "+r.Plan.Scale)...)}
}

// plannedTable has the cells of a table: the published figure and the planned measurement.
func plannedTable(t *study.Table, r Result) document.Table {
	out := document.Table{ID: "planned", Words: true, Title: t.Name + ": " + t.Title}
	if t.From != "" {
		out.Title += "; theirs: " + t.From
	}
	for k, a := range t.Axes {
		if k == 0 {
			out.Corner = a.Name
			continue
		}
		out.Head = append(out.Head, document.Column{Name: a.Name})
	}
	figures := t.Figures
	if r.Study.Ranks() {
		figures = nil // none was published
	}
	out.Head = slices.Concat(out.Head, document.Heads(figures...), document.Heads("here"))
	for _, c := range r.Plan.Cells {
		if c.Table != t.Name || c.Round > 1 {
			continue
		}
		words := t.Labels(c.At)
		for k := range figures {
			words = append(words, cmp.Or(t.Reference(c.Place(), k).String(), document.None))
		}
		out.Add(words[0], append(words[1:], plannedCell(c))...)
	}
	return out
}

// plannedCell describes the planned measurement of a cell in a few words.
func plannedCell(c study.Cell) string {
	if c.Absent {
		return c.Why()
	}
	w, err := workload.Parse("the cell's workload", []byte(c.Workload))
	if err != nil {
		return document.None
	}
	parts := []string{string(c.Measure), phrase.Level(int(w.Durability)),
		phrase.Plural(w.Partitions, "partition", "partitions")}
	if aim := fact.Aim(w.Record()); aim != "" {
		parts = append(parts, aim)
	}
	if w.Subscriptions > 1 {
		parts = append(parts, phrase.Plural(w.Subscriptions, "subscription", "subscriptions"))
	}
	if w.Load.Closed != nil {
		parts = append(parts, phrase.Plural(w.Producers, "sender", "senders"),
			"batches of "+w.Load.Closed.Batch.String())
	}
	if c.Rate != "" {
		parts = append(parts, "rate "+c.Rate)
	}
	return strings.Join(parts, ", ")
}
