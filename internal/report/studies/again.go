package studies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/study"
)

// again sets the answers of each study that was measured several times side by side: those that
// changed, and the number of those that did not.
func again(all []Result) []document.Block {
	var measured phrase.Grouped[string, Result]
	for _, r := range all {
		if len(r.Outcome.Claims) > 0 {
			measured.Add(measurement(r), r)
		}
	}
	var out []document.Block
	for _, name := range measured.Keys {
		if times := measured.Of[name]; len(times) > 1 {
			slices.SortStableFunc(times, func(a, b Result) int {
				return a.Plan.StartedAt.Compare(b.Plan.StartedAt)
			})
			out = append(out, measuredAgain(name, times)...)
		}
	}
	return out
}

// measurement names what was measured: measurements at other scales, or of other clusters, are not
// the same one again.
func measurement(r Result) string {
	out := r.Study.Name + " at scale " + r.Plan.Scale
	for _, o := range r.Plan.Own {
		out += ", " + o.String()
	}
	return out
}

// measuredAgain has the answers of the measurements of a study, in the order of their times.
func measuredAgain(name string, times []Result) []document.Block {
	asPublished := compared(times, func(j study.Judgement) *study.Reply { return &j.Published })
	equal := compared(times, func(j study.Judgement) *study.Reply { return j.Equal })
	if asPublished.none() && equal.none() {
		return nil
	}
	words := fmt.Sprintf("%s was measured %s. As published: %s.", name,
		phrase.Plural(len(times), "time", "times"), asPublished)
	if !equal.none() {
		words += fmt.Sprintf(" At equal levels: %s.", equal)
	}
	out := []document.Block{part.Paragraph(document.Answer, words)}
	if len(asPublished.changed)+len(equal.changed) == 0 {
		return out
	}
	t := document.Table{ID: "again", Title: "Answers that changed", Corner: "claim",
		Head: []document.Column{{Name: "levels", Words: true}}}
	for _, r := range times {
		t.Head = append(t.Head, document.Column{Name: phrase.Moment(r.Plan.StartedAt), Words: true})
	}
	t.Head = append(t.Head, document.Column{Name: "why not decided", Words: true})
	asPublished.rows(&t, "as published")
	equal.rows(&t, "equal")
	return append(out, part.Table(t))
}

// comparison counts the answers that are the same in all measurements, and has the others.
type comparison struct {
	same    int
	changed []changedAnswer
}

// none reports whether no claim has figures in all measurements.
func (c comparison) none() bool { return c.same+len(c.changed) == 0 }

// changedAnswer has the replies to a claim, of each measurement.
type changedAnswer struct {
	claim   study.Judgement
	replies []study.Reply
}

// compared compares the replies to each claim for which all measurements have figures.
func compared(times []Result, reply func(study.Judgement) *study.Reply) comparison {
	var out comparison
	for _, j := range times[0].Outcome.Claims {
		c := changedAnswer{claim: j}
		for _, r := range times {
			i := slices.IndexFunc(r.Outcome.Claims, func(k study.Judgement) bool {
				return sameClaim(j, k)
			})
			if i < 0 {
				break
			}
			answer := reply(r.Outcome.Claims[i])
			if answer != nil && answer.Answer != study.NotMeasured {
				c.replies = append(c.replies, *answer)
			}
		}
		switch {
		case len(c.replies) < len(times):
		case slices.ContainsFunc(c.replies, func(r study.Reply) bool {
			return r.Answer != c.replies[0].Answer
		}):
			out.changed = append(out.changed, c)
		default:
			out.same++
		}
	}
	return out
}

// sameClaim reports whether two judgements are of the same ratio with the same bound. A claim may
// be reworded from one version to the next.
func sameClaim(a, b study.Judgement) bool {
	return a.ID == b.ID && a.Table == b.Table && a.Figure == b.Figure && a.Of == b.Of &&
		a.To == b.To && a.ToFigure == b.ToFigure && a.Bound == b.Bound
}

// opposed reports whether a claim agrees in one measurement and differs in another.
func (c changedAnswer) opposed() bool {
	has := func(a study.Answer) bool {
		return slices.ContainsFunc(c.replies, func(r study.Reply) bool { return r.Answer == a })
	}
	return has(study.Agrees) && has(study.Differs)
}

// String counts the answers that stayed, those that were not decided each time, and those that
// turned into their opposite.
func (c comparison) String() string {
	opposed := 0
	for _, a := range c.changed {
		if a.opposed() {
			opposed++
		}
	}
	return fmt.Sprintf("%d of %s the same, %d decided in some measurements and not in others, "+
		"%d changed between agrees and differs", c.same,
		phrase.Plural(c.same+len(c.changed), "answer is", "answers are"),
		len(c.changed)-opposed, opposed)
}

// rows adds the changed answers to a table.
func (c comparison) rows(t *document.Table, levels string) {
	for _, a := range c.changed {
		row := document.Row{Name: bounded(a.claim), Values: document.Cells(levels)}
		var why []string
		for _, r := range a.replies {
			row.Values = append(row.Values, answerCell(r))
			for _, d := range r.Doubts {
				if !slices.Contains(why, d.Why) {
					why = append(why, d.Why)
				}
			}
		}
		row.Values = append(row.Values, document.Cell{
			Words: cmp.Or(strings.Join(why, "; "), document.None)})
		t.Rows = append(t.Rows, row)
	}
}
