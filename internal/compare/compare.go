package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// At most 5 of 100 comparisons of equal systems show a difference. The primary figures together
// have 4 of these false alarms, the other figures together 1.
const (
	level        = 0.05
	primaryShare = 0.8
)

// Side is one of the two sets of runs.
type Side struct {
	Name string
	Runs []*result.Saved
	// Failed are runs that could not go on. They are not compared, and pass no gate.
	Failed []*result.Saved
}

// Primary names the default primary figures.
const Primary = "publish.p99,e2e.p99"

// compared names the figures of every comparison, including the default primary figures. There
// are eight on purpose: with five runs on each side the least possible p is 2/252, which is low
// enough for six other figures at 5% and too high for more.
var compared = []string{"publish.p50", "publish.p99", "publish.p99.9", "e2e.p50", "e2e.p99",
	figure.Rate, figure.Received, "cpu"}

// FindPrimary returns the primary figures of a list of names with commas between. A count cannot
// be primary.
func FindPrimary(names string) ([]figure.Figure, error) {
	out, err := figure.List(names)
	for _, f := range out {
		switch {
		case f.OfSearch():
			return nil, errors.New(f.Name + " is a figure of searches, and the others are of runs")
		case f.Unit == figure.Messages:
			return nil, errors.New(f.Name + " is a count and has no spread: check it with " +
				"--fail-if '" + f.Name + " > 0'")
		}
	}
	return out, err
}

// ByTarget groups runs by the names of their targets, as ByName does.
func ByTarget(runs []*result.Saved) []Side {
	names := make([]string, len(runs))
	for i, s := range runs {
		names[i] = s.Run.Name
	}
	return ByName(runs, names)
}

// ByName groups runs by names, one for each run, in the order of the targets in plimsoll run where
// that is known, and otherwise in the order of the runs.
func ByName(runs []*result.Saved, names []string) (out []Side) {
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		first, second := runs[a].Run.Trial, runs[b].Run.Trial
		if first == nil || second == nil {
			return 0
		}
		return first.Target - second.Target
	})
	for _, i := range order {
		at := slices.IndexFunc(out, func(side Side) bool { return side.Name == names[i] })
		if at < 0 {
			at, out = len(out), append(out, Side{Name: names[i]})
		}
		out[at].Runs = append(out[at].Runs, runs[i])
	}
	return out
}

// Comparison is the comparison of two sets of runs.
type Comparison struct {
	A, B Side
	// Within is set when a side has a single run. All intervals then show the variation within
	// runs.
	Within bool
	// Sequential is set when a side belongs to a set whose rounds ended when figures were known.
	// Then all intervals and p hold however often the set was looked at.
	Sequential bool
	// Pairing is set when the runs were compared pair by pair, in all figures that every run has.
	Pairing Pairing
	Primary []string // names of the figures that decide
	Figures []Effect // the primary ones first
	// Hints name differences that the runs cannot show, and the number of runs that would show
	// them.
	Hints []string

	pairs   []*result.Saved // runs of B, each at the index of its partner in A
	pairing Pairing         // of pairs, also if there are too few
}

// Effect is the difference of one figure between the sets.
type Effect struct {
	Figure figure.Figure
	A, B   Center
	// Times is B's figure divided by A's, a span if a figure is only bounded. Ratio is the value
	// of Times nearest to 1.
	Times figure.Span
	Ratio float64
	// Low and High are the interval of Times. Low is 0 or High infinite if the runs are too few
	// for an interval, or if a bound leaves it open.
	Low, High float64
	P         float64 // NaN: not tested
	Paired    bool    // tested pair by pair
	Shown     bool    // the difference is shown, at the level for all figures together
	// OwnError is plimsoll's own error in the figure, in ns; 0: not known. Blurred is set if
	// OwnError is the only reason why the difference is not shown.
	OwnError float64
	Blurred  bool

	// One of the two is set, or none if the uncertainty of Times is not known.
	within *Within // of an exact ratio
	ranks  *rankRatio

	scatter scatter
	alpha   float64 // the p at which the difference is shown, regardless of other figures
}

// Tested reports whether the runs were enough for a test of the figure.
func (e Effect) Tested() bool { return !math.IsNaN(e.P) }

// Bounded reports whether a bound leaves the ratio of the figures open.
func (e Effect) Bounded() bool {
	return !e.A.Median.Exact() || !e.B.Median.Exact() || !e.Times.Exact()
}

// New compares two sets of runs, which must not be empty. Objects says whether the sets may be
// compared.
func New(a, b Side, primary ...figure.Figure) (*Comparison, error) {
	return compareBy(figure.OfRuns(), a, b, primary)
}

// NewRates is New without latencies, for sets with an objection to those only. rate takes the
// place of primary figures that are latencies.
func NewRates(a, b Side, primary ...figure.Figure) (*Comparison, error) {
	primary = slices.DeleteFunc(slices.Clone(primary), figure.Figure.IsLatency)
	if len(primary) == 0 {
		primary = append(primary, figure.Named(figure.Rate))
	}
	return compareBy(slices.DeleteFunc(figure.OfRuns(), figure.Figure.IsLatency), a, b, primary)
}

func compareBy(figures []figure.Figure, a, b Side, primary []figure.Figure) (*Comparison, error) {
	if len(a.Runs) == 0 || len(b.Runs) == 0 {
		return nil, errors.New("one of the two sets has no run")
	}
	c := &Comparison{Within: min(len(a.Runs), len(b.Runs)) == 1}
	c.Sequential = !c.Within && sequential(slices.Concat(a.Runs, b.Runs))
	if c.Sequential {
		c.whole(&a, &b)
	}
	c.A, c.B = a, b
	for _, f := range primary {
		c.Primary = append(c.Primary, f.Name)
	}
	c.pairs, c.pairing = pair(a.Runs, b.Runs)
	if len(c.pairs) >= fewestPairs {
		c.Pairing = c.pairing
	}
	figures = slices.Concat(primary, figures) // a figure of a class is in no catalogue
	names := slices.Clone(c.Primary)
	for _, name := range compared {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		at := slices.IndexFunc(figures, func(f figure.Figure) bool { return f.Name == name })
		if at < 0 {
			continue
		}
		f := figures[at]
		if e, ok := c.effect(f); ok {
			c.Figures = append(c.Figures, e)
		} else if c.primary(f) {
			c.lack(f)
		}
	}
	c.decide()
	c.hint()
	return c, nil
}

// lack adds a hint that a primary figure decides nothing. If other figures are known, it adds none
// for a figure that no run has, such as the end-to-end latency of a load without consumers.
func (c *Comparison) lack(f figure.Figure) {
	known := func(s *result.Saved) bool { _, ok := f.Span(&s.Run); return ok }
	if len(c.Figures) == 0 || slices.ContainsFunc(slices.Concat(c.A.Runs, c.B.Runs), known) {
		c.Hints = append(c.Hints,
			fmt.Sprintf("%s is not known for every run, so it decides nothing: "+
				"measure longer, or name another figure by --primary", f.Name))
	}
}

// primary reports whether a figure is primary.
func (c *Comparison) primary(f figure.Figure) bool { return slices.Contains(c.Primary, f.Name) }

// Medians returns the figures that every run of a set has, with their centres.
func Medians(runs []*result.Saved) (figures []figure.Figure, centers []Center) {
	for _, name := range compared {
		f := figure.Named(name)
		if v, ok := of(runs, f); ok {
			figures = append(figures, f)
			centers = append(centers, centerOfSide(Side{Runs: runs}, v))
		}
	}
	return figures, centers
}

// effect compares one figure; ok is false when a run does not have it.
func (c *Comparison) effect(f figure.Figure) (Effect, bool) {
	a, okA := of(c.A.Runs, f)
	b, okB := of(c.B.Runs, f)
	if !okA || !okB {
		return Effect{}, false
	}
	e := Effect{Figure: f, A: centerOfSide(c.A, a), B: centerOfSide(c.B, b), High: math.Inf(1),
		OwnError: ownError(c.A.Runs, c.B.Runs, f)}
	c.ratio(&e, a, b)
	e.Ratio, e.P, e.scatter = min(max(e.Times.Least, 1), e.Times.Most), e.p(), e.scattered()
	if low, high, ok := e.interval((1 - confidence) / 2); ok {
		e.Low, e.High = low.Least, high.Most
	}
	return e, true
}
