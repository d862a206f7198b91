package compare

import (
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// LeastRounds is the least number of rounds of a set that ends when its figures are known: fewer
// may be alike by chance, as of a system that starts in one of several states.
const LeastRounds = fewestPairs

// Unforeseen is the number of further rounds when they cannot be told.
const Unforeseen = 1 << 20

// Goal says how well the primary figures of a set of rounds are to be known.
type Goal struct {
	// Share is how far the interval of a figure, and of the ratio of two, may reach above its
	// value. It may reach as far below it, by the same factor.
	Share   float64
	Primary []figure.Figure
}

// Known says how well the primary figures of a set are known after its rounds so far. It is a pure
// function of the runs. All intervals hold however often they are looked at.
type Known struct {
	Share   float64 // as in Goal
	Rounds  int
	RoundNs int64 // from the start of a round to the start of the next, in the middle
	Figures []KnownFigure
	Pairs   []KnownPair
	// Without are figures of targets that have no value in any round.
	Without []KnownFigure
}

// KnownFigure is a primary figure of a target.
type KnownFigure struct {
	Target string
	Figure figure.Figure
	Center Center // the geometric mean of the rounds
	// Reach is how far the interval of 95% reaches above the value, as a share; infinite: not
	// known.
	Reach float64
	More  int // further rounds until the interval is narrow enough; 0: it is
	// Why says why rounds have no value; empty: all have one.
	Why string
}

// Relation is what is known of a figure of two targets.
type Relation string

// The relations.
const (
	Undecided Relation = "not decided"
	Apart     Relation = "differ"
	Alike     Relation = "equal within the bound"
	// Hidden: they differ by less than plimsoll's own error explains, and more rounds do not help.
	Hidden Relation = "own error"
)

// KnownPair is a primary figure of two targets.
type KnownPair struct {
	A, B   string
	Figure figure.Figure
	Rounds int // with both values
	// Ratio is B's figure divided by A's. Low and High are its interval, at the level that is left
	// to the pair; 0 and infinite: not known.
	Ratio, Low, High float64
	Relation         Relation
	More             int // further rounds until it is decided, if the ratio stays; 0: it is

	within Within
	hidden bool // plimsoll's own error explains the difference
}

// Precise reports whether the interval of each figure is narrow enough.
func (k *Known) Precise() bool {
	return len(k.Figures) > 0 &&
		!slices.ContainsFunc(k.Figures, func(f KnownFigure) bool { return f.More > 0 })
}

// Decided reports whether the relation of each pair is known.
func (k *Known) Decided() bool {
	return len(k.Pairs) > 0 &&
		!slices.ContainsFunc(k.Pairs, func(p KnownPair) bool { return p.Relation == Undecided })
}

// Ends reports whether no further round is needed, or whether none can help: no target has a value.
func (k *Known) Ends() bool {
	return k.Rounds >= LeastRounds && (len(k.Figures) == 0 || k.Precise() || k.Decided())
}

// More is the number of further rounds that the set needs at least: until all intervals are narrow
// enough, or until all pairs are decided.
func (k *Known) More() int {
	precise, decided := Unforeseen, Unforeseen
	if len(k.Figures) > 0 {
		precise = 0
	}
	for _, f := range k.Figures {
		precise = max(precise, f.More)
	}
	if len(k.Pairs) > 0 {
		decided = 0
	}
	for _, p := range k.Pairs {
		decided = max(decided, p.More)
	}
	return min(precise, decided)
}

// KnownCells says how well the figures of each cell of a sweep are known, if the sweep measures
// cells until they are; otherwise nil. runs are the judged runs of the cells, and further those of
// the further measurements; nil where there is none. A cell is judged by itself, because cells have
// different loads.
func KnownCells(p *sweep.Plan, runs, further []*result.Saved) ([]*Known, error) {
	if p.Until <= 0 {
		return nil, nil
	}
	primary, err := FindPrimary(p.Primary)
	if err != nil {
		return nil, err
	}
	of := make([][]*result.Saved, len(p.Cells))
	for i, s := range slices.Concat(runs, further) {
		cell := i
		if i >= len(p.Cells) {
			cell = p.Further[i-len(p.Cells)].Of
		}
		if s != nil && s.Run.Trial != nil && s.Run.State == result.Complete {
			of[cell] = append(of[cell], s)
		}
	}
	out := make([]*Known, len(of))
	for i, all := range of {
		out[i] = NewKnown(Goal{p.Until, primary}, all)
	}
	return out, nil
}

// GoalOf returns the goal of the set that the runs belong to; false: they belong to no set that
// ends when figures are known, or to several.
func GoalOf(runs []*result.Saved) (Goal, bool) {
	if len(runs) == 0 {
		return Goal{}, false
	}
	for _, s := range runs {
		t := s.Run.Trial
		if t == nil || t.Until <= 0 || t.Set != runs[0].Run.Trial.Set {
			return Goal{}, false
		}
	}
	of := runs[0].Run.Trial
	primary, err := FindPrimary(of.Primary)
	return Goal{of.Until, primary}, err == nil
}

// Rounds holds a figure of a target in each round that has a value above 0.
type Rounds struct {
	Target string
	Figure figure.Figure
	Values map[int]float64
	Why    string // why rounds have no value; empty: all have one

	runs []*result.Saved // those of the values; nil: plimsoll's own error does not matter
}

// NewKnown judges the runs of a set. Runs that are not ranked by a figure give no value of it.
func NewKnown(goal Goal, runs []*result.Saved) *Known {
	targets, last := map[int][]*result.Saved{}, 0
	for _, s := range runs {
		t := s.Run.Trial
		targets[t.Target] = append(targets[t.Target], s)
		last = max(last, t.Round)
	}
	var all []Rounds
	for _, f := range goal.Primary {
		for _, target := range slices.Sorted(maps.Keys(targets)) {
			all = append(all, roundsOf(targets[target], f))
		}
	}
	return Judge(goal.Share, last, roundNs(runs), all)
}

// Judge judges figures of targets after some rounds. Figures of one name are compared in pairs.
func Judge(share float64, rounds int, roundNs int64, all []Rounds) *Known {
	k := &Known{Share: share, Rounds: rounds, RoundNs: roundNs}
	some := map[string]bool{} // figures that a target has
	for _, r := range all {
		some[r.Figure.Name] = some[r.Figure.Name] || len(r.Values) > 0
	}
	for i, a := range all {
		switch {
		case len(a.Values) > 0:
			k.Figures = append(k.Figures, k.figure(a))
		case some[a.Figure.Name] || len(some) == 1:
			k.Without = append(k.Without, KnownFigure{Target: a.Target, Figure: a.Figure,
				Why: a.Why, Reach: math.Inf(1)})
		}
		for _, b := range all[i+1:] {
			if a.Figure.Name == b.Figure.Name && len(a.Values) > 0 && len(b.Values) > 0 {
				k.Pairs = append(k.Pairs, k.pair(a, b))
			}
		}
	}
	k.relate()
	return k
}

// roundsOf collects a figure of a target.
func roundsOf(runs []*result.Saved, f figure.Figure) Rounds {
	out := Rounds{Target: runs[0].Run.Name, Figure: f, Values: map[int]float64{}}
	for _, s := range runs {
		of, why := verdict.RankingOf(&s.Run)
		v, known := f.Value(&s.Run)
		switch {
		case !of.Allows(f.IsLatency()):
			out.Why = why.Sentence
		case !known || v <= 0:
			out.Why = "the figure is missing or only bounded"
		default:
			out.Values[s.Run.Trial.Round] = v
			out.runs = append(out.runs, s)
		}
	}
	return out
}

// figure judges a figure of a target that has values.
func (k *Known) figure(r Rounds) KnownFigure {
	f := KnownFigure{Target: r.Target, Figure: r.Figure, Why: r.Why}
	center, w := r.center()
	f.Center, f.Reach = center, math.Expm1(w.reach((1-confidence)/2))
	f.More = k.more(len(r.Values), w, func(w Within) bool {
		return w.reach((1-confidence)/2) <= math.Log1p(k.Share)
	})
	return f
}

// center is the geometric mean of all rounds, in their order.
func (r Rounds) center() (Center, Within) {
	var values []float64
	for _, round := range slices.Sorted(maps.Keys(r.Values)) {
		values = append(values, r.Values[round])
	}
	return sequentialCenter(values)
}

// more returns the number of further rounds until an uncertainty is small enough; 0: it is. It
// assumes that values scatter as so far, and that as many rounds have no value.
func (k *Known) more(n int, w Within, enough func(Within) bool) int {
	if n < 2 {
		return Unforeseen
	}
	least := max(n, LeastRounds)
	further := sort.Search(Unforeseen, func(i int) bool {
		then := w
		then.dof = float64(least + i - 1)
		then.se = w.se * math.Sqrt(float64(n)/(then.dof+1))
		return enough(then)
	})
	if further == Unforeseen {
		return Unforeseen
	}
	return ((least+further-n)*k.Rounds + n - 1) / n
}

// pair compares two targets; relate says what follows.
func (k *Known) pair(a, b Rounds) KnownPair {
	p := KnownPair{A: a.Target, B: b.Target, Figure: a.Figure, Ratio: 1}
	var ofA, ofB []float64
	for _, round := range slices.Sorted(maps.Keys(b.Values)) {
		if v, is := a.Values[round]; is {
			ofA, ofB = append(ofA, v), append(ofB, b.Values[round])
		}
	}
	if p.Rounds = len(ofA); p.Rounds > 0 {
		p.Ratio, p.within = pairedRatio(ofA, ofB, true)
		e := Effect{OwnError: ownError(a.runs, b.runs, a.Figure)}
		e.A, _ = a.center()
		e.B, _ = b.center()
		p.hidden = math.Abs(p.Ratio-1) < resolution || e.blurred()
	}
	return p
}

// pairsLevel is the probability that any two equal targets are called different in a primary
// figure: that of a comparison (see decide). Targets that differ by more than the bound are called
// equal with as small a probability.
const pairsLevel = level * primaryShare

// relate decides all pairs together: which differ, by Holm's method; and which are equal within the
// bound, each by an interval with its part of the level.
func (k *Known) relate() {
	ps, found := make([]float64, len(k.Pairs)), 0
	for i, p := range k.Pairs {
		if ps[i] = 1; p.Rounds >= LeastRounds {
			ps[i] = p.within.p(p.Ratio)
		}
	}
	apart := stats.Holm(ps, pairsLevel)
	for _, is := range apart {
		if is {
			found++
		}
	}
	each := pairsLevel / float64(len(k.Pairs)) / 2
	left := pairsLevel / float64(max(1, len(k.Pairs)-found)) / 2
	for i := range k.Pairs {
		p := &k.Pairs[i]
		p.Low, p.High, p.Relation = 0, math.Inf(1), Undecided
		if p.Rounds > 1 {
			p.Low, p.High = p.within.Interval(p.Ratio, each)
		}
		off, bound := math.Abs(math.Log(p.Ratio)), math.Log1p(k.Share)
		alike := func(w Within) bool { return off+w.reach(each) <= bound }
		switch {
		case apart[i] && p.hidden:
			p.Relation = Hidden
		case apart[i]:
			p.Relation = Apart
		case p.Rounds >= LeastRounds && alike(p.within):
			p.Relation = Alike
		default:
			p.More = max(1, k.more(p.Rounds, p.within,
				func(w Within) bool { return off > w.reach(left) || alike(w) }))
		}
	}
}

// roundNs returns the time from the start of a round to the start of the next, in the middle, so
// that a pause between two processes does not count. Of one round it is the round's own length.
func roundNs(runs []*result.Saved) int64 {
	starts, end := map[int]int64{}, int64(0)
	for _, s := range runs {
		at, round := s.Run.StartedAt.UnixNano(), s.Run.Trial.Round
		if first, is := starts[round]; !is || at < first {
			starts[round] = at
		}
		end = max(end, s.Run.EndedAt.UnixNano())
	}
	var lengths []float64
	last := int64(0)
	for _, at := range slices.Sorted(maps.Values(starts)) {
		if last > 0 {
			lengths = append(lengths, float64(at-last))
		}
		last = at
	}
	if len(lengths) == 0 {
		return max(0, end-last)
	}
	return int64(stats.Median(lengths))
}
