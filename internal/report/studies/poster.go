package studies

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/poster"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// posterColumn is a column of a study's picture: that of one of its tables.
type posterColumn struct {
	title string
	of    string // the words under the question, the same in all columns
	in    study.Standing
	at    int
}

// place returns the place of a system in the column; false: none was measured there.
func (c posterColumn) place(system string) (study.Stand, bool) {
	for _, row := range c.in.Rows {
		if row.Labels[0] == system && row.Places[c.at].Rounds > 0 {
			return row.Places[c.at], true
		}
	}
	return study.Stand{}, false
}

// has reports whether a cell is in the column.
func (c posterColumn) has(cell study.Cell) bool {
	return cell.Table == c.in.Table && slices.ContainsFunc(c.in.Rows,
		func(row study.StandingRow) bool { return row.Places[c.at].At == cell.At })
}

// mostPosterColumns is how many columns of different figures a picture has room for.
const mostPosterColumns = 4

// posterColumns are the columns of the first table or, where that has one only, of the tables that
// answer: a system is a row.
func posterColumns(all []study.Standing) (out []posterColumn) {
	first := measuredColumns(all[0])
	if len(first.Columns) > 1 {
		for i, name := range first.Columns {
			out = append(out, posterColumn{name, first.Title + ": " + first.Figure, first, i})
		}
		return out
	}
	for _, s := range all {
		short, s := shortOf(s), measuredColumns(s)
		for i, name := range s.Columns {
			if len(s.Columns) > 1 {
				name = short + ", " + name
			} else {
				name = short
			}
			if short != "" && len(out) < mostPosterColumns {
				out = append(out, posterColumn{name, first.Columns[0], s, i})
			}
		}
	}
	return out
}

// studyPoster is the poster of a study with rounds, without the intervals.
func studyPoster(r Result) *document.Poster {
	p := &document.Poster{Question: r.Study.Question, Grid: true,
		Command: poster.Command([][]string{r.Plan.Asked.Command}),
		Source:  poster.Source(r.Plan.Plimsoll, phrase.Moment(r.Plan.StartedAt))}
	if len(r.Outcome.Standings) == 0 {
		return p
	}
	columns := posterColumns(r.Outcome.Standings)
	p.Circumstances = columns[0].of + ", " +
		phrase.Plural(r.Study.RoundsAt(r.Plan.Scale), "round", "rounds") +
		", scale " + r.Plan.Scale + hostWords(r) + "; without #: not ranked"
	for _, c := range columns {
		p.Systems = append(p.Systems, c.title)
	}
	for _, row := range columns[0].in.Rows {
		f := document.Figure{Name: row.Labels[0]}
		measured := false
		for _, c := range columns {
			words := document.None
			if place, is := c.place(row.Labels[0]); is {
				words, _, _ = strings.Cut(standingCell(c.in, place).Words, "\n")
				measured = true
			}
			f.Values = append(f.Values, words)
		}
		if measured {
			p.Figures = append(p.Figures, f)
		}
	}
	faults := make([]poster.Missed, len(columns))
	limited, of := 0, 0
	for i, c := range r.Plan.Cells {
		shown := false
		for k, p := range columns {
			if p.has(c) {
				faults[k].Add(poster.MissedAt(r.Measured[i]))
				shown = true
			}
		}
		if m := r.Measured[i].Run; m != nil && shown {
			of++
			if !fact.Rankable(&m.Run) {
				limited++
			}
		}
	}
	p.Faults = poster.MissedRows(", all rounds", faults)
	var warned []result.Warning
	if limited > 0 {
		warned = append(warned, result.Warning{Code: verdict.Generator,
			Sentence: fmt.Sprintf("%d of %s are not ranked", limited, phrase.Plural(of, "run",
				"runs"))})
	}
	p.Limits = poster.Gravest(studyLimits(r, warned))
	return p
}

// studyLimits adds the warnings below a study, and what it cannot repeat, to those of its picture.
func studyLimits(r Result, warned []result.Warning) []result.Warning {
	below, _ := r.warnings()
	for i, sentence := range r.warningSentences() {
		warned = append(warned, result.Warning{Code: below[i].Code, Sentence: sentence})
	}
	for _, sentence := range r.Study.Missing {
		warned = append(warned, result.Warning{Sentence: sentence})
	}
	return warned
}

// hostWords are the machine that a study ran on, as the end of a sentence.
func hostWords(r Result) string {
	e := r.environment()
	if e == nil {
		return ""
	}
	return ", on " + phrase.Plural(e.Cores, "core", "cores") + " and " +
		quantity.Bytes(e.MemoryBytes)
}

// claimsPoster is the poster of a published study: its claims with our answers, the decided ones
// first.
func claimsPoster(r Result) *document.Poster {
	claims := slices.Clone(r.Outcome.Claims)
	slices.SortStableFunc(claims, func(a, b study.Judgement) int {
		return cmp.Compare(undecided(a), undecided(b))
	})
	p := &document.Poster{Question: r.Study.Title, Grid: true,
		Systems: []string{"theirs", "ours", "as published", "at equal levels"},
		Command: poster.Command([][]string{r.Plan.Asked.Command}),
		Source:  poster.Source(r.Plan.Plimsoll, phrase.Moment(r.Plan.StartedAt)),
		Limits:  poster.Gravest(studyLimits(r, nil))}
	counts := map[study.Answer]int{}
	for _, j := range claims {
		counts[j.Answer]++
	}
	p.Circumstances = "of " + phrase.Plural(len(claims), "ratio", "ratios") + ": " +
		answers(counts) + "; scale " + r.Plan.Scale + hostWords(r) +
		"; * per core or byte"
	shown := claims
	if len(claims) > document.GriddedAtMost {
		shown = claims[:document.GriddedAtMost-1]
	}
	for _, j := range shown {
		ours := study.Times(j.Published.Ours)
		if strings.HasPrefix(j.Published.About, "per ") {
			ours += "*"
		}
		p.Figures = append(p.Figures, document.Figure{Name: numbered(j.Claim), Values: []string{
			study.Times(j.Theirs), ours, string(j.Answer), equalWords(j)}})
	}
	if left := len(claims) - len(shown); left > 0 {
		p.Figures = append(p.Figures, document.Figure{Name: fmt.Sprintf("and %d more", left)})
	}
	return p
}

// undecided sorts claims: 0 for those whose answers are all decided, 1 for those of which one is, 2
// for the others, and 3 for those that were not measured.
func undecided(j study.Judgement) int {
	published := j.Published.Answer.Decided()
	equal := published
	if j.Equal != nil {
		equal = j.Equal.Answer.Decided()
	}
	switch {
	case j.Published.Answer == study.NotMeasured:
		return 3
	case published && equal:
		return 0
	case published || equal:
		return 1
	}
	return 2
}

// Charts is the form that has a study's charts as a picture.
const Charts = "charts"

// forms are the forms in which a single study can be shared: a picture of its answers, and of its
// charts.
func forms(r Result) []form.Form {
	if r.Study.Ranks() {
		return form.Poster(func() *document.Poster { return studyPoster(r) })
	}
	var out []form.Form
	if len(r.Outcome.Claims) > 0 {
		out = form.Poster(func() *document.Poster { return claimsPoster(r) })
	}
	if all := charts(r); len(all) > 0 {
		out = append(out, form.Form{Name: Charts, Write: func(w io.Writer) error {
			_, err := io.WriteString(w, document.Drawn(r.Study.Title, all))
			return err
		}})
	}
	return out
}
