package study

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Answer is the judgement of the measured figures on a claim.
type Answer string

// The answers.
const (
	Agrees    Answer = "agrees"
	Differs   Answer = "differs"
	Forbidden Answer = "the machine forbids an answer"
	NoAnswer  Answer = "not measured"
)

// Judgement is a claim with its judgement.
type Judgement struct {
	Says   string `json:"says"`
	Table  string `json:"table"`
	Figure string `json:"figure"`
	Of     string `json:"of"`
	To     string `json:"to"`
	Bound  string `json:"bound"`
	// Theirs and Ours are the published and the measured ratio of the figure, Of divided by To; 0:
	// not known. Low and High are the interval of Ours; 0: not known.
	Theirs   float64 `json:"theirs,omitempty"`
	Ours     float64 `json:"ours,omitempty"`
	Low      float64 `json:"ours_low,omitempty"`
	High     float64 `json:"ours_high,omitempty"`
	Answer   Answer  `json:"answer"`
	Sentence string  `json:"sentence"`
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

// judge judges a claim by the cells that it names.
func (s *Study) judge(c Claim, p *Plan, measured []Measured) Judgement {
	t := s.Table(c.Table)
	j := Judgement{Says: c.Says, Table: c.Table, Figure: c.Figure, Of: c.Of, To: c.To,
		Bound: c.bound(), Theirs: c.theirs(t), Answer: NoAnswer}
	of, ofCell := cellAt(p, measured, c.Table, c.Of)
	to, toCell := cellAt(p, measured, c.Table, c.To)
	f, err := FindFigure(c.Figure)
	if err != nil {
		j.Sentence = err.Error()
		return j
	}
	for _, side := range []struct {
		m    Measured
		cell *Cell
		at   string
	}{{of, ofCell, c.Of}, {to, toCell, c.To}} {
		if side.cell == nil {
			j.Sentence = side.at + " is not in the plan"
			return j
		}
		if v, known := f.Value(side.m); !known || v <= 0 || side.cell.State != experiment.Done {
			remark, forbidden := side.cell.remark(side.m, false)
			if j.Sentence = side.at + ": " + remark; forbidden {
				j.Answer = Forbidden
			}
			return j
		}
	}
	a, _ := f.Value(of)
	b, _ := f.Value(to)
	j.Ours = a / b
	j.Low, j.High = f.interval(of, to)
	j.answer(c, map[string]string{c.Of: machineLimit(of), c.To: machineLimit(to)})
	if l, other := ofCell.level(), toCell.level(); l != other {
		j.Sentence += fmt.Sprintf(
			"; durability levels %d and %d, so the acknowledgements guarantee different things",
			l, other)
	}
	return j
}

// blindly is the factor by which a ratio must pass its bound when its scatter is not known: for
// greatest latencies, for catching up, and for a search without an upper end.
const blindly = 2.0

// answer judges the measured ratio by the claim's bounds.
func (j *Judgement) answer(c Claim, limits map[string]string) {
	figures := "ours is " + Times(j.Ours)
	if j.Low > 0 {
		figures += fmt.Sprintf(" (%s to %s)", Times(j.Low), Times(j.High))
	}
	if j.Theirs > 0 {
		figures += ", theirs " + Times(j.Theirs)
	}
	for _, at := range []string{c.Of, c.To} {
		if limits[at] != "" {
			j.Answer, j.Sentence = Forbidden, fmt.Sprintf("%s; in %s %s", figures, at, limits[at])
			return
		}
	}
	low, high := j.Low, j.High
	if low <= 0 {
		low, high = j.Ours/blindly, j.Ours*blindly
		figures += fmt.Sprintf(
			"; its scatter is not known, so it must pass the bound by %s", Times(blindly))
	}
	switch {
	case c.holds(low) != c.holds(high) || c.holds(low) != c.holds(j.Ours) || c.spans(low, high):
		if j.Low > 0 {
			figures += "; the interval contains the bound"
		}
		j.Answer, j.Sentence = Forbidden, figures+": measure at a larger scale"
	case c.holds(j.Ours):
		j.Answer, j.Sentence = Agrees, figures
	default:
		j.Answer, j.Sentence = Differs, figures
	}
}

// interval returns the interval of a figure's ratio between two cells: for peaks from their
// brackets, for runs from internal/compare. Zeros: not known.
func (f Figure) interval(of, to Measured) (low, high float64) {
	if of.Search != nil && to.Search != nil {
		a, b := of.Search.Bracket, to.Search.Bracket
		if a.UnstableRate <= 0 || b.UnstableRate <= 0 || a.StableRate <= 0 || b.StableRate <= 0 {
			return 0, 0
		}
		return a.StableRate / b.UnstableRate, a.UnstableRate / b.StableRate
	}
	if f.compared == "" || of.Run == nil || to.Run == nil {
		return 0, 0
	}
	primary, err := compare.Find(f.compared)
	if err != nil {
		return 0, 0
	}
	c, err := compare.New(compare.Side{Name: "to", Runs: []*result.Saved{to.Run}},
		compare.Side{Name: "of", Runs: []*result.Saved{of.Run}}, primary)
	if err != nil {
		return 0, 0
	}
	for _, e := range c.Figures {
		if e.Figure.Name == f.compared && e.Low > 0 && !math.IsInf(e.High, 1) {
			return e.Low, e.High
		}
	}
	return 0, 0
}

// cellAt returns a plan's cell and its result; nil when the plan does not have the cell.
func cellAt(p *Plan, measured []Measured, table, at string) (Measured, *Cell) {
	for i := range p.Cells {
		if c := &p.Cells[i]; c.Table == table && c.At == at {
			return measured[i], c
		}
	}
	return Measured{}, nil
}
