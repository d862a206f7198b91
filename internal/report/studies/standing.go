package studies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// standingSection shows a study with rounds: what was measured here, and nothing published.
func standingSection(r Result) document.Block {
	out := []document.Block{
		part.Title("study-"+r.Study.Name, r.Study.Title, scaleWords(r.Plan)),
		part.Paragraph(document.Lead, r.Study.Question),
		{Facts: part.Facts("answer", document.Main, standingAnswers(r)...)},
		{Facts: slices.Concat(part.Facts("measured", "", machineOf(r)), r.ownServers(),
			part.Facts("rounds", "", roundsWords(r)), r.servers())},
		part.Warnings(r.cautions()),
	}
	told := map[string]bool{}
	for i, s := range r.Outcome.Standings {
		out = append(out, part.Table(standingTable(s, i == 0)), document.Block{Facts: slices.Concat(
			part.Facts("–", document.Unsure, absences(s, told)...),
			part.Facts("not known", document.Unsure, unknowns(s)...))})
	}
	return document.Block{Section: slices.Concat(out, r.ending("At scale "+r.Plan.Scale),
		part.Repetition(r.Plan.Asked, r.Plan.Resolved, r.Plan.Plimsoll))}
}

// answering are the figures of a study with rounds whose answers its page begins with, with their
// words in a picture.
var answering = []struct{ name, short string }{
	{"peak", "peak"}, {"publish.p50", "publish p50"}, {"servers_cpu", "CPU/msg"},
}

// shortOf returns the words of an answering figure; empty: the table has another one.
func shortOf(s study.Standing) string {
	for _, a := range answering {
		if figure.Named(a.name).Title == s.Figure {
			return a.short
		}
	}
	return ""
}

// standingAnswers say for each load and level which systems are ahead, and which were not told
// apart from the first.
func standingAnswers(r Result) (out []string) {
	for _, s := range r.Outcome.Standings {
		if shortOf(s) == "" {
			continue
		}
		var first phrase.Grouped[string, string]
		for _, row := range s.Rows {
			for i, p := range row.Places {
				at := strings.Join(append(slices.Clone(row.Labels[1:]), s.Columns[i]), ", ")
				if p.First == 1 {
					words, _, _ := strings.Cut(standingCell(s, p).Words, " #")
					if p.High > 0 {
						words = known.Bracketed(words,
							s.Unit.Print(p.Low)+" to "+s.Unit.Print(p.High))
					}
					first.Add(at, row.Labels[0]+", "+words)
				}
			}
		}
		for _, at := range first.Keys {
			if all := first.Of[at]; len(all) == 1 {
				out = append(out, fmt.Sprintf("%s, %s: %s, is ahead of every other that is ranked.",
					at, s.Figure, all[0]))
			} else {
				out = append(out, fmt.Sprintf("%s, %s: between %s no difference was shown.", at,
					s.Figure, strings.Join(all, "; ")))
			}
		}
	}
	return out
}

func roundsWords(r Result) string {
	words := phrase.Plural(r.Study.RoundsAt(r.Plan.Scale), "round", "rounds") + " in random order"
	if s := r.Study; s.AtMost > 0 {
		words = fmt.Sprintf("at least %s, then further ones, for at most %s, of what is not known",
			words, s.AtMost)
	}
	twice := 0
	for i := range r.Plan.Cells {
		if r.Plan.Cells[i].Twice {
			twice++
		}
	}
	if twice > 0 {
		words += "; " + phrase.Plural(twice, "run was", "runs were") + " made twice, because the " +
			"first was cold, drifting or limited by plimsoll itself"
	}
	return words
}

// unknowns are the places at which a figure is not as well known as its bound asks for.
func unknowns(s study.Standing) (out []string) {
	for _, r := range s.Rows {
		for _, p := range r.Places {
			k := p.Known
			if k == nil || k.More == 0 {
				continue
			}
			reaches := "too few rounds for an interval of 95%"
			if k.Reach > 0 {
				reaches = "the interval of 95% reaches " + known.ReachOf(k.Reach) +
					" above the mean"
			}
			out = append(out, fmt.Sprintf("%s: %s after %s; to reach %s, about %s more", p.At,
				reaches, phrase.Plural(p.Rounds, "round", "rounds"), quantity.ExactShare(k.Until),
				phrase.Plural(k.More, "round", "rounds")))
		}
	}
	return out
}

// standingNotes say how a study with rounds can mislead.
var standingNotes = [][2]string{
	{"A rank", "is the range of ranks that the rounds leave possible, among systems at the same " +
		"level and load. A system is ahead of another when each of its rounds is better than " +
		"each of the other's. With three rounds each, that happens by chance in one of ten " +
		"pairs of equal systems. Two systems with a rank in common were not told apart."},
	{"A range", "is from the least to the greatest round; the figure is the median. It holds for " +
		"this machine, this scale and this hour."},
	{"The range of a peak", "is the bracket that the searches of all rounds leave: from the " +
		"highest rate that was stable below every unstable one, which is the figure, to the " +
		"lowest that was unstable above every stable one. A system is ahead of another when it " +
		"was stable at a rate at which the other was not, nor at any higher one."},
	{"At least (≥)", "stands before a peak whose searches met no limit of the system, because " +
		"the load or the time was the limit: the system could carry more."},
	{"Equal levels", "are equal promises. A system that syncs each message and one that syncs " +
		"several together differ in what a slow disk costs them: see syncs and bytes."},
}

// measuredColumns is a table without the columns of parts of which nothing was measured, such as
// other levels; it is whole if nothing was.
func measuredColumns(s study.Standing) study.Standing {
	var kept []int
	for i := range s.Columns {
		if slices.ContainsFunc(s.Rows,
			func(r study.StandingRow) bool { return r.Places[i].Rounds > 0 }) {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return s
	}
	s.Columns, s.Rows = chosen(s.Columns, kept), slices.Clone(s.Rows)
	for i := range s.Rows {
		s.Rows[i].Places = chosen(s.Rows[i].Places, kept)
	}
	return s
}

// chosen returns the items at some places of a list.
func chosen[T any](all []T, at []int) (out []T) {
	for _, i := range at {
		out = append(out, all[i])
	}
	return out
}

// standingTable has a row for each place on the first axes, and a column for each value of the
// last axis. Places without a figure are rows of the first table only, which also explains ranks;
// those of parts that were not asked for are not.
func standingTable(s study.Standing, first bool) document.Table {
	s = measuredColumns(s)
	out := document.Table{ID: "standing", Title: s.Title + ": " + s.Figure}
	if first {
		out.Note = "#1 is the best of its column at the same level, #2–4 a rank from 2 to 4; " +
			"below is the range of all rounds, and of a peak the bracket that their searches leave."
	}
	for _, a := range s.Axes[:len(s.Axes)-1] {
		part.AddAxis(&out, a)
	}
	out.Head = append(out.Head, document.Heads(s.Columns...)...)
	for _, r := range s.Rows {
		row := document.Row{Name: r.Labels[0], Values: document.Cells(r.Labels[1:]...)}
		measured, planned := false, false
		for _, p := range r.Places {
			row.Values = append(row.Values, standingCell(s, p))
			measured = measured || p.Rounds > 0
			planned = planned || p.Level > 0 || p.Remark != ""
		}
		if measured || first && planned {
			out.Rows = append(out.Rows, row)
		}
	}
	return out
}

// standingCell is a median with its ranks, and its range below.
func standingCell(s study.Standing, p study.Stand) document.Cell {
	out := document.Cell{Words: document.None}
	if p.Run != "" {
		out.Link = p.Run + "/" + result.ReportFile
	}
	if p.Rounds == 0 {
		return out
	}
	out.Words = s.Unit.Print(p.Value)
	if p.AtLeast {
		out.Words = "≥ " + out.Words
	}
	switch {
	case p.First > 0 && p.First == p.Last:
		out.Words += fmt.Sprintf(" #%d", p.First)
	case p.First > 0:
		out.Words += fmt.Sprintf(" #%d–%d", p.First, p.Last)
	}
	if p.High > 0 {
		out.Words += "\n" + s.Unit.Print(p.Low) + " to " + s.Unit.Print(p.High)
	}
	if p.First == 1 {
		out.Tone = document.Good
	}
	if s.Unit == figure.Messages && p.Value > 0 {
		out.Tone = document.Bad
	}
	return out
}

// absences are the reasons why places of a table have no figure or no rank, equal ones once. It
// leaves out the reasons that an earlier table had.
func absences(s study.Standing, told map[string]bool) (out []string) {
	var places phrase.Grouped[string, string]
	for _, r := range s.Rows {
		for _, p := range r.Places {
			if (p.Rounds == 0 || p.Unranked || p.LeftOut > 0) && p.Remark != "" && !told[p.Remark] {
				places.Add(p.Remark, p.At)
			}
		}
	}
	for _, remark := range places.Keys {
		told[remark] = true
		out = append(out, places.Where(remark)+": "+remark)
	}
	return out
}
