package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
)

// Answer is the judgement of the measured figures on a claim.
type Answer string

// The answers.
const (
	Agrees     Answer = "agrees"
	Differs    Answer = "differs"
	NotDecided Answer = "not decided" // for the reasons in Reply.Doubts
	// NotMeasured is the answer when a side has no measurement: its cell is not in the plan, still
	// waits, cannot be measured on this machine, or failed.
	NotMeasured Answer = "not measured"
)

// Answers are all answers, in the order of a summary.
var Answers = []Answer{Agrees, Differs, NotDecided, NotMeasured}

// Decided reports whether an answer is one to the claim.
func (a Answer) Decided() bool { return a == Agrees || a == Differs }

// verb continues a sentence about a claim that begins with "it".
func (a Answer) verb() string {
	if a.Decided() {
		return string(a)
	}
	return "is " + string(a)
}

// Judgement is a claim with its answers.
type Judgement struct {
	Claim
	Bound string `json:"bound"`
	// Answer is the answer as published, with which Sentence begins.
	Answer Answer `json:"answer"`
	// Theirs is the published ratio of the figure, Of divided by To; 0: not known. TheirOf and
	// TheirTo are the two figures as they were published.
	Theirs    float64 `json:"theirs,omitempty"`
	TheirOf   string  `json:"theirs_of,omitempty"`
	TheirTo   string  `json:"theirs_to,omitempty"`
	Published Reply   `json:"as_published"`
	// Equal is the answer with both sides at one durability level; nil: they were published with
	// one level, or there is none, for the reason in NoEqual.
	Equal    *Reply `json:"at_equal_levels,omitempty"`
	NoEqual  string `json:"no_equal_levels,omitempty"`
	Sentence string `json:"sentence"` // with all answers

	against bool // the published figures contradict the claim
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
	// Rounds is the number of rounds that gave the ratio, of the side with fewer.
	Rounds int `json:"rounds,omitempty"`
	// About names the resource that limited both cells, which the answer is about; empty: none.
	About string `json:"about,omitempty"`
	// More is about the number of further rounds of each side that would decide the claim, if
	// only their scatter leaves it undecided; 0: not known, or more rounds would not.
	More int `json:"further_rounds,omitempty"`
	// Loads are those of the cells, as shares of peaks; empty: the claim is not about a load.
	Loads []Load `json:"loads,omitempty"`
	// Doubts say why the claim is not decided, or not measured.
	Doubts   []Doubt `json:"doubts,omitempty"`
	Sentence string  `json:"sentence"`

	places   []string // of the cells, with their levels
	scatters bool     // the scatter of rounds is the only doubt, and more may be measured
	// least and most are the ratio without plimsoll's own error, as multiples of Ours.
	least, most float64
	tried       int // rounds, of the side with more
	known       compare.RoundRatio
	bracket     float64 // how far the brackets of peaks reach, as a logarithm
}

// Doubt is a reason why a claim is not decided, and what would decide it.
type Doubt struct {
	Why     string `json:"why"`
	Decides string `json:"what_would_decide"`
}

// holds reports whether a ratio keeps the claim's bounds.
func (c Claim) holds(ratio float64) bool {
	return (c.AtLeast <= 0 || ratio >= c.AtLeast) && (c.AtMost <= 0 || ratio <= c.AtMost)
}

// settled reports whether the claim's answer is the same for every ratio that is greater, or, if
// grows is false, smaller.
func (c Claim) settled(ratio float64, grows bool) bool {
	if grows {
		return c.AtMost > 0 && ratio > c.AtMost || c.AtMost <= 0 && c.holds(ratio)
	}
	return c.AtLeast > 0 && ratio < c.AtLeast || c.AtLeast <= 0 && c.holds(ratio)
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

// ofOne reports whether the claim compares two figures of one cell.
func (c Claim) ofOne() bool { return c.ToFigure != "" }

// Ratio says in words what the claim divides by what.
func (c Claim) Ratio() string {
	if c.ofOne() {
		return fmt.Sprintf("%s: %s to %s", c.Of, c.Figure, c.ToFigure)
	}
	return fmt.Sprintf("%s, %s to %s", c.Figure, c.Of, c.To)
}

// published returns the published figures of the claim's sides.
func (c Claim) published(t *Table) (of, to Reference) {
	i := slices.Index(t.Figures, c.Figure)
	k := slices.Index(t.Figures, cmp.Or(c.ToFigure, c.Figure))
	if i >= 0 && k >= 0 {
		return t.Reference(c.Of, i), t.Reference(c.To, k)
	}
	return of, to
}

// theirs returns the ratio of the published figures; 0: a figure is missing.
func (c Claim) theirs(t *Table) float64 {
	if of, to := c.published(t); to.Value > 0 {
		return of.Value / to.Value
	}
	return 0
}

// judge judges a claim by the cells that it names, and by cells with equal levels.
func (r results) judge(c Claim) Judgement {
	t := r.study.Table(c.Table)
	j := Judgement{Claim: c, Bound: c.bound(), Theirs: c.theirs(t)}
	if j.Theirs > 0 {
		of, to := c.published(t)
		j.TheirOf, j.TheirTo, j.against = of.String(), to.String(), !c.holds(j.Theirs)
	}
	q := r.asks(c)
	j.Published = q.reply(0, &j)
	switch at := r.plan.footing(c); {
	case j.Published.OfLevel == j.Published.ToLevel:
	case at == nil:
		j.Equal = &Reply{Answer: NotMeasured,
			Doubts: []Doubt{{"the plan has no cells for it", "the study, run again"}}}
		j.Equal.say(nil)
	case at.Level == 0:
		j.NoEqual = at.Why
	default:
		equal := q.reply(at.Level, nil)
		equal.OfLevel, equal.ToLevel = at.Level, at.Level
		j.Equal = &equal
	}
	j.say()
	return j
}

// say sets the answer and the sentence with all answers.
func (j *Judgement) say() {
	p := &j.Published
	j.Answer, j.Sentence = p.Answer, "As published"
	switch {
	case p.OfLevel == 0 && p.ToLevel == 0:
	case p.OfLevel == p.ToLevel:
		j.Sentence += fmt.Sprintf(", at level %d on both sides,", p.OfLevel)
	default:
		j.Sentence += fmt.Sprintf(" (level %d against level %d)", p.OfLevel, p.ToLevel)
	}
	j.Sentence += fmt.Sprintf(" it %s: %s", p.Answer.verb(), p.Sentence)
	switch e := j.Equal; {
	case j.NoEqual != "":
		j.Sentence += ". At equal levels it is not asked: " + j.NoEqual
	case e != nil && e.OfLevel > 0:
		j.Sentence += fmt.Sprintf(". At level %d on both sides it %s: %s", e.OfLevel,
			e.Answer.verb(), e.Sentence)
	case e != nil:
		j.Sentence += ". At equal levels it " + e.Answer.verb() + ": " + e.Sentence
	}
}
