package peak

import (
	"cmp"
	"math"
	"slices"
)

// The bounds of a search that nobody sets.
const (
	// MostTrials is how many runs a search makes at most: about ten to find the
	// bracket, and the rest to try both of its ends again.
	MostTrials = 20
	// FewestMessages is how many a trial must offer at least: fewer support no
	// percentile worth the name.
	FewestMessages = 100
	// ConfirmTimes is how many times as long as a trial a confirmation is.
	ConfirmTimes = 2
	// MostStretch is how many times as long as planned a window may become.
	MostStretch = 8
)

// Plan bounds a search.
type Plan struct {
	StartRate float64 `json:"start_msgs_per_s"` // of the first trial
	// width of the bracket that is good enough: 0.03 is 3%
	Tolerance     float64 `json:"tolerance"`
	Confirmations int     `json:"confirmations"` // longer runs that the stable end must pass
	// MaxTrials includes confirmations and repetitions. Its key is that of earlier searches.
	MaxTrials int     `json:"max_probes"`
	LeastRate float64 `json:"least_msgs_per_s"` // no trial is below or above these
	MostRate  float64 `json:"most_msgs_per_s"`
}

// Kind says why a trial is made.
type Kind string

// The kinds of trials.
const (
	Ramp    Kind = "ramp"    // no limit has been seen yet, or no stable rate
	Guess   Kind = "guess"   // what an overloaded trial achieved says where the limit should be
	Bisect  Kind = "bisect"  // the geometric middle of the bracket
	Repeat  Kind = "repeat"  // the trial before failed by what may have been a passing disturbance
	Confirm Kind = "confirm" // a longer run at the stable end
	Recheck Kind = "recheck" // the unstable end again
	Stretch Kind = "stretch" // the trial before was too short to tell: a window twice as long
)

// Step is a trial to make.
type Step struct {
	Kind Kind
	Rate float64 // messages per second
	Long bool    // as long as a confirmation
	// Stretch is how many times as long as planned the window is.
	Stretch int
	// guess is set for a guess and its repetition; hope is the outcome that it
	// was made for.
	guess, hope bool
	recheck     bool // also of its repetition
}

// Outcome is what became of a trial.
type Outcome struct {
	Stable       bool
	AchievedRate float64 // messages per second
	// Passing: it was not stable, by what may have been a passing disturbance.
	Passing bool
	// Doubtful: it was not stable, and the machine or plimsoll itself may have
	// been why.
	Doubtful bool
	// Short: it was not stable, and a longer window may show that it is.
	Short bool
}

// End is why a search has nothing more to do.
type End string

// The ends of a search.
const (
	Found      End = "found"      // the bracket is narrow enough, and confirmed as asked
	UsedUp     End = "used_up"    // the trials are
	NothingLow End = "too_low"    // not even the least rate was stable
	NoLimit    End = "no_limit"   // the greatest rate was stable
	OutOfTime  End = "time"       // set by the caller, as are the following
	Stopped    End = "stopped"    // on request
	Refused    End = "refused"    // a trial could not be made
	Unfinished End = "unfinished" // the search goes on
)

// Search finds the highest stable rate: the next rate to try out, the outcome of
// a trial in. It is a pure state machine, and it assumes no more of a system
// than that a rate above an unstable one is not stable.
//
// It climbs from the start by factors of 2, 4, 4, 8, 16, ... until a trial is
// unstable, then bisects geometrically. Where an overloaded trial achieved a rate within
// the bracket, that rate is the system's capacity if overload does not change
// it: then a trial is made just below it, and one just above. A guess that was
// wrong is followed by a bisection, so that a system which collapses under
// overload costs no more than twice as many trials.
//
// A bracket that is narrow enough is tried again, one end after the other, in
// longer runs: the stable end until it is confirmed as often as planned, and the
// unstable end as often. A rate that was stable in
// one run and not in another is mixed. It lies within the bracket that is
// reported, and the search goes on beyond it. An unstable end that the machine may
// be to blame for is tried again once two trials in a row below it were stable,
// and forgotten when it is stable then. The last trials are kept for the ends.
//
// A trial that was too short to tell a pulse from growth is made again with a
// window twice as long, and so are all that follow it.
type Search struct {
	plan    Plan
	taken   int
	last    Step
	again   bool // the last step is to be repeated
	short   bool // and so it is, with a longer window
	stretch int  // how many times as long as planned windows are
	stable  []float64
	mixed   []float64       // rates that were not stable, and were, or a higher one was
	passed  map[float64]int // confirmations, by rate
	missed  map[float64]int // runs that were not stable, by rate
	above   []limit         // unstable rates, the lowest first
	calm    int             // stable trials, one after another
	climbed int             // steps up
	sunk    int             // steps down that were not enough
	poor    int             // guesses that were wrong, one after another
	upward  bool            // the next guess is above the stable end
	hurried bool            // no more exploring
	failed  bool            // a confirmation did: go down until one does not
}

// limit is an unstable rate.
type limit struct {
	rate, achieved float64
	long, doubtful bool
}

// calmBelow is how many stable trials in a row below a doubtful limit have it
// tried again.
const calmBelow = 2

// top is the lowest unstable rate; the zero limit when none was seen.
func (s *Search) top() limit {
	if len(s.above) == 0 {
		return limit{}
	}
	return s.above[0]
}

// NewSearch returns a search that has made no trial.
func NewSearch(p Plan) *Search {
	return &Search{plan: p, stretch: 1, passed: map[float64]int{}, missed: map[float64]int{}}
}

// narrow reports whether the search has come near enough to its lowest unstable
// rate.
func (s *Search) narrow() bool {
	low, high := s.low(), s.top().rate
	return low > 0 && high > 0 && high/low <= 1+s.plan.Tolerance+1e-9
}

// low is the highest stable rate below every unstable one.
func (s *Search) low() float64 {
	var low float64
	for _, r := range s.stable {
		if high := s.top().rate; high == 0 || r < high {
			low = max(low, r)
		}
	}
	return low
}

// Settle has the search explore no further: it only confirms what it has.
func (s *Search) Settle() { s.hurried = true }

// Cap has the search try no rate above one.
func (s *Search) Cap(rate float64) { s.plan.MostRate = min(s.plan.MostRate, rate) }

// Next is the trial to make next; when there is none, end says why.
func (s *Search) Next() (step Step, end End) {
	step, end = s.next()
	step.Stretch = s.stretch
	s.last = step
	return step, end
}

func (s *Search) next() (Step, End) {
	low, high, left := s.low(), s.top().rate, s.plan.MaxTrials-s.taken
	end, needed := s.stableEnd(), s.needed()
	missing := s.plan.Confirmations - s.passed[end]
	switch {
	case left <= 0:
		return Step{}, s.endOf(missing)
	case s.again:
		again := s.last
		again.Kind = Repeat
		if s.short {
			again.Kind = Stretch
		}
		return again, Unfinished
	case low == 0 && high == 0:
		return Step{Kind: Ramp, Rate: s.within(s.plan.StartRate)}, Unfinished
	case low == 0:
		return s.down(high)
	}
	if top := s.top(); top.doubtful && s.calm >= calmBelow && left > needed && !s.hurried {
		return Step{Kind: Recheck, Rate: top.rate, Long: top.long, recheck: true}, Unfinished
	}
	if s.hurried || s.failed || s.narrow() || left <= needed || low >= s.plan.MostRate {
		return s.settle(end, high, missing, left)
	}
	if high == 0 {
		return s.up(low), Unfinished
	}
	return s.between(low, high), Unfinished
}

// up looks for an unstable rate above a stable one. A limit that was none lies
// near one, as a rule.
func (s *Search) up(low float64) Step {
	if s.upward && len(s.mixed) > 0 && s.poor <= mostPoor {
		return Step{Kind: Guess, Rate: s.within(low * s.stride()), guess: true}
	}
	return Step{Kind: Ramp, Rate: s.within(low * s.climb())}
}

// endOf is why a search that can make no more trials has ended.
func (s *Search) endOf(missing int) End {
	if missing <= 0 && s.narrow() && !s.doubted() {
		return Found
	}
	return UsedUp
}

// climb is the factor of the next step up. The first are small, because overload
// costs a real system time to recover from; the later ones are for a start that
// was far too low.
func (s *Search) climb() float64 {
	factors := []float64{2, 4, 4}
	if n := s.climbed - 1; n < len(factors) {
		return factors[max(n, 0)]
	}
	return math.Pow(2, float64(s.climbed-1))
}

func (s *Search) within(rate float64) float64 {
	return min(max(rate, s.plan.LeastRate), s.plan.MostRate)
}

// down looks for a stable rate below an unstable one.
func (s *Search) down(high float64) (Step, End) {
	switch guess := s.below(); {
	case high <= s.plan.LeastRate:
		return Step{}, NothingLow
	case s.failed:
		return Step{Kind: Confirm, Rate: s.within(s.lower(high)), Long: true}, Unfinished
	case s.poor == 0 && s.telling(high) && guess >= s.plan.LeastRate:
		return Step{Kind: Guess, Rate: guess, guess: true, hope: true}, Unfinished
	}
	return Step{Kind: Ramp, Rate: s.within(high / math.Pow(2, float64(s.sunk+1)))}, Unfinished
}

// below is just below what the lowest unstable trial achieved, and step the way
// from there to a bracket that is narrow enough.
func (s *Search) below() float64 { return s.top().achieved * (1 - s.plan.Tolerance/4) }
func (s *Search) step() float64  { return s.plan.Tolerance * 0.95 }

// telling reports whether the unstable end achieved so much less than it was
// offered that this tells of a capacity.
func (s *Search) telling(high float64) bool { return s.below() < high*(1-s.plan.Tolerance/2) }

// lower is a step down from a rate at which a confirmation failed, or what was
// achieved there if that is less, and no less than half.
func (s *Search) lower(high float64) float64 {
	if below := s.below(); below > high/2 {
		return min(high/(1+s.step()), below)
	}
	return high / (1 + s.step())
}

// mostPoor is how many guesses in a row may be wrong, each followed by one twice
// as far away, before the bracket is bisected instead.
const mostPoor = 2

// stride is the factor of a guess beyond an end, twice as far after each that was
// wrong.
func (s *Search) stride() float64 { return math.Pow(1+s.step(), math.Pow(2, float64(s.poor))) }

// between is a trial within the bracket.
func (s *Search) between(low, high float64) Step {
	bisect := Step{Kind: Bisect, Rate: math.Sqrt(low * high)}
	if s.poor > mostPoor {
		return bisect
	}
	far := s.stride()
	near, hope := s.below(), true
	switch {
	// Also where the stable end is already what overload achieved.
	case s.upward || near <= low && s.top().achieved > low*(1-s.plan.Tolerance):
		near, hope = low*far, false
	case s.poor > 0 && s.last.guess:
		near = high / far
	case !s.telling(high):
		return bisect
	}
	if near <= low || near >= high {
		return bisect
	}
	return Step{Kind: Guess, Rate: near, guess: true, hope: hope}
}

// settle tries the ends again in longer runs, in turn; where the stable end has
// failed, a step lower.
func (s *Search) settle(low, high float64, missing, left int) (Step, End) {
	doubted := s.doubted()
	switch {
	case s.failed && s.passed[low] == 0 && s.lower(high) > low*(1+s.plan.Tolerance/8):
		return Step{Kind: Confirm, Rate: s.lower(high), Long: true}, Unfinished
	case doubted && missing <= 0 && left > s.needed() && s.cameToEnd():
		// Something else comes between two runs at the unstable end.
		return Step{Kind: Confirm, Rate: low, Long: true}, Unfinished
	case doubted && (missing <= 0 || s.last.Rate == low):
		long := s.plan.Confirmations > 0
		return Step{Kind: Recheck, Rate: s.unstableEnd(), Long: long, recheck: true}, Unfinished
	case missing > 0:
		return Step{Kind: Confirm, Rate: low, Long: true}, Unfinished
	case high == 0:
		return Step{}, NoLimit
	case s.open() && !s.hurried:
		return Step{Kind: Guess, Rate: s.within(s.most() * s.stride()), guess: true}, Unfinished
	case s.narrow():
		return Step{}, Found
	case s.hurried || left < s.plan.Confirmations:
		return Step{}, UsedUp
	}
	return Step{Kind: Bisect, Rate: math.Sqrt(s.low() * high), Long: true}, Unfinished
}

// cameToEnd reports whether the last trial was the first that found the unstable
// end, which longer runs are to be made at.
func (s *Search) cameToEnd() bool {
	last := s.last
	return s.plan.Confirmations > 0 && last.Kind != Recheck && last.Rate == s.unstableEnd()
}

// Take takes the outcome of the trial that Next asked for.
func (s *Search) Take(o Outcome) {
	s.taken++
	step := s.last
	s.short = !o.Stable && o.Short && s.stretch < MostStretch
	s.again = s.short || !o.Stable && o.Passing && !o.Short && step.Kind != Repeat
	if s.short {
		s.stretch *= 2
	}
	if s.again {
		return
	}
	s.upward = o.Stable && (step.guess || step.recheck)
	switch {
	case step.guess && step.hope != o.Stable:
		s.poor++
	case step.guess || step.Kind == Bisect:
		s.poor = 0
	}
	if o.Stable {
		s.holds(step)
		return
	}
	s.fails(step, o)
}

// fails takes a trial that was not stable.
func (s *Search) fails(step Step, o Outcome) {
	s.calm = 0
	if step.Kind == Ramp && len(s.above) > 0 {
		s.sunk++
	}
	s.missed[step.Rate]++
	// What was unstable twice is no longer doubted.
	doubtful := o.Doubtful && s.missed[step.Rate] == 1
	// What was stable for a short while was not for a long one.
	long := step.Long && !step.recheck
	s.above = slices.DeleteFunc(s.above, func(l limit) bool { return l.rate == step.Rate })
	s.above = append(s.above, limit{step.Rate, o.AchievedRate, long, doubtful})
	slices.SortFunc(s.above, func(a, b limit) int { return cmp.Compare(a.rate, b.rate) })
	s.failed = s.failed || long
}

// holds takes a stable trial. Limits that it disproves are mixed, and those that
// were in doubt are forgotten.
func (s *Search) holds(step Step) {
	s.calm++
	s.above = slices.DeleteFunc(s.above, func(l limit) bool {
		if l.rate <= step.Rate && !l.doubtful {
			s.mixed = append(s.mixed, l.rate)
		}
		return l.rate <= step.Rate
	})
	s.failed = slices.ContainsFunc(s.above, func(l limit) bool { return l.long })
	if len(s.above) == 0 {
		s.climbed++
	}
	if !slices.Contains(s.stable, step.Rate) {
		s.stable = append(s.stable, step.Rate)
	}
	if step.Long {
		s.passed[step.Rate]++
	}
}
