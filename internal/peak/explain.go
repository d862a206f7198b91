package peak

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func rate(perSecond float64) string { return quantity.Rate(perSecond) }

// Ends returns the trials at the ends of the bracket; nil where an end has no trial. When the
// stable end has several trials, it returns one of the longer ones.
func (s *Saved) Ends() (stable, unstable *Trial) {
	for i := range s.Trials {
		p := &s.Trials[i]
		switch {
		case !p.Judged || p.Repeated:
		case p.Verdict.Stable && p.TargetRate == s.Bracket.StableRate && (stable == nil || p.Long):
			stable = p
		case !p.Verdict.Stable && p.TargetRate == s.Bracket.UnstableRate:
			unstable = p
		}
	}
	return stable, unstable
}

// explain records why the bracket ends where it does, and the side that limited. If no rate was
// stable, the gravest cause of all trials comes first: the lowest rate may be unstable only because
// it offered too few messages to lose one, or to be judged.
func (f *finder) explain() {
	s := f.saved
	stable, unstable := s.Ends()
	s.Reason, s.Side = "", nil
	if unstable == nil {
		return
	}
	s.Reason = unstable.reason()
	below := f.runs[0]
	if stable != nil {
		below = f.runs[stable.Number]
	} else if first := s.cause(unstable); first != nil && first != unstable {
		s.Reason = first.reason() + "; " + s.Reason
		unstable = first
	}
	side := verdict.LimitingSide(f.runs[unstable.Number], below, unstable.Verdict)
	s.Side = &side
}

// reason says why a trial was unstable, and at which rate. A loss comes first: lost messages are
// also among those that have not arrived, and so look like a growing backlog.
func (p *Trial) reason() string {
	var why []string
	for _, c := range p.Verdict.Clauses {
		switch {
		case c.Outcome != result.Broken:
		case p.Lost > 0 && c.Name == verdict.ClauseFailures:
			why = slices.Insert(why, 0, c.Sentence)
		default:
			why = append(why, c.Sentence)
		}
	}
	if c, broken := p.Verdict.Broken(); broken && len(why) == 0 {
		why = append(why, c.Sentence)
	}
	return fmt.Sprintf("at %s: %s", rate(p.TargetRate), strings.Join(why, "; "))
}

// causes are the clauses of a stable rate, the gravest first.
var causes = []string{verdict.ClauseFailures, verdict.ClauseSLO, verdict.ClauseAchieved,
	verdict.ClauseBacklog, verdict.ClauseLag, verdict.ClauseGenerator, verdict.ClauseWhole}

// cause returns the trial that shows why no rate was stable: the first that lost messages, or else
// the one at the unstable end, or, where that breaks no clause, the first with the gravest broken
// clause; nil: no trial breaks a clause.
func (s *Saved) cause(end *Trial) *Trial {
	first := func(shows func(p *Trial) bool) *Trial {
		for i := range s.Trials {
			if p := &s.Trials[i]; p.Judged && !p.Repeated && shows(p) {
				return p
			}
		}
		return nil
	}
	if p := first(func(p *Trial) bool { return p.Lost > 0 && p.breaks(causes[0]) }); p != nil {
		return p
	}
	for _, name := range causes {
		if end.breaks(name) {
			return end
		}
	}
	for _, name := range causes {
		if p := first(func(p *Trial) bool { return p.breaks(name) }); p != nil {
			return p
		}
	}
	return nil
}

// breaks reports whether a clause of the trial is broken.
func (p *Trial) breaks(clause string) bool {
	return p.Verdict.Clause(clause).Outcome == result.Broken
}

// ownLimit reports whether plimsoll itself limited the trials at the unstable end.
func (s *Saved) ownLimit() bool { return s.Side != nil && s.Side.Name == verdict.SideGenerator }

// Sentence returns the search's result in words.
func (s *Saved) Sentence() string {
	b := s.Bracket
	switch {
	case b.StableRate == 0 && b.UnstableRate == 0:
		return "nothing was found"
	case b.StableRate == 0:
		return s.noneStable()
	}
	sentence := rate(b.StableRate) + " was stable"
	switch {
	case b.Confirmed > 0:
		long := quantity.Duration(int64(s.confirmedSeconds() * 1e9))
		sentence += fmt.Sprintf(", also in %s of %s", times(b.Confirmed, "longer run"), long)
	case s.Plan.Confirmations > 0:
		sentence += " in a short run, and was not confirmed in a longer one"
	}
	sentence += s.arrivals()
	switch {
	case b.UnstableRate == 0:
		return sentence + "; no unstable rate was found above it"
	case s.ownLimit():
		sentence += fmt.Sprintf("; above it nothing is decided: plimsoll was the limit at %s "+
			"(%.1f%% above", rate(b.UnstableRate), b.Width()*100)
	default:
		sentence += fmt.Sprintf("; %s was unstable (%.1f%% above", rate(b.UnstableRate),
			b.Width()*100)
	}
	if b.UnstableRuns > 1 {
		sentence += ", " + times(b.UnstableRuns, "run")
	}
	return sentence + ")"
}

// noneStable returns the result of a search without a stable rate in words. It is the system's only
// if the system was the limit.
func (s *Saved) noneStable() string {
	down := "down to " + rate(s.Bracket.UnstableRate)
	_, end := s.Ends()
	switch {
	case s.ownLimit() && s.Lost() == 0:
		return "not decided: plimsoll was the limit, " + down
	case end != nil && s.cause(end) == nil:
		return "not decided, " + down + ": too little was measured to judge a trial"
	}
	if n := s.Lost(); n > 0 {
		down += fmt.Sprintf(": %s never arrived", quantity.Plural(n,
			"acknowledged message", "acknowledged messages"))
	}
	return "no rate was stable, " + down
}

// arrivals names the workload's arrivals.
func (s *Saved) arrivals() (words string) {
	switch workload.Arrivals(s.Load.Arrivals) {
	case workload.ArrivalsConstant:
		words = ", with constant arrivals"
	case workload.ArrivalsPoisson:
		words = ", with random arrivals (Poisson)"
	}
	if s.Load.Burst > 1 {
		words += fmt.Sprintf(" in bursts of %d", s.Load.Burst)
	}
	return words
}

// confirmedSeconds returns the length in seconds of the shortest run that confirmed the stable
// end.
func (s *Saved) confirmedSeconds() float64 {
	least := math.Inf(1)
	for _, p := range s.Trials {
		confirmed := p.Long && p.Verdict.Stable && p.TargetRate == s.Bracket.StableRate
		if confirmed && p.WindowSeconds > 0 {
			least = min(least, p.WindowSeconds)
		}
	}
	if math.IsInf(least, 1) {
		return s.ConfirmSeconds
	}
	return least
}

func times(n int, what string) string { return quantity.Plural(n, what, what+"s") }

// Caveats returns what a reader must know about the search's result, the gravest first; none if the
// search succeeded fully. Most have the code of no verdict.
func (s *Saved) Caveats() []result.Warning {
	var all caveats
	if n := s.Lost(); n > 0 {
		all.add(verdict.Loss, "%s never arrived: see the trials",
			quantity.Plural(n, "acknowledged message", "acknowledged messages"))
	}
	for _, p := range s.Trials {
		if p.Unsound && p.Lost == 0 {
			all.add(ofSearch, "in trial %d the system broke a promise, or a server ended by "+
				"itself: see its report", p.Number)
		}
	}
	if w := s.Warming; w != nil && !w.Steady && w.Why != "" {
		all.add(ofSearch, "its servers may not have been warm: their warm-up was %s", w.Why)
	}
	wide := ""
	if w := s.Bracket.Width(); !math.IsInf(w, 0) && w > s.Plan.Tolerance+1e-9 {
		wide = fmt.Sprintf(": the bracket is %.1f%% wide, and %.3g%% was asked for", w*100,
			s.Plan.Tolerance*100)
	}
	all.ofEnd(s, wide)
	if b := s.Bracket; b.MixedRate > 0 && s.mixed() {
		all.add(ofSearch, "from %s on, a rate was stable in one run and unstable in another: the "+
			"bracket includes this variation of the system or its machine", rate(b.MixedRate))
	}
	if b := s.Bracket; b.StableRate > 0 && b.Confirmed < s.Plan.Confirmations {
		all.add(ofSearch, "the stable end was confirmed %d of %d times", b.Confirmed,
			s.Plan.Confirmations)
	}
	if sentence := s.curveCaveat(); sentence != "" {
		all.add(ofSearch, "%s", sentence)
	}
	if s.ownLimit() {
		all.add(verdict.Generator, "plimsoll itself was the limit: the system may carry more, so "+
			"do not rank it by this figure")
	}
	if workload.Arrivals(s.Load.Arrivals) == workload.ArrivalsConstant {
		all.add(ofSearch, "constant arrivals hide queueing: with random arrivals the same "+
			"objective holds only up to a lower rate")
	}
	s.trialCaveats(&all)
	verdict.BySeverity(all)
	return all
}

// Lost returns how many acknowledged messages never arrived, over all trials.
func (s *Saved) Lost() (n int64) {
	for _, p := range s.Trials {
		n += p.Lost
	}
	return n
}

// caveats are sentences that a reader must know.
type caveats []result.Warning

// ofSearch is the code of a caveat about the search itself.
const ofSearch = "search"

func (c *caveats) add(code, format string, args ...any) {
	*c = append(*c, result.Warning{Code: code, Sentence: fmt.Sprintf(format, args...)})
}

// ofEnd adds the caveat of the search's end. wide says how wide the bracket is, if it is wider than
// asked for.
func (c *caveats) ofEnd(s *Saved, wide string) {
	switch s.End {
	case UsedUp:
		if b := s.Bracket; wide != "" || b.Confirmed < s.Plan.Confirmations || b.UnstableRate == 0 {
			c.add(ofSearch, "all %d trials were used up%s", s.Plan.MaxTrials, wide)
		}
	case OutOfTime:
		if b := s.Bracket; wide == "" && b.UnstableRuns == 1 {
			wide = fmt.Sprintf(": %s was unstable in a single trial", rate(b.UnstableRate))
		}
		c.add(ofSearch, "the time was used up%s", wide)
	case Stopped, Refused, Unfinished:
		// The report prints the reason of an incomplete search beside its state.
		if s.State == result.Complete {
			c.add(ofSearch, "%s%s", s.StateReason, wide)
		} else if wide != "" {
			c.add(ofSearch, "the search did not finish%s", wide)
		}
	case NothingLow:
		if s.ownLimit() {
			c.add(ofSearch, "no rate below %s is tried", rate(s.Plan.LeastRate))
		} else {
			c.add(ofSearch, "not even %s was stable, and no lower rate is tried",
				rate(s.Plan.LeastRate))
		}
	case NoLimit:
		c.add(ofSearch, "%s was stable, and no higher rate is tried", rate(s.Bracket.StableRate))
	}
}

// mixed reports whether a rate was stable in one trial, and the same or a lower one unstable in
// another.
func (s *Saved) mixed() bool {
	decided := slices.DeleteFunc(slices.Clone(s.Trials), func(p Trial) bool {
		return !p.Judged || p.Repeated || p.Kind == Curve || p.Verdict.Undecided
	})
	highest := 0.0
	for _, p := range decided {
		if p.Verdict.Stable {
			highest = max(highest, p.TargetRate)
		}
	}
	return slices.ContainsFunc(decided, func(p Trial) bool {
		return !p.Verdict.Stable && p.TargetRate <= highest
	})
}

// trialCaveats adds what a reader must know about the trials.
func (s *Saved) trialCaveats(all *caveats) {
	repeated, left, noisy, short, undecided := 0, 0, 0, 0, 0
	for _, p := range s.Trials {
		if p.Noise != "" {
			noisy++
		}
		switch {
		case p.Repeated && p.Verdict.Short:
			short++
		case p.Repeated:
			repeated++
		}
		if p.LeftMsgs > 0 {
			left++
		}
		if p.Verdict.Undecided {
			undecided++
		}
	}
	if repeated > 0 {
		all.add(ofSearch, "a passing disturbance seems to have made %s fail: each was repeated "+
			"once, and the second outcome counts", times(repeated, "trial"))
	}
	if short > 0 {
		all.add(ofSearch, "the system carries its load in pulses, and the window of %s was too "+
			"short to tell a pulse from growth: each was repeated with a window twice as long, "+
			"and all later trials kept that length", times(short, "trial"))
	}
	if undecided > 0 {
		all.add(ofSearch, "in %s an objective was nearer to its bound than the variation within "+
			"the run or plimsoll's own lag: those rates lie within the bracket; use a longer "+
			"--trial to separate closer rates", times(undecided, "trial"))
	}
	if noisy > 0 {
		all.add(verdict.NoisyMachine, "the machine was noisy in %d of %s, so a repetition of the "+
			"search may find another bracket", noisy, times(len(s.Trials), "trial"))
	}
	if left > 0 {
		all.add(ofSearch, "after %s the backlog was not empty at the end of the drain: the "+
			"remaining messages were deleted with the topics", times(left, "trial"))
	}
}

// curveCaveat says which part of a curve is missing after the end of the search.
func (s *Saved) curveCaveat() string {
	if !s.Plan.Curve || s.End == Unfinished || s.Bracket.StableRate == 0 {
		return ""
	}
	made, planned := 0, 0
	for _, t := range s.Trials {
		if t.Kind == Curve && t.Judged {
			made++
		}
	}
	for _, share := range CurveShares {
		if share*s.Bracket.StableRate >= s.Plan.LeastRate {
			planned++
		}
	}
	if made >= planned {
		return ""
	}
	remedy := "search again, with a longer --max-time if that had passed"
	if s.State != result.Complete {
		remedy = "repeat its command with --resume"
	}
	return fmt.Sprintf("%d of %d trials of the curve were made: %s", made, planned, remedy)
}
