package study

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
)

// Answer is the judgement of the measured figures on a claim.
type Answer string

// The answers. The last two are only of equal levels.
const (
	Agrees      Answer = "agrees"
	Differs     Answer = "differs"
	Opposite    Answer = "the other way round"
	Forbidden   Answer = "the machine forbids an answer"
	NoAnswer    Answer = "not measured"
	AboutLevels Answer = "about the levels"
	NoLevel     Answer = "no equal level"
)

// Judgement is a claim with both of its answers.
type Judgement struct {
	Says   string `json:"says"`
	Table  string `json:"table"`
	Figure string `json:"figure"`
	Of     string `json:"of"`
	To     string `json:"to"`
	Bound  string `json:"bound"`
	// Theirs is the published ratio of the figure, Of divided by To; 0: not known.
	Theirs    float64 `json:"theirs,omitempty"`
	Published Reply   `json:"as_published"`
	// Equal is the answer with both sides at one durability level; nil: they were published with
	// one level.
	Equal    *Reply `json:"at_equal_levels,omitempty"`
	Sentence string `json:"sentence"` // both answers
}

// Reply is the answer that two cells give to a claim.
type Reply struct {
	Answer Answer `json:"answer"`
	// OfLevel and ToLevel are the durability levels of the cells; 0: not known.
	OfLevel int `json:"of_level,omitempty"`
	ToLevel int `json:"to_level,omitempty"`
	// Ours is the measured ratio, with the interval Low to High; 0: not known.
	Ours float64 `json:"ours,omitempty"`
	Low  float64 `json:"ours_low,omitempty"`
	High float64 `json:"ours_high,omitempty"`
	// About names the resource that limited both cells, which the answer is about; empty: none.
	About    string `json:"about,omitempty"`
	Sentence string `json:"sentence"`
}

// Final is the answer at equal levels where there is one, and else the answer as published.
func (j *Judgement) Final() Answer {
	if j.Equal == nil {
		return j.Published.Answer
	}
	switch j.Equal.Answer {
	case NoAnswer, AboutLevels, NoLevel:
		return j.Published.Answer
	}
	return j.Equal.Answer
}

// holds reports whether a ratio keeps the claim's bounds.
func (c Claim) holds(ratio float64) bool {
	return (c.AtLeast <= 0 || ratio >= c.AtLeast) && (c.AtMost <= 0 || ratio <= c.AtMost)
}

// spans reports whether an interval contains both bounds.
func (c Claim) spans(low, high float64) bool {
	return c.AtLeast > 0 && c.AtMost > 0 && low < c.AtLeast && high > c.AtMost
}

func (c Claim) bound() string {
	var parts []string
	if c.AtLeast > 0 {
		parts = append(parts, "at least "+Times(c.AtLeast))
	}
	if c.AtMost > 0 {
		parts = append(parts, "at most "+Times(c.AtMost))
	}
	return strings.Join(parts, ", ")
}

// Times prints a ratio.
func Times(ratio float64) string {
	if ratio <= 0 || math.IsInf(ratio, 0) || math.IsNaN(ratio) {
		return "–"
	}
	digits := 2
	if ratio >= 10 {
		digits = 0
	} else if ratio >= 3 {
		digits = 1
	}
	return fmt.Sprintf("%.*fx", digits, ratio)
}

// theirs returns the ratio of the published figures; 0: a figure is missing.
func (c Claim) theirs(t *Table) float64 {
	for i, name := range t.Figures {
		of, to := t.reference(c.Of, i), t.reference(c.To, i)
		if name == c.Figure && of.Known && to.Known && to.Value > 0 {
			return of.Value / to.Value
		}
	}
	return 0
}

// side is a cell of a claim with its result. Its cell is nil where the plan does not have it.
type side struct {
	at   string
	cell *Cell
	Measured
}

// sides returns the cells of a claim: as published, or at a durability level.
func (c Claim) sides(p *Plan, measured []Measured, level int) (of, to side) {
	find := func(at string) side {
		i := p.find(c.Table, at, 0)
		if level > 0 && i >= 0 && p.Cells[i].level() != level {
			i = p.find(c.Table, at, level)
		}
		if i < 0 {
			return side{at: at}
		}
		return side{at, &p.Cells[i], measured[i]}
	}
	return find(c.Of), find(c.To)
}

// judge judges a claim by the cells that it names, and by cells with equal levels.
func (s *Study) judge(c Claim, p *Plan, measured []Measured) Judgement {
	j := Judgement{Says: c.Says, Table: c.Table, Figure: c.Figure, Of: c.Of, To: c.To,
		Bound: c.bound(), Theirs: c.theirs(s.Table(c.Table))}
	f, err := FindFigure(c.Figure)
	if err != nil {
		j.Published = Reply{Answer: NoAnswer, Sentence: err.Error()}
		j.say()
		return j
	}
	of, to := c.sides(p, measured, 0)
	j.Published = c.reply(f, of, to, j.Theirs)
	if j.Published.OfLevel != j.Published.ToLevel {
		j.Equal = &Reply{Answer: NoAnswer,
			Sentence: "the plan has no cells for it: run the study again"}
		if at := p.footing(c); at != nil {
			j.Equal = &Reply{Answer: at.Answer, Sentence: at.Why}
			if at.Level > 0 {
				of, to = c.sides(p, measured, at.Level)
				*j.Equal = c.reply(f, of, to, 0)
				j.Equal.OfLevel, j.Equal.ToLevel = at.Level, at.Level
			}
		}
	}
	j.say()
	return j
}

// say sets the sentence with both answers.
func (j *Judgement) say() {
	p, e := &j.Published, j.Equal
	switch {
	case e == nil && p.OfLevel > 0:
		j.Sentence = fmt.Sprintf("As published, at level %d on both sides, it %s: %s", p.OfLevel,
			p.Answer.verb(), p.Sentence)
		return
	case e == nil:
		j.Sentence = fmt.Sprintf("As published it %s: %s", p.Answer.verb(), p.Sentence)
		return
	}
	j.Sentence = fmt.Sprintf("As published (level %d against level %d) it %s; ", p.OfLevel,
		p.ToLevel, p.Answer.verb())
	if e.OfLevel == 0 {
		j.Sentence += fmt.Sprintf("at equal levels there is no answer: %s. As published: %s",
			e.Sentence, p.Sentence)
		return
	}
	j.Sentence += fmt.Sprintf("at level %d on both sides it %s. As published: %s. At level %d: %s",
		e.OfLevel, e.Answer.verb(), p.Sentence, e.OfLevel, e.Sentence)
}

// verb continues a sentence about a claim that begins with "it".
func (a Answer) verb() string {
	switch a {
	case Opposite:
		return "is the other way round"
	case Forbidden:
		return "has no answer on this machine"
	case NoAnswer:
		return "was not measured"
	}
	return string(a)
}

// reply answers a claim by two cells.
func (c Claim) reply(f Figure, of, to side, theirs float64) Reply {
	r := Reply{Answer: NoAnswer}
	if of.cell != nil && to.cell != nil {
		r.OfLevel, r.ToLevel = of.cell.level(), to.cell.level()
	}
	for _, side := range []side{of, to} {
		if side.cell == nil {
			r.Sentence = side.at + " is not in the plan"
			return r
		}
		if v, known := f.Value(side.Measured); !known || side.cell.State != experiment.Done ||
			v <= 0 {
			remark, forbidden := side.cell.remark(side.Measured, false)
			if r.Sentence = side.at + ": " + remark; forbidden {
				r.Answer = Forbidden
			}
			return r
		}
	}
	a, _ := f.Value(of.Measured)
	b, _ := f.Value(to.Measured)
	whole := a / b
	r.Ours = whole
	r.Low, r.High = f.interval(of.Measured, to.Measured)
	forbidden := f.unlike(of, to)
	if forbidden == "" {
		r.limited(f, of, to)
	}
	figures := "ours is " + r.ratio()
	if r.About != "" {
		figures = r.About + ": " + r.ratio()
		if r.Ours != whole {
			figures += ", as a whole " + Times(whole)
		}
	}
	if theirs > 0 {
		figures += ", theirs " + Times(theirs)
	}
	if forbidden != "" {
		r.Answer, r.Sentence = Forbidden, figures+"; "+forbidden
		return r
	}
	r.answer(c, figures)
	if r.About != "" {
		r.Sentence += "; this does not say what the study's machines would show"
	}
	return r
}

// ratio prints the measured ratio with its interval.
func (r *Reply) ratio() string {
	if r.Low <= 0 {
		return Times(r.Ours)
	}
	return fmt.Sprintf("%s (%s to %s)", Times(r.Ours), Times(r.Low), Times(r.High))
}

// blindly is the factor by which a ratio must exceed its bound if its scatter is unknown: for
// greatest latencies, for catching up, and for a search without an upper end.
const blindly = 2.0

// answer judges the measured ratio by the claim's bounds.
func (r *Reply) answer(c Claim, figures string) {
	low, high := r.Low, r.High
	if low <= 0 {
		low, high = r.Ours/blindly, r.Ours*blindly
		figures += fmt.Sprintf(
			"; its scatter is not known, so it must pass the bound by %s", Times(blindly))
	}
	r.Sentence = figures
	switch {
	case c.holds(low) != c.holds(high) || c.holds(low) != c.holds(r.Ours) || c.spans(low, high):
		if r.Low > 0 {
			figures += "; the interval contains the bound"
		}
		r.Answer, r.Sentence = Forbidden, figures+": measure at a larger scale"
	case c.holds(r.Ours):
		r.Answer = Agrees
	case c.AtMost <= 0 && c.AtLeast > 1 && high < 1, c.AtLeast <= 0 && c.AtMost < 1 && low > 1:
		r.Answer = Opposite
	default:
		r.Answer = Differs
	}
}
