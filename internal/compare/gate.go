package compare

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Gate is a condition under which B fails.
type Gate struct {
	Text     string
	Figure   Figure
	Above    bool    // it fails above the bound; else below
	Relative bool    // the bound is a multiple of A's figure
	Bound    float64 // in the figure's unit, or the multiple
}

const gateExample = "write it like publish.p99 > 1.10x, publish.p99 > 20ms, rate < 0.95x or lost > 0"

// ParseGate reads a condition: a figure, > or <, and a bound, which is a multiple
// of A's figure (1.10x) or a value (20ms, 9k/s, 0).
func ParseGate(text string) (Gate, error) {
	g := Gate{Text: strings.Join(strings.Fields(text), " ")}
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return g, fmt.Errorf("%q holds no > or <: %s", shorten(g.Text), gateExample)
	}
	name, sign, bound := strings.TrimSpace(text[:at]), text[at], strings.TrimSpace(text[at+1:])
	if sign != '<' && sign != '>' || strings.HasPrefix(bound, "=") {
		return g, fmt.Errorf("%q compares by another sign than > and <: a gate fails when a figure lies beyond its bound; %s", shorten(g.Text), gateExample)
	}
	if name == "" || bound == "" {
		return g, fmt.Errorf("%q lacks its figure or its bound: %s", shorten(g.Text), gateExample)
	}
	var err error
	if g.Figure, err = Find(name); err != nil {
		return g, err
	}
	g.Above = sign == '>'
	return g, g.parseBound(bound)
}

func (g *Gate) parseBound(bound string) (err error) {
	if times, is := strings.CutSuffix(bound, "x"); is {
		g.Relative = true
		g.Bound, err = strconv.ParseFloat(strings.TrimSpace(times), 64)
		switch {
		case err != nil || !(g.Bound > 0 && g.Bound <= 1e6):
			return fmt.Errorf("%q is no multiple: write 1.10x for ten per cent more, 0.95x for five less", shorten(bound))
		case g.Figure.Unit == Messages:
			return fmt.Errorf("%s is a count, often 0, which has no multiples: write %s > 0", g.Figure.Name, g.Figure.Name)
		}
		return nil
	}
	if strings.HasSuffix(bound, "%") {
		return fmt.Errorf("%q is a share: write 1.10x for ten per cent more, 0.95x for five less", shorten(bound))
	}
	switch g.Figure.Unit {
	case PerSecond:
		g.Bound, err = quantity.ParseRate(bound)
	case Messages:
		var n int64
		n, err = quantity.ParseCount(bound)
		g.Bound = float64(n)
	default:
		d, parsed := quantity.ParseDuration(bound)
		g.Bound, err = float64(d), parsed
		if err == nil && d <= 0 {
			err = fmt.Errorf("a bound of %s is passed by everything: write one above it", bound)
		}
	}
	if err != nil {
		return fmt.Errorf("the bound of %s: %w", g.Figure.Name, err)
	}
	return nil
}

// Ruling is what became of a gate.
type Ruling struct {
	Gate     string `json:"gate"`
	Fails    bool   `json:"fails"`
	Sentence string `json:"sentence"`
}

// Rule judges gates over a comparison. A gate of measured figures fails only
// when the interval of the figure lies beyond the bound as a whole; the
// intervals are so wide that in at most 5 of 100 comparisons any gate fails
// whose bound the figure keeps (Bonferroni). Counts are exact. The error says
// what the runs are too few to judge: a gate that cannot fail guards nothing.
func (c *Comparison) Rule(gates []Gate) ([]Ruling, error) {
	measured := 0
	for _, g := range gates {
		if g.Figure.Unit != Messages {
			measured++
		}
	}
	tail := level / float64(max(1, measured))
	var out []Ruling
	var errs []error
	for _, g := range gates {
		r, err := c.rule(g, tail)
		out, errs = append(out, r), append(errs, err)
	}
	return out, errors.Join(errs...)
}

func (c *Comparison) rule(g Gate, tail float64) (Ruling, error) {
	if g.Figure.Unit == Messages {
		return c.ruleCount(g)
	}
	value, low, high, err := c.interval(g, tail)
	if err != nil {
		return Ruling{}, fmt.Errorf("%s: %w", g.Text, err)
	}
	beyond, lies := low > g.Bound, value > g.Bound
	if !g.Above {
		beyond, lies = high < g.Bound, value < g.Bound
	}
	edge, word := low, "at least"
	if !g.Above {
		edge, word = high, "at most"
	}
	r := Ruling{Gate: g.Text, Fails: beyond}
	found := fmt.Sprintf("%s is %s, %s %s at %.4g%%", g.Figure.Name, g.print(value), word, g.print(edge), 100*(1-tail))
	switch {
	case beyond:
		r.Sentence = "fails: " + found
	case lies:
		r.Sentence = "holds: " + found + ": beyond the bound, but the runs scatter too much to be sure"
	default:
		r.Sentence = "holds: " + found
	}
	return r, nil
}

func (g Gate) print(v float64) string {
	if g.Relative {
		return strconv.FormatFloat(v, 'f', 3, 64) + "x"
	}
	return Print(g.Figure.Unit, v)
}

// Print writes a value with its unit.
func Print(u Unit, v float64) string {
	switch {
	case math.IsNaN(v) || math.Abs(v) > 1<<62:
		return "–"
	case u == PerSecond:
		return quantity.Rate(v)
	case u == Messages:
		return quantity.Count(int64(v))
	}
	return quantity.Duration(int64(math.Round(v)))
}

// interval is the figure that a gate is about and where it surely lies.
func (c *Comparison) interval(g Gate, tail float64) (value, low, high float64, err error) {
	b, ok := values(c.B.Runs, g.Figure)
	a, okA := values(c.A.Runs, g.Figure)
	if !ok || (g.Relative && !okA) {
		return 0, 0, 0, errors.New("not every run has this figure, so the gate guards nothing: measure longer, or choose another figure")
	}
	single := len(c.B.Runs) == 1 || (g.Relative && c.Within)
	switch {
	case single:
		return c.intervalWithin(g, a, b, tail)
	case g.Relative:
		value, low, high = rankRatio(a, b, tail)
		if low <= 0 {
			return 0, 0, 0, fmt.Errorf("%d runs against %d cannot fail this gate, however bad they are: take at least %d of each (plimsoll run --trials %[3]d)",
				len(a), len(b), evenly(2*tail))
		}
		return value, low, high, nil
	}
	low, high, ok = medianBound(b, tail)
	if !ok {
		return 0, 0, 0, fmt.Errorf("%d runs cannot fail this gate, however bad they are: take at least %d (plimsoll run --trials %[2]d)", len(b), fewestForMedian(tail))
	}
	return center(b).Median, low, high, nil
}

// intervalWithin is the same where a side has a single run.
func (c *Comparison) intervalWithin(g Gate, a, b []float64, tail float64) (value, low, high float64, err error) {
	w, ok := together(c.B.Runs, g.Figure)
	value = center(b).Median
	if g.Relative {
		ofA, okA := together(c.A.Runs, g.Figure)
		value, ok = value/center(a).Median, ok && okA
		w = join(ofA, w)
	}
	if !ok {
		return 0, 0, 0, fmt.Errorf("how much %s varies within one run is not known, so the gate guards nothing: measure for %d seconds or more, or take several runs (plimsoll run --trials 5)",
			g.Figure.Name, fewestIntervals)
	}
	low, high = w.Interval(value, tail)
	return value, low, high, nil
}

// ruleCount judges a count: of each run of B, because a count is exact.
func (c *Comparison) ruleCount(g Gate) (Ruling, error) {
	worst, at := math.NaN(), ""
	for _, s := range c.B.Runs {
		v, ok := g.Figure.Value(&s.Run)
		if !ok {
			return Ruling{}, fmt.Errorf("%s: run %s did not get to its account: leave it out, or measure again", g.Text, s.Run.ID)
		}
		if math.IsNaN(worst) || (v > worst) == g.Above {
			worst, at = v, runName(s)
		}
	}
	r := Ruling{Gate: g.Text, Fails: worst > g.Bound}
	if !g.Above {
		r.Fails = worst < g.Bound
	}
	word := "holds"
	if r.Fails {
		word = "fails"
	}
	r.Sentence = fmt.Sprintf("%s: %s is %s in %s", word, g.Figure.Name, Print(Messages, worst), at)
	return r, nil
}

func runName(s *result.Saved) string { return "run " + s.Run.ID }
