package studies

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/study"
)

// charts are the charts of a study's tables.
func charts(r Result) []*document.Chart {
	var out []*document.Chart
	for _, t := range r.Outcome.Tables {
		out = append(out, tableCharts(t)...)
	}
	for i, c := range out {
		c.ID = fmt.Sprintf("chart-%s-%d", r.Study.Name, i)
	}
	return out
}

// tableCharts draw a table over an axis of numbers, such as rates or partitions: our figures with
// the range of their rounds, and the published ones, both as multiples of one cell, as in the
// table. A chart has a line for each colour. None: the table has no such axis, or no figure of
// ours.
func tableCharts(t study.TableOutcome) (out []*document.Chart) {
	rows := asPublished(t.Rows)
	along, names := numbers(t, rows)
	base := baseOf(rows)
	if along < 0 || base.Ours <= 0 {
		return nil
	}
	var lines phrase.Grouped[string, study.Row]
	for _, r := range rows {
		lines.Add(strings.Join(slices.Delete(slices.Clone(r.Labels), along, along+1), ", "), r)
	}
	title := t.Table + ": " + t.Figure
	for some := range slices.Chunk(lines.Keys, document.Colors) {
		c := &document.Chart{Title: title, Small: true, Label: title + " by " + t.Axes[along],
			X: document.Axis{Title: t.Axes[along], Names: names},
			Y: document.Axis{Title: "times " + base.At, Unit: document.Count,
				Scale: document.Log}}
		for color, name := range some {
			ours, theirs := linesOf(t, lines.Of[name], along, names, base)
			ours.Name, ours.Color = named("ours", name), color
			theirs.Name, theirs.Color = named("theirs", name), color
			c.Series = append(c.Series, ours)
			if base.Theirs > 0 {
				c.Series = append(c.Series, theirs)
			}
		}
		out = append(out, c)
	}
	return out
}

// linesOf are our line of some rows, and the published one.
func linesOf(t study.TableOutcome, rows []study.Row, along int, names []string,
	base study.Row) (ours, theirs document.Series) {
	ours.Dots, theirs.Dots, theirs.Dash = true, true, 1
	for i, r := range rows {
		at := float64(slices.Index(names, r.Labels[along]))
		theirs.X, theirs.Y = append(theirs.X, at), append(theirs.Y, orMissing(r.Theirs/base.Theirs))
		ours.X, ours.Y = append(ours.X, at), append(ours.Y, orMissing(r.Ours/base.Ours))
		ours.Low = append(ours.Low, orMissing(r.Low/base.Ours))
		ours.High = append(ours.High, orMissing(r.High/base.Ours))
		ours.Marks = append(ours.Marks, document.Mark{At: i, Hollow: r.OfLoad,
			Tip: r.At + ": " + strings.ReplaceAll(ourFigure(t, r), "\n", ", ")})
	}
	return ours, theirs
}

// asPublished are the rows of a table without those at equal levels, which come later and have the
// same labels.
func asPublished(all []study.Row) []study.Row {
	var out []study.Row
	for _, r := range all {
		if !slices.ContainsFunc(out,
			func(o study.Row) bool { return slices.Equal(o.Labels, r.Labels) }) {
			out = append(out, r)
		}
	}
	return out
}

// numbers returns the axis with the most values that begin with a digit, at least three, and its
// values in their order; -1: there is none.
func numbers(t study.TableOutcome, rows []study.Row) (along int, names []string) {
	along = -1
	for k := range t.Axes {
		var values []string
		digits := true
		for _, r := range rows {
			if v := r.Labels[k]; !slices.Contains(values, v) {
				values = append(values, v)
				digits = digits && v != "" && v[0] >= '0' && v[0] <= '9'
			}
		}
		if digits && len(values) >= max(3, len(names)+1) {
			along, names = k, values
		}
	}
	return along, names
}

// baseOf is the cell of which the others are multiples: the first with both figures, or else the
// first with one of ours.
func baseOf(rows []study.Row) study.Row {
	for _, of := range []func(study.Row) bool{
		func(r study.Row) bool { return r.Ours > 0 && r.Theirs > 0 },
		func(r study.Row) bool { return r.Ours > 0 },
	} {
		if i := slices.IndexFunc(rows, of); i >= 0 {
			return rows[i]
		}
	}
	return study.Row{}
}

// named is whose figures a line has, and of what.
func named(whose, name string) string {
	if name == "" {
		return whose
	}
	return whose + ", " + name
}

// orMissing is a multiple, or NaN if it is not known.
func orMissing(v float64) float64 {
	if v > 0 && !math.IsInf(v, 0) {
		return v
	}
	return math.NaN()
}
