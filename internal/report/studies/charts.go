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
		if c := tableChart(t); c != nil {
			c.ID = fmt.Sprintf("chart-%s-%d", r.Study.Name, len(out))
			out = append(out, c)
		}
	}
	return out
}

// tableChart draws a table over an axis of numbers, such as rates or partitions: our figures with
// the range of their rounds, and the published ones, both as multiples of one cell, as in the
// table. Nil: the table has no such axis, or no figure of ours.
func tableChart(t study.TableOutcome) *document.Chart {
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
	c := &document.Chart{Title: title, Small: true, Label: title + " by " + t.Axes[along],
		X: document.Axis{Title: t.Axes[along], Names: names},
		Y: document.Axis{Title: "times " + base.At, Unit: document.Count,
			Scale: document.Log}}
	for color, name := range lines.Keys {
		ours := document.Series{Name: named("ours", name), Color: color, Dots: true}
		theirs := document.Series{Name: named("theirs", name), Color: color, Dots: true, Dash: 1}
		for _, r := range lines.Of[name] {
			at := float64(slices.Index(names, r.Labels[along]))
			theirs.X, theirs.Y = append(theirs.X, at), append(theirs.Y, r.Theirs/base.Theirs)
			ours.X, ours.Y = append(ours.X, at), append(ours.Y, r.Ours/base.Ours)
			ours.Low = append(ours.Low, r.Low/base.Ours)
			ours.High = append(ours.High, r.High/base.Ours)
			ours.Marks = append(ours.Marks, document.Mark{At: len(ours.X) - 1, Hollow: r.OfLoad,
				Tip: r.At + ": " + strings.ReplaceAll(ourFigure(t, r), "\n", ", ")})
		}
		c.Series = append(c.Series, ours)
		if base.Theirs > 0 {
			c.Series = append(c.Series, theirs)
		}
	}
	for i := range c.Series {
		missing(c.Series[i].Y)
		missing(c.Series[i].Low)
		missing(c.Series[i].High)
	}
	return c
}

// asPublished are the rows of a table without those at equal levels, which come later and have the
// same place.
func asPublished(all []study.Row) []study.Row {
	var out []study.Row
	for _, r := range all {
		if !slices.ContainsFunc(out, func(o study.Row) bool { return o.At == r.At }) {
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

// missing marks the values that are not known.
func missing(values document.Values) {
	for i, v := range values {
		if !(v > 0) || math.IsInf(v, 0) {
			values[i] = math.NaN()
		}
	}
}
