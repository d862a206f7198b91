package peak

import (
	"cmp"
	"math"
	"slices"
)

// The fixed bounds of a search.
const (
	// MostTrials is the greatest number of trials in a search: about ten find the bracket, the
	// others try both of its ends again.
	MostTrials = 20
	// FewestMessages is the least number of messages that a trial must offer. Fewer messages do
	// not support a percentile.
	FewestMessages = 100
	// ConfirmTimes is the length of a confirmation as a multiple of a trial's.
	ConfirmTimes = 2
	// MostStretch is the greatest length of a window as a multiple of the planned length.
	MostStretch = 8
)

// Plan bounds a search.
type Plan struct {
	StartRate float64 `json:"start_msgs_per_s"` // of the first trial
	// Near is set when an earlier search found the peak near the start: the first steps are small.
	Near bool `json:"near,omitempty"`
	// Tolerance is the width at which the bracket is narrow enough: 0.03 is 3%.
	Tolerance     float64 `json:"tolerance"`
	Confirmations int     `json:"confirmations"` // longer runs that the stable end must pass
	// MaxTrials includes confirmations and repetitions. Its key is that of earlier searches.
	MaxTrials int `json:"max_probes"`
	// LeastRate and MostRate bound the rates of all trials.
	LeastRate float64 `json:"least_msgs_per_s"`
	MostRate  float64 `json:"most_msgs_per_s"`
	// Curve adds trials at CurveShares of the peak that was found. They come last, beside
	// MaxTrials, and change nothing of the bracket.
	Curve bool `json:"curve,omitempty"`
}

// CurveShares are the shares of the peak at which the trials of a curve are made.
var CurveShares = []float64{0.10, 0.25, 0.50, 0.75, 0.90, 1.10}

// Most returns the greatest number of trials of the plan, those of the curve among them.
func (p Plan) Most() int {
	if p.Curve {
		return p.MaxTrials + len(CurveShares)
	}
	return p.MaxTrials
}

// Kind is the reason for a trial.
type Kind string

// The kinds of trials.
const (
	Ramp    Kind = "ramp"    // no unstable rate, or no stable rate, has been seen yet
	Guess   Kind = "guess"   // the rate that an overloaded trial achieved suggests the limit
	Bisect  Kind = "bisect"  // the geometric middle of the bracket
	Repeat  Kind = "repeat"  // a passing disturbance may have failed the previous trial
	Confirm Kind = "confirm" // a longer run at the stable end
	Recheck Kind = "recheck" // the unstable end again
	Stretch Kind = "stretch" // the previous window was too short: a window twice as long
	Curve   Kind = "curve"   // a share of the peak that was found, for its latency
)

// Step is a trial to make.
type Step struct {
	Kind Kind
	Rate float64 // messages per second
	Long bool    // the window is that of a confirmation
	// Stretch is the length of the window as a multiple of the planned length.
	Stretch int
	// guess is set for a guess and its repetition; hope is the outcome that the guess expects.
	guess, hope bool
	recheck     bool // set for a recheck and its repetition
}

// Outcome is the result of a trial.
type Outcome struct {
	Stable       bool
	AchievedRate float64 // messages per second
	// Passing is set when a passing disturbance may have made the trial unstable.
	Passing bool
	// Doubtful is set when the machine or plimsoll itself may have made the trial unstable.
	Doubtful bool
	// Short is set when a longer window may show that an unstable trial is stable.
	Short bool
	// Undecided is set when the trial was neither stable nor unstable.
	Undecided bool
}

// End is the reason why a search ended.
type End string

// The ends of a search.
const (
	Found      End = "found"      // the bracket is narrow enough, and confirmed as asked
	UsedUp     End = "used_up"    // all planned trials were made
	NothingLow End = "too_low"    // not even the least rate was stable
	NoLimit    End = "no_limit"   // the greatest rate was stable
	OutOfTime  End = "time"       // the caller sets this end and those below
	Stopped    End = "stopped"    // on request
	Refused    End = "refused"    // a trial could not be made
	Unfinished End = "unfinished" // the search continues
)

// Search is the state machine that finds the highest stable rate. Next returns the next trial,
// Take receives its outcome. It is pure, and assumes only that a rate above an unstable rate is
// unstable. It must be used by one goroutine.
//
// It climbs from the start by factors of 2, 2, 2, 2, 4, 4, 8, ... until a trial is unstable. Where
// an earlier search found the peak near the start, the first factors are 1.25, 1.25, 1.5, 2, 2 and
// 4. Then it bisects geometrically. Where an overloaded trial achieved a rate within the bracket,
// that rate is the system's capacity if overload does not change the capacity: the search then
// tries a rate just below it and a rate just above it. A bisection follows a wrong guess, so a
// system that collapses under overload costs at most twice as many trials.
//
// When the bracket is narrow enough, both ends are tried again in turn, in longer runs: the stable
// end until it is confirmed as often as planned, and the unstable end as often; without
// confirmations once, in no longer run. A rate that was stable in one run and unstable in another
// is mixed. It lies within the bracket, and the search continues above it, as above a rate that was
// neither. A doubtful unstable end is tried again after two successive stable trials below it, and
// is forgotten if it is stable then. The last trials are reserved for the ends.
//
// A trial that was too short to tell a pulse from growth is repeated with a window twice as
// long, and all later trials keep that length. Until a rate was stable that happens once; then the
// rate counts as unstable, and is doubtful. Below three such rates, windows grow in full. Where
// there is no time for a repetition, Settle counts the trial as it was.
type Search struct {
	plan    Plan
	taken   int
	last    Step
	again   bool    // the last step must be repeated
	short   bool    // the repetition needs a longer window
	undone  Step    // the step to be repeated
	seen    Outcome // its outcome
	stretch int     // length of windows as a multiple of the planned length
	stable  []float64
	mixed   []float64       // unstable rates at or below a stable rate, and undecided rates
	unsure  []float64       // undecided rates
	passed  map[float64]int // confirmations, by rate
	missed  map[float64]int // unstable trials, by rate
	above   []limit         // unstable rates, the lowest first
	calm    int             // successive stable trials
	climbed int             // steps up
	sunk    int             // steps down that did not reach a stable rate
	poor    int             // successive wrong guesses
	upward  bool            // the next guess is above the stable end
	hurried bool            // only the ends are tried
	failed  bool            // a confirmation failed: go down until a confirmation passes
	curve   int             // trials of the curve that were made or passed over
	ended   End             // of the search before its curve
}

// limit is an unstable rate.
type limit struct {
	rate, achieved float64
	long, doubtful bool
}

// calmBelow is the number of successive stable trials below a doubtful limit after which the
// limit is tried again.
const calmBelow = 2

// top returns the lowest unstable rate; the zero limit when none was seen.
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

// ConfirmOnly ends the exploration: later trials only confirm the ends of the bracket.
func (s *Search) ConfirmOnly() { s.hurried = true }

// Cap forbids rates above the given rate, in messages per second.
func (s *Search) Cap(rate float64) { s.plan.MostRate = min(s.plan.MostRate, rate) }

// Next returns the next trial. end is Unfinished while there is a trial, and otherwise the
// reason why there is none.
func (s *Search) Next() (step Step, end End) {
	step, end = s.next()
	if end != Unfinished {
		s.ended = end
		if along, left := s.along(); left {
			step, end = along, Unfinished
		}
	}
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
	case end == 0 && len(s.unsure) > 0:
		return s.down(s.leastMixed())
	case s.gap(end) && left > needed && !s.hurried:
		return Step{Kind: Bisect, Rate: math.Sqrt(end * s.leastMixed())}, Unfinished
	}
	if top := s.top(); top.doubtful && s.calm >= calmBelow && left > needed && !s.hurried {
		return Step{Kind: Recheck, Rate: top.rate, Long: top.long, recheck: true}, Unfinished
	}
	if s.hurried || s.failed || s.narrow() || left <= needed || low >= s.plan.MostRate {
		return s.confirm(end, high, missing, left)
	}
	if high == 0 {
		return s.up(low), Unfinished
	}
	return s.between(low, high), Unfinished
}

// gap reports whether the lowest undecided rate is too far above the stable end, once the search
// has found where rates are unstable.
func (s *Search) gap(end float64) bool {
	least := s.leastMixed()
	return slices.Contains(s.unsure, least) && least > end*(1+2*s.plan.Tolerance) && s.narrow()
}

// along returns the next trial of the curve, and whether there is one.
func (s *Search) along() (Step, bool) {
	peak := s.stableEnd()
	for s.plan.Curve && peak > 0 && s.curve < len(CurveShares) {
		if rate := peak * CurveShares[s.curve]; rate >= s.plan.LeastRate {
			return Step{Kind: Curve, Rate: rate}, true
		}
		s.curve++
	}
	return Step{}, false
}

// up returns a trial above the highest stable rate. The true limit is usually near a limit that a
// later trial disproved.
func (s *Search) up(low float64) Step {
	if s.upward && len(s.mixed) > 0 && s.poor <= mostPoor {
		return Step{Kind: Guess, Rate: s.within(low * s.stride()), guess: true}
	}
	return Step{Kind: Ramp, Rate: s.within(low * s.climb())}
}

// endOf returns why a search without trials left has ended.
func (s *Search) endOf(missing int) End {
	if missing <= 0 && s.narrow() && !s.doubted() {
		return Found
	}
	return UsedUp
}

// climb returns the factor of the next step up. The first factors are small, because a real
// system needs time to recover from overload. The later factors serve a start that was far too
// low.
func (s *Search) climb() float64 {
	factors := []float64{2, 2, 2, 2, 4, 4}
	if s.plan.Near {
		factors = []float64{1.25, 1.25, 1.5, 2, 2, 4}
	}
	n, last := max(s.climbed-1, 0), len(factors)-1
	return factors[min(n, last)] * math.Pow(2, float64(max(n-last, 0)))
}

func (s *Search) within(rate float64) float64 {
	return min(max(rate, s.plan.LeastRate), s.plan.MostRate)
}

// down returns a trial below the lowest unstable rate.
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

// below returns a rate just below the rate that the lowest unstable trial achieved. step is the
// distance from there to a bracket that is narrow enough.
func (s *Search) below() float64 { return s.top().achieved * (1 - s.plan.Tolerance/4) }
func (s *Search) step() float64  { return s.plan.Tolerance * 0.95 }

// telling reports whether the achieved rate of the unstable end is so far below the offered
// rate that it suggests a capacity.
func (s *Search) telling(high float64) bool { return s.below() < high*(1-s.plan.Tolerance/2) }

// lower returns a step down from a rate at which a confirmation failed: the achieved rate when
// that is lower and more than half the rate.
func (s *Search) lower(high float64) float64 {
	if below := s.below(); below > high/2 {
		return min(high/(1+s.step()), below)
	}
	return high / (1 + s.step())
}

// mostPoor is the number of successive wrong guesses, each twice as far away as the one before,
// after which the bracket is bisected.
const mostPoor = 2

// stride returns the factor of a guess beyond an end. Each wrong guess doubles the distance.
func (s *Search) stride() float64 { return math.Pow(1+s.step(), math.Pow(2, float64(s.poor))) }

// between returns a trial within the bracket.
func (s *Search) between(low, high float64) Step {
	bisect := Step{Kind: Bisect, Rate: math.Sqrt(low * high)}
	if s.poor > mostPoor {
		return bisect
	}
	far := s.stride()
	near, hope := s.below(), true
	switch {
	// The second case: the stable end is already the rate that overload achieved.
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

// confirm tries the ends again in longer runs, in turn. When a confirmation of the stable end
// has failed, it tries a lower rate.
func (s *Search) confirm(low, high float64, missing, left int) (Step, End) {
	doubted := s.doubted()
	switch {
	case s.failed && s.passed[low] == 0 && s.lower(high) > low*(1+s.plan.Tolerance/8):
		return Step{Kind: Confirm, Rate: s.lower(high), Long: true}, Unfinished
	case doubted && missing <= 0 && left > s.needed() && s.cameToEnd():
		// There are never two successive trials at the unstable end.
		return Step{Kind: Confirm, Rate: low, Long: true}, Unfinished
	case doubted && (missing <= 0 || s.last.Rate == low):
		long := s.plan.Confirmations > 0
		return Step{Kind: Recheck, Rate: s.unstableEnd(), Long: long, recheck: true}, Unfinished
	case missing > 0:
		return Step{Kind: Confirm, Rate: low, Long: true}, Unfinished
	case high == 0 && s.hurried && low < s.plan.MostRate: // any end is better than none
		return s.up(low), Unfinished
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

// cameToEnd reports whether the last trial was the first at the unstable end, and longer runs
// at that end are still to come.
func (s *Search) cameToEnd() bool {
	last := s.last
	return s.plan.Confirmations > 0 && last.Kind != Recheck && last.Rate == s.unstableEnd()
}

// Take receives the outcome of the trial that Next returned.
func (s *Search) Take(o Outcome) {
	step := s.last
	if step.Kind == Curve {
		s.curve++
		s.again = false
		return
	}
	s.taken++
	short, more := !o.Stable && o.Short, s.taken < s.plan.MaxTrials
	s.short = short && more && s.stretch < s.mostStretch()
	o.Doubtful = o.Doubtful || short && !s.short && s.stretch < MostStretch
	s.again = s.short ||
		!o.Stable && o.Passing && more && !o.Short && !o.Undecided && step.Kind != Repeat
	if s.short {
		s.stretch *= 2
	}
	if s.again {
		s.undone, s.seen = step, o
		return
	}
	s.count(step, o)
}

// Settle counts the last trial as it was, if it was to be made again and there is no time for that:
// as unstable, in doubt. It reports whether it did.
func (s *Search) Settle() bool {
	if !s.again {
		return false
	}
	if s.short {
		s.stretch /= 2
	}
	s.again, s.short, s.seen.Doubtful = false, false, true
	s.last = s.undone
	s.count(s.undone, s.seen)
	return true
}

// count records the outcome of a trial that is not made again.
func (s *Search) count(step Step, o Outcome) {
	s.upward = (o.Stable || o.Undecided) && (step.guess || step.recheck)
	switch {
	case step.guess && step.hope != o.Stable:
		s.poor++
	case step.guess || step.Kind == Bisect:
		s.poor = 0
	}
	switch {
	case o.Stable:
		s.holds(step)
	case o.Undecided:
		s.mixed, s.unsure = append(s.mixed, step.Rate), append(s.unsure, step.Rate)
		step.Long = false // it confirms nothing
		s.holds(step)
	default:
		s.fails(step, o)
	}
}

// mostHigh is the number of unstable rates after which windows may have their full length although
// no rate was stable.
const mostHigh = 3

// mostStretch returns the greatest length of windows at present. While no rate was stable it is
// short at first, because a lower rate tells more than a long window at one that may be far too
// high.
func (s *Search) mostStretch() int {
	if len(s.stable) == 0 && len(s.above) < mostHigh {
		return 2
	}
	return MostStretch
}

// fails records an unstable trial.
func (s *Search) fails(step Step, o Outcome) {
	s.calm = 0
	if step.Kind == Ramp && len(s.above) > 0 {
		s.sunk++
	}
	s.missed[step.Rate]++
	// A rate that was unstable twice is no longer doubtful.
	doubtful := o.Doubtful && s.missed[step.Rate] == 1
	// The rate was stable in a short run and unstable in a long run.
	long := step.Long && !step.recheck
	s.above = slices.DeleteFunc(s.above, func(l limit) bool { return l.rate == step.Rate })
	s.above = append(s.above, limit{step.Rate, o.AchievedRate, long, doubtful})
	slices.SortFunc(s.above, func(a, b limit) int { return cmp.Compare(a.rate, b.rate) })
	s.failed = s.failed || long
}

// holds records a stable trial. The limits that it disproves become mixed rates; doubtful limits
// are forgotten.
func (s *Search) holds(step Step) {
	s.calm++
	s.above = slices.DeleteFunc(s.above, func(l limit) bool {
		if l.rate <= step.Rate && !l.doubtful {
			s.mixed = append(s.mixed, l.rate)
		}
		return l.rate <= step.Rate
	})
	s.failed = slices.ContainsFunc(s.above, func(l limit) bool { return l.long })
	switch {
	case len(s.above) > 0:
	case step.recheck:
		s.climbed = 1 // the limit is rarely far above one that was seen
	default:
		s.climbed++
	}
	if !slices.Contains(s.stable, step.Rate) {
		s.stable = append(s.stable, step.Rate)
	}
	if step.Long {
		s.passed[step.Rate]++
	}
}
