package study

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// alike is the greatest factor by which a load, or a range, may differ from the published one. With
// it on both sides of a ratio, in opposite directions, the ratio changes by a factor of less than
// 1.5.
const alike = 1.2

// sameLoad reports whether two shares of a peak are comparable. In the simplest queue the wait is
// in proportion to share / (1 - share), so that must be alike: 30% of a peak stands for 32%, and
// 98% does not stand for 99%. A share from 100% is an overload, and only comparable to another.
func sameLoad(theirs, ours float64) bool {
	if theirs >= 1 || ours >= 1 {
		return theirs >= 1 && ours >= 1
	}
	return near(theirs/(1-theirs), ours/(1-ours))
}

// near reports whether two values above 0 are alike.
func near(a, b float64) bool {
	return a > 0 && b > 0 && math.Abs(math.Log(a/b)) <= math.Log(alike)
}

// Load is the load of a claim's side as a share of the peak of its own system and level.
type Load struct {
	At   string `json:"at"`
	Peak string `json:"peak,omitempty"` // the cell of the peak; empty: there is none
	// Theirs and Ours are shares of the published and of the measured peak; 0: not known.
	Theirs float64 `json:"theirs,omitempty"`
	Ours   float64 `json:"ours,omitempty"`
}

// String says at which share of its peak a side is.
func (l Load) String() string {
	return fmt.Sprintf("%s is at %s of its peak, theirs at %s", l.At, percent(l.Ours),
		percent(l.Theirs))
}

// percent prints a share, close to the whole with a decimal.
func percent(share float64) string {
	digits := 0
	if math.Abs(1-share) < 0.05 {
		digits = 1
	}
	return strconv.FormatFloat(share*100, 'f', digits, 64) + "%"
}

// loads returns the loads of the sides whose rate was published, and the doubts that follow. It
// leaves out the rounds at another load if others remain.
func (q *question) loads(of, to *side) (all []Load, doubts []Doubt) {
	for _, s := range []*side{of, to} {
		r := q.study.rate(s.rounds[0].Rate)
		if r == nil || r.Published <= 0 || q.figure.OfSearch() {
			continue
		}
		l := q.load(s, r)
		all = append(all, l)
		switch {
		case l.Peak == "":
			doubts = append(doubts, Doubt{"table " + r.Table + " has no peak of the system and " +
				"level of " + s.at, "a peak for it"})
		case l.Theirs == 0:
			doubts = append(doubts, Doubt{"the share of the published peak at which " + s.at +
				" was is not known", "a published peak for it"})
		case l.Ours == 0:
			doubts = append(doubts, Doubt{"no peak of the system was measured for " + s.at,
				"a search in " + r.Table + " at " + l.Peak + " that meets a limit of the system"})
		case !sameLoad(l.Theirs, l.Ours):
			doubts = append(doubts, Doubt{l.String(),
				"a load at " + percent(l.Theirs) + " of the peak of " + s.at})
		}
	}
	return all, doubts
}

// load returns the load of a side at a published rate. Each round is a share of its own round's
// peak.
func (q *question) load(s *side, r *Rate) Load {
	l := Load{At: s.at, Peak: q.study.ownPeak(q.plan, s.rounds[0].Cell)}
	published := q.plan.find(q.claim.Table, s.at, 0)
	if at := q.study.ownPeak(q.plan, published); at != "" {
		l.Theirs = q.study.publishedShare(r, at)
	}
	s.prefer(func(one round) bool { return sameLoad(l.Theirs, q.share(one, r, l.Peak)) })
	var shares []float64
	for _, one := range s.rounds {
		if share := q.share(one, r, l.Peak); share > 0 {
			shares = append(shares, share)
		}
	}
	l.Ours = mean(shares)
	return l
}

// share returns the load of a round as a share of the peak at a place in the same round; 0: none
// is known.
func (q *question) share(one round, r *Rate, at string) float64 {
	for _, p := range q.at(r.Table, at, 0) {
		if peak := p.m.peak(); p.Round == one.Round && peak > 0 {
			return one.offered() / peak
		}
	}
	return 0
}

// offered returns the rate of a cell's workload; 0: it has none.
func (c *Cell) offered() float64 {
	if w := c.workload(); w != nil && len(w.Load.Segments) > 0 {
		return w.Load.Segments[0].From
	}
	return 0
}

// ownPeak returns the place, among those of a cell's rate, of the peak of the cell's own system at
// its own level; empty: the rate has none.
func (s *Study) ownPeak(p *Plan, c *Cell) string {
	r := s.rate(c.Rate)
	for _, at := range r.At {
		if peak := p.find(r.Table, at, 0); peak != nil && peak.grouped() == c.grouped() {
			return at
		}
	}
	return ""
}

// publishedShare returns the published rate as a share of the published peak at a place; 0: not
// known.
func (s *Study) publishedShare(r *Rate, at string) float64 {
	t := s.Table(r.Table)
	share := 0.0
	for i, name := range t.Figures {
		ref := t.Reference(at, i)
		if ref.Value <= 0 {
			continue
		}
		switch figureOf(name).Unit {
		case figure.PerSecond:
			return float64(r.Published) / ref.Value
		case figure.BytesPerSecond:
			if w := s.publishedWorkload(t, at); w != nil {
				share = float64(r.Published) * w.Message.Mean() / ref.Value
			}
		}
	}
	return share
}

// publishedWorkload returns the workload of the published size at a place; nil: it cannot be made.
func (s *Study) publishedWorkload(t *Table, at string) *workload.Workload {
	full, _ := s.Scale(Full) // it exists
	c, err := s.cell(t, t.place(at), full, 0, 0)
	if err != nil {
		return nil
	}
	return c.workload()
}

// varied are the quantities whose range a claim may be about.
var varied = []struct {
	name string
	of   func(*workload.Workload) float64
}{
	{"partitions", func(w *workload.Workload) float64 { return float64(w.Partitions) }},
	{"subscriptions", func(w *workload.Workload) float64 { return float64(w.Subscriptions) }},
	{"producers", func(w *workload.Workload) float64 { return float64(w.Producers) }},
	{"consumers", func(w *workload.Workload) float64 { return float64(w.Consumers) }},
	{"message sizes", func(w *workload.Workload) float64 { return w.Message.Mean() }},
}

// rangeOf is the ratio of a quantity between the two sides of a claim.
type rangeOf struct {
	name         string
	theirs, ours float64
}

// rangesOf returns what a claim about one target varies, in the published workloads or in those at
// this scale.
func (q *question) rangesOf(of, to *Cell) (out []rangeOf) {
	t := q.study.Table(q.claim.Table)
	if q.study.targetAt(of) != q.study.targetAt(to) {
		return nil // systems may need unlike numbers for the same load
	}
	a, b := q.study.publishedWorkload(t, of.At), q.study.publishedWorkload(t, to.At)
	here, there := of.workload(), to.workload()
	if a == nil || b == nil || here == nil || there == nil {
		return nil
	}
	for _, v := range varied {
		theirs, ours := v.of(a)/v.of(b), v.of(here)/v.of(there)
		if theirs != 1 || ours != 1 {
			out = append(out, rangeOf{v.name, theirs, ours})
		}
	}
	return out
}

// ranges returns the doubts that follow from another range than the published one.
func (q *question) ranges(of, to side) (doubts []Doubt) {
	var unlike, wanted []string
	for _, v := range q.rangesOf(of.rounds[0].Cell, to.rounds[0].Cell) {
		if !near(v.theirs, v.ours) {
			unlike = append(unlike, fmt.Sprintf("%s vary by %s, theirs by %s", v.name,
				times(v.ours), times(v.theirs)))
			wanted = append(wanted, v.name+" in the ratio of "+times(v.theirs))
		}
	}
	if len(unlike) == 0 {
		return nil
	}
	return []Doubt{{strings.Join(unlike, ", "), strings.Join(wanted, ", ")}}
}

// times prints how far apart two values are, whichever is greater.
func times(ratio float64) string {
	if ratio > 0 && ratio < 1 {
		ratio = 1 / ratio
	}
	return quantity.Decimal(ratio)
}
