package compare

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Gate is a condition under which B fails.
type Gate struct {
	Text     string
	Figure   figure.Figure
	Above    bool    // it fails above the bound; else below
	Reaching bool    // it fails at the bound too
	Relative bool    // the bound is a multiple of A's figure
	Bound    float64 // in the figure's unit, or the multiple
}

const (
	gateExample = "write it like publish.p99 > 1.10x, publish.p99 > 20ms, rate < 0.95x or lost " +
		"> 0"
	objectiveExample = "write it like publish.p99 < 20ms, rate > 9k/s or lost < 1"
)

// ParseGate reads a condition: a figure, > or <, and a bound, which is a multiple
// of A's figure (1.10x) or a value (20ms, 9k/s, 0).
func ParseGate(text string) (Gate, error) { return parseCondition(text, gateExample) }

// ParseObjective reads a condition that each run must keep, with a value as its bound, and returns
// the gate that fails where the condition does not hold.
func ParseObjective(text string) (Gate, error) {
	g, err := parseCondition(text, objectiveExample)
	if err == nil {
		err = g.Absolute()
	}
	g.Above, g.Reaching = !g.Above, true
	return g, err
}

func parseCondition(text, example string) (Gate, error) {
	g := Gate{Text: strings.Join(strings.Fields(text), " ")}
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return g, fmt.Errorf("%q holds no > or <: %s", strict.Shorten(g.Text), example)
	}
	name, sign, bound := strings.TrimSpace(text[:at]), text[at], strings.TrimSpace(text[at+1:])
	if sign != '<' && sign != '>' || strings.HasPrefix(bound, "=") {
		return g, fmt.Errorf("%q compares with a sign other than > and <: %s",
			strict.Shorten(g.Text), example)
	}
	if name == "" || bound == "" {
		return g, fmt.Errorf("%q lacks its figure or its bound: %s", strict.Shorten(g.Text),
			example)
	}
	var err error
	if g.Figure, err = figure.Find(name); err != nil {
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
			return fmt.Errorf(
				"%q is no multiple: write 1.10x for ten per cent more, 0.95x for five less",
				strict.Shorten(bound))
		case g.Figure.Unit == figure.Messages:
			return fmt.Errorf("%s is a count, often 0, which has no multiples: write %s > 0",
				g.Figure.Name, g.Figure.Name)
		}
		return nil
	}
	if strings.HasSuffix(bound, "%") {
		return fmt.Errorf("%q is a share: write 1.10x for ten per cent more, 0.95x for five less",
			strict.Shorten(bound))
	}
	g.Bound, err = g.Figure.Unit.Parse(bound)
	if err == nil && g.Bound <= 0 && g.Figure.Unit == figure.Nanoseconds {
		err = fmt.Errorf("every value passes a bound of %s: write a larger one", bound)
	}
	if err != nil {
		return fmt.Errorf("the bound of %s: %w", g.Figure.Name, err)
	}
	return nil
}

// Ruling is the result of a gate.
type Ruling struct {
	Gate     string `json:"gate"`
	Fails    bool   `json:"fails"`
	Sentence string `json:"sentence"`
}

// Rule judges gates over a comparison. A gate of measured figures fails only when the whole
// interval of the figure lies beyond the bound. The intervals are wide enough that in at most 5 of
// 100 comparisons a gate fails although the figure keeps its bound (Bonferroni). Counts are exact.
// A gate also fails if messages without a latency leave it undecided. The error names gates for
// which the runs are too few: a gate that cannot fail guards nothing.
func (c *Comparison) Rule(gates []Gate) ([]Ruling, error) {
	measured := 0
	for _, g := range gates {
		if g.Figure.Unit != figure.Messages {
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
	if g.Figure.Unit == figure.Messages {
		return g.count(c.B.Runs)
	}
	e, err := c.estimate(g, tail)
	if err != nil {
		return Ruling{}, fmt.Errorf("%s: %w", g.Text, err)
	}
	fails, told := e.beyond(g)
	lies := e.value.Least > g.Bound
	if !g.Above {
		lies = e.value.Most < g.Bound
	}
	found := c.found(g, e, tail)
	switch {
	case !told && lies:
		return g.fails(found + "; too few runs to say how surely"), nil
	case !told:
		return g.fails("not decided: " + found), nil
	case fails && c.blurs(g):
		found += ": beyond the bound, but the sides differ by less than " +
			fmt.Sprintf("%d times plimsoll's own error", instrumentTimes)
	case fails:
		return g.fails(found), nil
	case lies:
		found += ": beyond the bound, but the runs scatter too much to be sure"
	}
	return Ruling{Gate: g.Text, Sentence: "passes: " + found}, nil
}

func (g Gate) fails(found string) Ruling {
	return Ruling{Gate: g.Text, Fails: true, Sentence: "fails: " + found}
}

// estimate holds the value of a gate's figure and the ends of its interval. Each is a span,
// because bounds may leave it open.
type estimate struct{ value, low, high figure.Span }

// beyond reports whether the figure certainly lies beyond the bound. told is set if the answer is
// the same whatever the values of latencies that are only bounded.
func (e estimate) beyond(g Gate) (fails, told bool) {
	if g.Above {
		return e.low.Least > g.Bound, (e.low.Least > g.Bound) == (e.low.Most > g.Bound)
	}
	return e.high.Most < g.Bound, (e.high.Most < g.Bound) == (e.high.Least < g.Bound)
}

// blurs reports whether a multiple of A's figure could be plimsoll's own error.
func (c *Comparison) blurs(g Gate) bool {
	if !g.Relative {
		return false
	}
	e, ok := c.effect(g.Figure)
	return ok && e.blurred()
}

// found states the figure and its interval.
func (c *Comparison) found(g Gate, e estimate, tail float64) string {
	if !e.value.Exact() {
		return c.bounded(g, e)
	}
	edge, word := e.low.Least, "at least"
	if !g.Above {
		edge, word = e.high.Most, "at most"
	}
	out := g.Figure.Name + " is " + g.print(e.value.Least)
	if math.IsInf(edge, 1) {
		return out + ", without an upper bound"
	}
	return fmt.Sprintf("%s, %s %s at %.4g%%", out, word, g.print(edge), 100*(1-tail))
}

// bounded says what is known of a figure that includes messages without a latency, and how many
// such messages there are.
func (c *Comparison) bounded(g Gate, e estimate) string {
	v, out := e.value, g.Figure.Name
	switch {
	case !g.Relative && v.NotReached():
		out += " is not reached"
	case v.NotReached():
		out += " is not reached in B"
	case g.Relative && v.Most == 0:
		out += " is not reached in A, and is in B"
	case v.Least == 0 && math.IsInf(v.Most, 1):
		out += " is not reached in either, or a bound in both"
	case math.IsInf(v.Most, 1):
		out += " is ≥ " + g.print(v.Least)
	case v.Least == 0:
		out += " is ≤ " + g.print(v.Most)
	default:
		out += fmt.Sprintf(" is %s to %s", g.print(v.Least), g.print(v.Most))
	}
	ofA, ofB := withoutLatency(c.A, g.Figure.Series), withoutLatency(c.B, g.Figure.Series)
	return fmt.Sprintf("%s: messages without a latency: %v in A, %v in B", out, ofA, ofB)
}

// print prints a value of the gate's figure, which never looks like the bound that it misses.
func (g Gate) print(v float64) string {
	switch {
	case g.Relative:
		return quantity.TimesBeside(v, g.Bound)
	case figure.Unprintable(v):
		return g.Figure.Unit.Print(v)
	case g.Figure.Unit == figure.PerSecond:
		return quantity.RateBeside(v, g.Bound)
	case g.Figure.Unit == figure.Nanoseconds:
		return quantity.DurationBeside(int64(math.Round(v)), int64(g.Bound))
	}
	return g.Figure.Unit.Print(v)
}

// estimate returns the gate's figure and its interval.
func (c *Comparison) estimate(g Gate, tail float64) (estimate, error) {
	b, ok := of(c.B.Runs, g.Figure)
	a, okA := of(c.A.Runs, g.Figure)
	if !ok || (g.Relative && !okA) {
		advice := "choose another figure"
		if g.Figure.Percentile > 0 {
			advice = "measure longer, or " + advice
		}
		return estimate{}, fmt.Errorf("some runs lack this figure (%s): %s", g.Figure.Title, advice)
	}
	var e estimate
	if g.Relative {
		effect, _ := c.effect(g.Figure)
		e.value = effect.Times
		e.low, e.high, ok = effect.interval(tail)
	} else {
		e, ok = c.B.estimate(g.Figure, b, tail)
	}
	switch {
	case ok:
		return e, nil
	case !b.exact() || (g.Relative && !a.exact()):
		return unsure(g, a, b), nil
	}
	return estimate{}, c.tooFewFor(g, tail)
}

// estimate returns a figure of a side and its interval; ok is false if the runs are too few for it.
func (s Side) estimate(f figure.Figure, values spans, tail float64) (e estimate, ok bool) {
	switch {
	case len(s.Runs) == 1:
		w, known := Of(s.Runs[0], f)
		return exactly(values[0].Least, w, tail), known
	case sequential(s.Runs) && !values.exact():
		return e, false
	case sequential(s.Runs):
		mean, w := sure(values.least(), true)
		return exactly(mean, w, tail), !math.IsInf(w.reach(tail), 1)
	}
	lowLeast, highLeast, ok := stats.MedianBound(values.least(), tail)
	lowMost, highMost, _ := stats.MedianBound(values.most(), tail)
	return estimate{center(values).Median, between(lowLeast, lowMost),
		between(highLeast, highMost)}, ok
}

// exactly returns the estimate of an exact value.
func exactly(value float64, w Within, tail float64) estimate {
	low, high := w.Interval(value, tail)
	return estimate{figure.Exactly(value), figure.Exactly(low), figure.Exactly(high)}
}

// tooFewFor says what a gate lacks whose figure has no interval.
func (c *Comparison) tooFewFor(g Gate, tail float64) error {
	a, b := len(c.A.Runs), len(c.B.Runs)
	switch {
	case b == 1 || (g.Relative && c.Within):
		return fmt.Errorf(
			"the variation of %s within one run is not known: measure for %d seconds or more, or "+
				"take several runs (plimsoll run --trials 5)",
			g.Figure.Name, fewestIntervals)
	case sequential(c.B.Runs) || (g.Relative && c.Sequential):
		return fmt.Errorf("%d rounds are too few for this gate", b)
	case g.Relative:
		return fmt.Errorf("%d runs against %d are too few for this gate: it needs %d "+
			"on each side (plimsoll run --trials %[3]d)", a, b, stats.Evenly(2*tail))
	}
	return fmt.Errorf("%d runs are too few for this gate: it needs %d "+
		"(plimsoll run --trials %[2]d)", b, stats.FewestForMedian(tail))
}

// unsure returns an estimate for runs that are too few for an interval, and partly only bounded.
// The bound may suffice to decide.
func unsure(g Gate, a, b spans) estimate {
	v := center(b).Median
	if g.Relative {
		v = v.Times(center(a).Median)
	}
	e := estimate{value: v, low: between(0, v.Most), high: between(v.Least, math.Inf(1))}
	if v.NotReached() {
		e.low.Least = v.Least
	}
	if v.Most == 0 {
		e.high.Most = 0
	}
	return e
}
