package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Versus is a comparison of two sets of runs with all that is to be said of it.
type Versus struct {
	*compare.Comparison
	Objections []string // why it should not have been made
	Notes      []string // what was left out, and why
	Rulings    []compare.Ruling
}

// columns of a comparison on a terminal. On one too narrow for versusWide the
// intervals of the medians are left out.
const (
	versusName   = 14
	versusFigure = 21
	versusMedian = 11 // where it stands alone
	versusP      = 8
	versusWide   = versusName + 3*versusFigure + versusP + len("not tested")
)

// versusMethod says how the figures of a comparison were found.
const versusMethod = "Medians with their intervals: of 95%, of fewer than six runs from the least to the greatest. B / A is the median of all ratios (Hodges and Lehmann), its interval of 95% belongs to the Mann-Whitney test whose p stands beside it. " +
	"Of 100 comparisons of equal systems at most 5 show any difference: 4 by the primary figure, 1 by the others, held together by Holm."

// withinMethod is the same where a side has a single run.
const withinMethod = "A side has a single run: intervals of 95% and p come from a block bootstrap over the run's intervals of a second, five blocks, and are of the variation within a run, not between runs. " +
	"Of 100 comparisons of equal runs at most 5 show any difference: 4 by the primary figure, 1 by the others, held together by Holm."

func (v Versus) method() string {
	if v.Within {
		return withinMethod
	}
	return versusMethod
}

// title says who is compared.
func (v Versus) title() string {
	side := func(s compare.Side) string {
		return fmt.Sprintf("%s (%s)", clean(s.Name), plural(int64(len(s.Runs)), "run", "runs"))
	}
	return "A is " + side(v.A) + ", B is " + side(v.B)
}

// answer is what the primary figure says, in a sentence.
func (v Versus) answer() string {
	if len(v.Figures) == 0 || v.Figures[0].Figure.Name != v.Primary {
		return v.Primary + " is not known of every run: no answer"
	}
	e := v.Figures[0]
	name := e.Figure.Name
	against := fmt.Sprintf("%s against %s of A", compare.Print(e.Figure.Unit, e.B.Median), compare.Print(e.Figure.Unit, e.A.Median))
	switch {
	case !e.Tested():
		return fmt.Sprintf("%s: %s; not tested", name, against)
	case e.Shown:
		return fmt.Sprintf("%s of B is %s: %s, %s (%s)", name, by(e.Ratio), against, times(e.Ratio), reach(e.Low, e.High, times))
	}
	out := fmt.Sprintf("%s: no difference shown: %s, %s (%s)", name, against, times(e.Ratio), reach(e.Low, e.High, times))
	if least, ok := e.Detectable(); ok {
		out += fmt.Sprintf("; a difference of less than about %s could not have been shown by these runs", percent(least))
	}
	return out
}

// by says how far a ratio is from one.
func by(ratio float64) string {
	if ratio >= 1 {
		return percent(ratio-1) + " higher"
	}
	return percent(1-ratio) + " lower"
}

// percent prints a share, with a digit after the point where it is small.
func percent(v float64) string {
	digits := 0
	if v < 0.1 {
		digits = 1
	}
	return strconv.FormatFloat(v*100, 'f', digits, 64) + "%"
}

func times(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64) + "x"
	}
	return strconv.FormatFloat(v, 'f', 3, 64) + "x"
}

// reach prints an interval.
func reach(low, high float64, printed func(float64) string) string {
	if low <= 0 || math.IsInf(high, 1) {
		return "no interval"
	}
	return printed(low) + " to " + printed(high)
}

// pValue prints a p.
func pValue(e compare.Effect) string {
	switch {
	case !e.Tested():
		return none
	case e.P < 0.0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(e.P, 'f', 4, 64)
}

// shown is the answer of one figure in a word.
func shown(e compare.Effect) string {
	switch {
	case !e.Tested():
		return "not tested"
	case !e.Shown:
		return "–"
	case e.Ratio > 1:
		return "higher"
	}
	return "lower"
}

// middle prints a median and its interval.
func middle(e compare.Effect, c compare.Center) (median, interval string) {
	print := func(v float64) string { return compare.Print(e.Figure.Unit, v) }
	if c.Low == c.High && c.Values == 1 {
		return print(c.Median), ""
	}
	return print(c.Median), reach(c.Low, c.High, print)
}

// sets are the settings in which the two sets, or the runs of one, differ.
func (v Versus) sets() []row {
	runs := slices.Concat(v.A.Runs, v.B.Runs)
	var out []row
	for _, r := range differing(runs) {
		sides := row{Name: r.Name}
		for _, values := range [][]string{r.Values[:len(v.A.Runs)], r.Values[len(v.A.Runs):]} {
			sides.Values = append(sides.Values, strings.Join(slices.Compact(slices.Sorted(slices.Values(values))), " | "))
		}
		out = append(out, sides)
	}
	return out
}

// warnings are what is to be known before the figures.
func (v Versus) warnings() []string {
	var out []string
	for _, o := range v.Objections {
		out = append(out, "compared although "+clean(o))
	}
	for _, n := range v.Notes {
		out = append(out, clean(n))
	}
	out = append(out, v.Hints...)
	return out
}

// VersusTerminal writes a comparison as a table for a terminal.
func VersusTerminal(w io.Writer, v Versus, width int, color bool) error {
	p := &page{width: min(max(width, 80), 120), paint: paint(color)}
	for _, l := range wrap(v.title(), p.width) {
		p.line(p.paint.as(strong, l))
	}
	p.line("")
	if ws := v.warnings(); len(ws) > 0 {
		for i, warning := range ws {
			code := warn
			if i < len(v.Objections) {
				code = bad
			}
			p.said("warning", code, warning)
		}
		p.line("")
	}
	if rows := v.sets(); len(rows) > 0 {
		p.line(p.paint.as(faint, "what differs"))
		for _, r := range rows {
			p.differs(r, []string{"A", "B"})
		}
		p.line("")
	}
	p.said("answer", strong, v.answer())
	p.line("")
	p.versus(v)
	for _, r := range v.Rulings {
		code := good
		if r.Fails {
			code = bad
		}
		p.said("gate", code, clean(r.Gate)+" "+clean(r.Sentence))
	}
	if len(v.Rulings) > 0 {
		p.line("")
	}
	for _, l := range wrap(v.method(), p.width) {
		p.line(p.paint.as(faint, l))
	}
	_, err := w.Write(p.Bytes())
	return err
}

// versus writes the table of figures, two lines each.
func (p *page) versus(v Versus) {
	medians := versusFigure
	if p.width < versusWide {
		medians = versusMedian
	}
	p.line(p.paint.as(faint, pad("figure", versusName)+pad("A", medians)+pad("B", medians)+pad("B / A", versusFigure)+pad("p", versusP)))
	for _, e := range v.Figures {
		a, inA := middle(e, e.A)
		b, inB := middle(e, e.B)
		if medians == versusMedian {
			inA, inB = "", ""
		}
		p.line(pad(e.Figure.Name, versusName) + pad(a, medians) + pad(b, medians) + pad(times(e.Ratio), versusFigure) + pad(pValue(e), versusP) + shown(e))
		inRatio := ""
		if e.Tested() {
			inRatio = reach(e.Low, e.High, times)
		}
		if inA+inB+inRatio != "" {
			p.line(p.paint.as(faint, pad("", versusName)+pad(inA, medians)+pad(inB, medians)+inRatio))
		}
	}
	p.line("")
}

// VersusMarkdown writes a comparison for a pull request.
func VersusMarkdown(w io.Writer, v Versus) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s\n\n", md(v.title()))
	markdownWarnings(&b, v.warnings())
	if rows := v.sets(); len(rows) > 0 {
		markdownTable(&b, "what differs", []string{"A", "B"}, rows)
	}
	fmt.Fprintf(&b, "**%s**\n\n", md(v.answer()))
	var rows []row
	for _, e := range v.Figures {
		a, inA := middle(e, e.A)
		bb, inB := middle(e, e.B)
		ratio := times(e.Ratio)
		if e.Tested() {
			ratio += " (" + reach(e.Low, e.High, times) + ")"
		}
		rows = append(rows, row{Name: e.Figure.Name, Values: []string{bracketed(a, inA), bracketed(bb, inB), ratio, pValue(e), shown(e)}})
	}
	markdownTable(&b, "figure", []string{"A", "B", "B / A", "p", "shown"}, rows)
	for _, r := range v.Rulings {
		fmt.Fprintf(&b, "- `%s` %s\n", strings.ReplaceAll(clean(r.Gate), "`", ""), md(r.Sentence))
	}
	if len(v.Rulings) > 0 {
		b.WriteString("\n")
	}
	b.WriteString(v.method() + "\n")
	_, err := w.Write(b.Bytes())
	return err
}

func bracketed(value, interval string) string {
	if interval == "" {
		return value
	}
	return value + " (" + interval + ")"
}

// VersusJSON writes a comparison for machines. What is not known is left out.
func VersusJSON(w io.Writer, v Versus) error {
	type figure struct {
		Figure     string         `json:"figure"`
		Unit       compare.Unit   `json:"unit"`
		A          compare.Center `json:"a"`
		B          compare.Center `json:"b"`
		Ratio      float64        `json:"ratio"`
		Low        *float64       `json:"ratio_low,omitempty"` // of the interval of 95%
		High       *float64       `json:"ratio_high,omitempty"`
		P          *float64       `json:"p,omitempty"`
		Shown      bool           `json:"shown"`
		Detectable *float64       `json:"least_detectable,omitempty"` // as a share
	}
	type side struct {
		Name string   `json:"name"`
		Runs []string `json:"runs"`
	}
	ids := func(s compare.Side) side {
		out := side{Name: s.Name}
		for _, r := range s.Runs {
			out.Runs = append(out.Runs, r.Run.ID)
		}
		return out
	}
	out := struct {
		A        side             `json:"a"`
		B        side             `json:"b"`
		Primary  string           `json:"primary"`
		Within   bool             `json:"within_single_runs"`
		Answer   string           `json:"answer"`
		Warnings []string         `json:"warnings"`
		Figures  []figure         `json:"figures"`
		Gates    []compare.Ruling `json:"gates,omitempty"`
		Method   string           `json:"method"`
	}{ids(v.A), ids(v.B), v.Primary, v.Within, v.answer(), append([]string{}, v.warnings()...), []figure{}, v.Rulings, v.method()}
	for _, e := range v.Figures {
		f := figure{Figure: e.Figure.Name, Unit: e.Figure.Unit, A: e.A, B: e.B, Ratio: e.Ratio, Shown: e.Shown}
		if e.Tested() {
			f.P = &e.P
		}
		if least, ok := e.Detectable(); ok {
			f.Low, f.High, f.Detectable = &e.Low, &e.High, &least
		}
		out.Figures = append(out.Figures, f)
	}
	raw, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the comparison as JSON: %w", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// SideBySide writes what differs between runs and their figures for a terminal,
// without a section for each. How many warnings a run has stands beside it; what
// they say is for its own report.
func SideBySide(w io.Writer, runs []*result.Saved, width int, color bool) error {
	p := &page{width: min(max(width, 40), 120), paint: paint(color)}
	p.line(p.paint.as(strong, plural(int64(len(runs)), "run", "runs")+" side by side"))
	p.line("")
	for _, w := range incomparable(runs) {
		p.said("warning", bad, w)
	}
	p.sideBySide(runs, names(runs))
	_, err := w.Write(p.Bytes())
	return err
}

// Medians writes the medians of several runs of one target for a terminal, with
// their intervals.
func Medians(w io.Writer, runs []*result.Saved, width int, color bool) error {
	p := &page{width: min(max(width, 40), 120), paint: paint(color)}
	figures, centers := compare.Medians(runs)
	p.line(p.paint.as(faint, pad("figure", versusName)+pad("median", versusMedian)+"interval"))
	for i, f := range figures {
		c := centers[i]
		print := func(v float64) string { return compare.Print(f.Unit, v) }
		p.line(pad(f.Name, versusName) + pad(print(c.Median), versusMedian) + fmt.Sprintf("%s (%.3g%%)", reach(c.Low, c.High, print), c.Confidence*100))
	}
	_, err := w.Write(p.Bytes())
	return err
}
