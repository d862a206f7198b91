package report

import (
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// compareView sets several runs side by side.
type compareView struct {
	Names        []string
	Incomparable []string // the reasons not to rank their figures
	Warnings     []string
	Overview     table // of many runs
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
		Warnings:     append(exceptions(runs), sharedWarnings(runs)...),
		Differ: table{ID: "differ", Title: "What differs", Head: all, Rows: differing(runs),
			Words: true, Runs: true,
			Empty: "The runs have the same settings and circumstances."},
		Equal: table{ID: "equal", Title: "What is equal", Head: []string{"in all runs"},
			Words: true},
		Figures: table{ID: "figures", Title: "Figures", Head: all, Marks: marks(runs),
			Rows: figureRows(runs), Runs: true,
			Note: "The bars of a row compare its runs: the longest bar is the greatest figure, " +
				"which is not always the best."},
		Charts: compareCharts(runs),
	}
	if len(runs) >= manyRuns {
		v.Overview, v.Warnings = overviewTable(runs), append(exceptions(runs),
			alike(runs, warnings)...)
	}
	if len(v.Incomparable) > 0 {
		v.Figures.Note = "There are no bars, because the runs are not comparable."
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

// incomparable gives the reasons not to rank runs against one another.
func incomparable(runs []*result.Saved) []string {
	var out []string
	for _, w := range verdict.Comparable(inner(runs)) {
		out = append(out, clean(w.Sentence))
	}
	return out
}

// marks gives the reason why each run is not ranked; it is nil when all runs are ranked.
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
