package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
)

// question is a claim with the results that answer it.
type question struct {
	results
	claim  Claim
	figure Figure
}

func (r results) asks(c Claim) *question { return &question{r, c, figureOf(c.Figure)} }

// side is a place of a claim with its rounds, in their order. It has none where the plan does not
// have the place.
type side struct {
	figure Figure
	at     string
	rounds []round
	tried  []int  // the numbers of the rounds that were tried, even if they are left out
	failed *Doubt // of the rounds in which the system itself did not keep up
	beyond *Doubt // of the rounds that are left out although the system carried more in them
}

// sides returns the places of the claim: as published, or at a durability level. A further round
// that one of them still waits for is left out of both, because a claim is looked at between
// rounds.
func (q *question) sides(level int) (of, to side) {
	other := q.figure
	if q.claim.ofOne() {
		other = figureOf(q.claim.ToFigure)
	}
	of, to = q.side(q.claim.Of, level, q.figure), q.side(q.claim.To, level, other)
	from := math.MaxInt
	for _, r := range slices.Concat(of.rounds, to.rounds) {
		if r.waits() && r.Round > q.study.RoundsAt(q.plan.Scale) {
			from = min(from, r.Round)
		}
	}
	for _, s := range []*side{&of, &to} {
		s.rounds = slices.DeleteFunc(s.rounds, func(r round) bool { return r.Round >= from })
		for _, r := range s.rounds {
			if !r.waits() {
				s.tried = append(s.tried, r.Round)
			}
		}
	}
	return of, to
}

// side returns a place of the claim with a figure.
func (q *question) side(at string, level int, f Figure) side {
	equal := 0
	if c := q.plan.find(q.claim.Table, at, 0); level > 0 && c != nil && c.level() != level {
		equal = level
	}
	return side{figure: f, at: at, rounds: q.at(q.claim.Table, at, equal)}
}

// prefer leaves out all but some of the rounds, and reports whether there are any of those; if
// there are none, it leaves the others.
func (s *side) prefer(some func(round) bool) bool {
	kept := slices.DeleteFunc(slices.Clone(s.rounds), func(r round) bool { return !some(r) })
	if len(kept) > 0 {
		s.rounds = kept
	}
	return len(kept) > 0
}

// ended reports whether a side is not measured again, because its last round failed.
func (s *side) ended() bool {
	n := len(s.rounds)
	return n > 0 && s.rounds[n-1].State == experiment.Failed
}

// isDone reports whether a round was measured.
func isDone(r round) bool { return r.State == experiment.Done }

// values returns the figure of the rounds that have it.
func (s *side) values(of func(Measured) float64) (out []float64) {
	for _, r := range s.rounds {
		if v := of(r.m); v > 0 && !math.IsInf(v, 0) {
			out = append(out, v)
		}
	}
	return out
}

// remark says why a round does not have the figure.
func (s *side) remark(r round) string { return r.remark(s.figure.limit(r.m), false).words }

// several stands for the limit of a side most of whose rounds were limited, by no one resource.
const several = "several resources"

// limit returns what limited most rounds of a side.
func (s *side) limit() string {
	times := map[string]int{}
	for _, r := range s.rounds {
		times[s.figure.limit(r.m)]++
	}
	for limit, n := range times {
		if 2*n > len(s.rounds) {
			return limit
		}
	}
	if 2*times[""] >= len(s.rounds) {
		return ""
	}
	return several
}

// unobserved reports whether nothing is known of the resources of any round.
func (s *side) unobserved() bool {
	return len(s.rounds) > 0 && !slices.ContainsFunc(s.rounds, func(r round) bool {
		return !r.m.unobserved()
	})
}

// unlimited reports whether nothing limited most rounds of a side. Rounds whose limits differ do
// not show that.
func (s *side) unlimited() bool {
	n := 0
	for _, r := range s.rounds {
		if r.m.unlimited() {
			n++
		}
	}
	return 2*n > len(s.rounds)
}

// reply answers the claim at a durability level; 0: as published, with the published figures of a
// judgement.
func (q *question) reply(level int, theirs *Judgement) Reply {
	of, to := q.sides(level)
	var r Reply
	if len(of.rounds) > 0 && len(to.rounds) > 0 {
		a, b := of.rounds[0], to.rounds[0]
		r.OfLevel, r.ToLevel = a.level(), b.level()
		r.places = []string{a.Place(), b.Place()}
	}
	known, ended := true, of.ended() || to.ended()
	for _, s := range []*side{&of, &to} {
		doubt, has := q.keep(s)
		if known = known && has; doubt != nil {
			r.doubt(*doubt)
		}
	}
	if !known {
		if !slices.ContainsFunc(of.rounds, isDone) || !slices.ContainsFunc(to.rounds, isDone) {
			r.Answer = NotMeasured
		}
		r.say(nil)
		return r
	}
	loads, doubts := q.loads(&of, &to)
	r.Loads = loads
	r.doubt(doubts...)
	r.doubt(q.ranges(of, to)...)
	whole := q.compare(&r, of, to)
	figures := r.figures(whole, theirs)
	if doubt := q.figure.unlike(of, to); doubt != nil {
		if why := q.oneSided(r.Ours, of, to); why != "" {
			figures = append(figures, why)
		} else {
			r.doubt(*doubt)
		}
	}
	for _, s := range []*side{&of, &to} {
		figures = append(figures, q.leftOut(&r, s.failed, s == &of, false)...)
		figures = append(figures, q.leftOut(&r, s.beyond, s == &of, true)...)
	}
	r.tried = max(len(of.tried), len(to.tried))
	q.decide(&r)
	r.scatters = r.scatters && !ended // the rounds of one side alone decide little
	r.say(figures)
	return r
}

// leftOut treats rounds of a side that are left out: nil, there are none. With better, its system
// did better in them, otherwise worse. If they could only confirm the answer, it says so; otherwise
// they are a doubt.
func (q *question) leftOut(r *Reply, rounds *Doubt, of, better bool) (said []string) {
	if rounds == nil {
		return nil
	}
	if word := q.moves(r.Ours, of, better); word != "" {
		return []string{rounds.Why + ", with which the ratio could only be " + word}
	}
	r.doubt(*rounds)
	return nil
}

// doubt adds reasons why the claim is not decided, each once.
func (r *Reply) doubt(all ...Doubt) {
	for _, d := range all {
		if !slices.Contains(r.Doubts, d) {
			r.Doubts = append(r.Doubts, d)
		}
	}
}

// keep leaves out the rounds of a side that do not have the figure, and those that must not be
// compared if others remain. It returns the doubt that follows, and whether the side has the
// figure.
func (q *question) keep(s *side) (doubt *Doubt, has bool) {
	all := *s
	if len(all.rounds) == 0 {
		return &Doubt{s.at + " is not in the plan", "a measurement of " + s.at}, false
	}
	if !s.prefer(func(r round) bool { v, known := s.figure.in(r); return known && v > 0 }) {
		s.prefer(isDone)
		return &Doubt{s.at + ": " + s.remark(s.rounds[0]),
			"a measurement of " + s.at}, false
	}
	if s.prefer(func(r round) bool { return s.figure.unfit(r.m) == nil }) {
		s.failed, s.beyond = all.failures(), s.exceeded(all)
		return nil, true
	}
	unfit := s.figure.unfit(s.rounds[0].m)
	return &Doubt{s.at + " " + unfit.Why, unfit.Decides}, true
}

// failures says in how many of all rounds the system itself did not keep up, or became slower; nil:
// in none. A round that plimsoll or the warm-up spoiled is none of them.
func (s *side) failures() *Doubt {
	n, why, decides := 0, "", ""
	for _, r := range s.rounds {
		if r.State != experiment.Done || ofLoad(s.figure.limit(r.m)) ||
			r.m.unsteady() == verdict.Cold || r.m.open() {
			continue
		}
		unfit := s.figure.unfit(r.m)
		switch v, known := s.figure.Value(r.m); {
		case unfit != nil:
			why, decides = unfit.Why, unfit.Decides
		case !known || v <= 0:
			why, decides = "had no such figure: "+s.remark(r), aLoadItCarries
		default:
			continue
		}
		n++
	}
	if n == 0 {
		return nil
	}
	return &Doubt{fmt.Sprintf("%s %s (in %d of %d rounds)", s.at, why, n, len(s.rounds)),
		decides + " in each round"}
}

// exceeded says in which of all rounds, which are left out, a search went on beyond the limits of
// those that count; nil: in none.
func (s *side) exceeded(all side) *Doubt {
	limit := 0.0
	for _, r := range s.rounds {
		limit = max(limit, s.figure.unstable(r.m))
	}
	for _, r := range all.rounds {
		if s.figure.OfSearch() && limit > 0 && s.figure.unfit(r.m) != nil &&
			s.figure.value(r.m) > limit {
			return &Doubt{fmt.Sprintf("%s carried more in round %d, whose search met no limit of "+
				"the system", s.at, r.Round), "longer searches"}
		}
	}
	return nil
}

// compare sets the ratio of two sides with its interval. The ratio is that of the figure, which is
// also returned, or is related to a resource that limited both sides.
func (q *question) compare(r *Reply, of, to side) (whole float64) {
	f := q.figure
	if q.claim.ofOne() {
		q.within(r, of, to)
		return r.Ours
	}
	q.ratio(r, of, to, f.value, f.value)
	switch {
	case len(of.rounds) == 1 && len(to.rounds) == 1:
		r.Low, r.High = f.interval(of.rounds[0].m, to.rounds[0].m)
	case r.Rounds < 2:
		r.Low, r.High = 0, 0 // a single run does not show how its side scatters
	case f.OfSearch() && r.Low > 0:
		q.withinBrackets(r, of, to)
	}
	q.withOwnError(r, of, to)
	whole = r.Ours
	if limit := of.limit(); limit != "" && limit != several && sameLimit(of, to) {
		q.limited(r, limit, of, to)
	}
	return whole
}

// within sets the ratio of two figures of one cell. Its interval is that of the ratios in the
// rounds that have both.
func (q *question) within(r *Reply, of, to side) {
	of.rounds = slices.DeleteFunc(slices.Clone(of.rounds), func(one round) bool {
		return !slices.ContainsFunc(to.rounds, func(r round) bool { return r.Cell == one.Cell })
	})
	if len(of.rounds) == 0 {
		r.doubt(Doubt{"no round of " + of.at + " has both figures", "more rounds"})
		r.least, r.most = 1, 1
		return
	}
	q.ratio(r, of, to, func(m Measured) float64 {
		return of.figure.value(m) / to.figure.value(m)
	}, nil)
	q.withOwnError(r, of, to)
}

// withinBrackets sets the interval of a ratio of peaks, each of which lies in a bracket, between a
// stable and an unstable rate. The geometric middles of the brackets show the scatter of the
// rounds. A middle may also be wrong by half of its bracket, in the same direction in all rounds.
// The two errors are independent, so the interval reaches to the root of the sum of their squares.
func (q *question) withinBrackets(r *Reply, of, to side) {
	f := q.figure
	middle := func(m Measured) float64 { return math.Sqrt(f.value(m) * f.unstable(m)) }
	half := func(m Measured) float64 { return math.Sqrt(f.unstable(m) / f.value(m)) }
	stable := r.Ours
	if q.ratio(r, of, to, middle, middle); r.Low > 0 {
		r.bracket = math.Log(mean(of.values(half)) * mean(to.values(half)))
		reach := math.Exp(math.Hypot(math.Log(r.High/r.Ours), r.bracket))
		r.Low, r.High = r.Ours/reach, r.Ours*reach
	}
	r.Ours = stable
}

// withOwnError widens the interval of a ratio of latencies by what plimsoll's own error may have
// added to either side.
func (q *question) withOwnError(r *Reply, of, to side) {
	share := func(s side) float64 {
		if certain := mean(s.values(s.figure.certain)); certain > 0 {
			return certain / mean(s.values(s.figure.value))
		}
		return 1 // the side is a doubt already
	}
	r.least, r.most = share(of), 1/share(to)
	r.Low, r.High = r.Low*r.least, r.High*r.most
}

// fewestLooked is the least number of rounds of each side for an interval in a study that adds
// rounds, where nothing else shows how they scatter: two may be alike by chance.
const fewestLooked = 3

// mostReach is the factor to which an interval around a ratio reaches at most, so that its ends are
// numbers. It is far beyond every bound of a claim.
const mostReach = 1e9

// ratio sets the ratio of two sides' values with its interval, which is 0 to 0 if it is not known.
// Without useTo the values of the first side are ratios already.
func (q *question) ratio(r *Reply, of, to side, useOf, useTo func(Measured) float64) {
	look := q.look(of, to)
	others, fewest := q.scatter(useOf), fewestLooked
	if others.Dof > 0 {
		fewest = 2
	}
	a := of.values(useOf)
	if r.Rounds = len(a); useTo == nil {
		r.known = compare.RepeatedRatios(a, look, others)
	} else {
		b := to.values(useTo)
		r.Rounds = min(len(a), len(b))
		r.known = compare.Repeated(b, a, look, others)
	}
	r.Ours, r.Low, r.High, r.bracket = r.known.Ratio, r.known.Low, r.known.High, 0
	switch {
	case q.study.AtMost > 0 && (look < 1 || r.Rounds < fewest):
		r.Low, r.High = 0, 0
	case r.High > mostReach*r.Ours:
		r.Low, r.High = r.Ours/mostReach, r.Ours*mostReach
	}
}

// look returns which look at the claim the sides' rounds allow, if rounds are added until claims
// are decided: the first is after the planned rounds, and each further round of a side, or of both,
// gives another one. The intervals of all looks hold together. 0: the planned rounds are not over,
// or none are added.
func (q *question) look(of, to side) int {
	planned, further := q.study.RoundsAt(q.plan.Scale), map[int]bool{}
	for _, s := range []side{of, to} {
		if q.study.AtMost == 0 || slices.Max(append(s.tried, 0)) < planned {
			return 0
		}
		for _, number := range s.tried {
			if number > planned {
				further[number] = true
			}
		}
	}
	return 1 + len(further)
}

// scatter is what the rounds of the study's cells show of how a value scatters: of those that were
// measured in the same way. A few rounds of one cell show little.
func (q *question) scatter(use func(Measured) float64) stats.Scatter {
	var samples [][]float64
	seen := map[string]bool{}
	for _, rounds := range q.byPlace(q.measuredAlike) {
		var fit side
		for _, r := range rounds {
			if isDone(r) && !seen[r.Run] && q.figure.unfit(r.m) == nil {
				seen[r.Run] = r.Run != "" // cells that are equal share a run
				fit.rounds = append(fit.rounds, r)
			}
		}
		samples = append(samples, fit.values(use))
	}
	return compare.ScatterOf(samples)
}

// measuredAlike reports whether a cell is measured in the way of the claim's cells.
func (q *question) measuredAlike(c *Cell) bool {
	a, b := q.study.Table(c.Table), q.study.Table(q.claim.Table)
	return a == b || a != nil && b != nil && a.Measure == b.Measure
}

// figures are the measured and the published ratio, and the loads, in words.
func (r *Reply) figures(whole float64, theirs *Judgement) []string {
	ours := "ours is " + r.Ratio()
	if r.About != "" {
		ours = r.About + " ours is " + r.Ratio()
		if r.Ours != whole {
			ours += ", as a whole " + Times(whole)
		}
	}
	if theirs != nil && theirs.Theirs > 0 {
		ours += fmt.Sprintf(", theirs %s (%s to %s)", Times(theirs.Theirs), theirs.TheirOf,
			theirs.TheirTo)
		if theirs.against {
			ours += ", which contradicts the claim"
		}
	}
	out := []string{ours}
	if r.least < 1 || r.most > 1 {
		out = append(out, fmt.Sprintf("without plimsoll's own error it would be %s to %s",
			Times(r.Ours*r.least), Times(r.Ours*r.most)))
	}
	for _, l := range r.Loads {
		at := l.String()
		if l.Theirs > 0 && sameLoad(l.Theirs, l.Ours) && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// say sets the sentence of a reply: its figures, its doubts and what would decide it.
func (r *Reply) say(figures []string) {
	if len(r.Doubts) > 0 {
		r.Answer = cmp.Or(r.Answer, NotDecided)
	}
	for _, d := range r.Doubts {
		figures = append(figures, d.Why)
	}
	r.Sentence = strings.Join(figures, "; ")
	if decides := r.Decides(); len(decides) > 0 {
		r.Sentence += "; to decide it: " + strings.Join(decides, ", ")
	}
}

// Decides returns what would decide the claim, each once.
func (r *Reply) Decides() (out []string) {
	for _, d := range r.Doubts {
		if !slices.Contains(out, d.Decides) {
			out = append(out, d.Decides)
		}
	}
	return out
}

// mostShown is the factor from which on an interval around a ratio says nothing.
const mostShown = 1000

// Ratio prints the measured ratio with its interval, if that says something.
func (r *Reply) Ratio() string {
	if r.Low <= 0 || r.High > mostShown*r.Ours {
		return Times(r.Ours)
	}
	return fmt.Sprintf("%s (%s to %s)", Times(r.Ours), Times(r.Low), Times(r.High))
}
