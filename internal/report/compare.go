package report

import (
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// compareView sets several runs side by side.
type compareView struct {
	Names        []string
	Incomparable []string // why their figures must not be ranked
	Warnings     []string
	Differ       table
	Equal        table
	Figures      table
	Charts       []chart
}

func newCompareView(runs []*result.Saved) *compareView {
	all := names(runs)
	v := &compareView{
		Names:        all,
		Incomparable: incomparable(runs),
		Warnings:     sharedWarnings(runs),
		Differ: table{ID: "differ", Title: "What differs", Head: all, Rows: differing(runs),
			Words: true, Runs: true,
			Empty: "The runs were asked for the same and ran in the same circumstances."},
		Equal: table{ID: "equal", Title: "What is equal", Head: []string{"in all runs"},
			Words: true},
		Figures: table{ID: "figures", Title: "Figures", Head: all, Marks: marks(runs),
			Rows: figureRows(runs), Runs: true,
			Note: "Bars compare the runs of a row with one another: the longest is the greatest, " +
				"which is not always the best."},
		Charts: compareCharts(runs),
	}
	if len(v.Incomparable) > 0 {
		v.Figures.Note = "Without bars, because the runs are not comparable."
	}
	for i, r := range v.Differ.Rows {
		if r.Name == rowOwnSettings {
			v.Differ.Rows[i].Values = ownSettings(runs, "\n") // a line each
		}
	}
	for _, r := range equal(runs) {
		v.Equal.Rows = append(v.Equal.Rows, row{Name: r.Name, Values: r.Values[:1]})
	}
	for _, r := range v.Figures.Rows {
		for i := range r.Values {
			r.Values[i] = micro(r.Values[i])
		}
	}
	return v
}

// incomparable says why runs must not be ranked against one another.
func incomparable(runs []*result.Saved) []string {
	var out []string
	for _, w := range verdict.Comparable(inner(runs)) {
		out = append(out, clean(w.Sentence))
	}
	return out
}

// marks says why a run is not ranked; it is nil when all are.
func marks(runs []*result.Saved) []string {
	out := make([]string, len(runs))
	some := false
	for i, s := range runs {
		switch r := &s.Run; {
		case imported(r):
			out[i] = byAnother
		case r.Summary.Generator.Limited:
			out[i] = "limited by plimsoll itself"
		case !rankable(r):
			out[i] = stateWord(r)
		}
		some = some || out[i] != ""
	}
	if !some {
		return nil
	}
	return out
}
