package peak

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
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

// explain records why the bracket ends where it does, and the side that limited.
func (f *finder) explain() {
	s := f.saved
	stable, unstable := s.Ends()
	s.Reason, s.Side = "", nil
	if unstable == nil {
		return
	}
	var why []string
	for _, c := range unstable.Verdict.Clauses {
		if c.Outcome == result.Broken {
			why = append(why, c.Sentence)
		}
	}
	if c, broken := unstable.Verdict.Broken(); broken && len(why) == 0 {
		why = append(why, c.Sentence)
	}
	s.Reason = fmt.Sprintf("at %s: %s", rate(unstable.TargetRate), strings.Join(why, "; "))
	below := f.runs[0]
	if stable != nil {
		below = f.runs[stable.Number]
	}
	side := verdict.LimitingSide(f.runs[unstable.Number], below, unstable.Verdict)
	s.Side = &side
}

// Sentence returns the search's result in words.
func (s *Saved) Sentence() string {
	b := s.Bracket
	switch {
	case b.StableRate == 0 && b.UnstableRate == 0:
		return "nothing was found"
	case b.StableRate == 0:
		return fmt.Sprintf("no rate was stable, down to %s", rate(b.UnstableRate))
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
	if b.UnstableRate == 0 {
		return sentence + "; no unstable rate was found above it"
	}
	sentence += fmt.Sprintf("; %s was unstable (%.1f%% above", rate(b.UnstableRate), b.Width()*100)
	if b.UnstableRuns > 1 {
		sentence += ", " + times(b.UnstableRuns, "run")
	}
	return sentence + ")"
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

// Caveats returns what a reader must know about the search's result; none if the search succeeded
// fully.
func (s *Saved) Caveats() []string {
	var all caveats
	wide := ""
	if w := s.Bracket.Width(); !math.IsInf(w, 0) && w > s.Plan.Tolerance+1e-9 {
		wide = fmt.Sprintf(": the bracket is %.1f%% wide, and %.3g%% was asked for", w*100,
			s.Plan.Tolerance*100)
	}
	switch s.End {
	case UsedUp:
		if b := s.Bracket; wide != "" || b.Confirmed < s.Plan.Confirmations || b.UnstableRate == 0 {
			all.add("all %d trials were used up%s", s.Plan.MaxTrials, wide)
		}
	case OutOfTime:
		all = append(all, "the time was used up"+wide)
	case Stopped, Refused, Unfinished:
		// The report prints the reason of an incomplete search beside its state.
		if s.State == result.Complete {
			all = append(all, s.StateReason+wide)
		} else if wide != "" {
			all = append(all, "the search did not finish"+wide)
		}
	case NothingLow:
		all.add("not even %s was stable, and no lower rate is tried", rate(s.Plan.LeastRate))
	case NoLimit:
		all.add("%s was stable, and no higher rate is tried", rate(s.Plan.MostRate))
	}
	if b := s.Bracket; b.MixedRate > 0 {
		all.add("from %s on, a rate was stable in one run and unstable in another: "+
			"the bracket is as wide as the system or its machine is unsteady", rate(b.MixedRate))
	}
	if b := s.Bracket; b.StableRate > 0 && b.Confirmed < s.Plan.Confirmations {
		all.add("the stable end was confirmed %d of %d times", b.Confirmed, s.Plan.Confirmations)
	}
	if sentence := s.curveCaveat(); sentence != "" {
		all = append(all, sentence)
	}
	if s.Side != nil && s.Side.Name == verdict.SideGenerator {
		all.add("plimsoll itself was the limit: the system may carry more, so do not rank it by " +
			"this figure")
	}
	if workload.Arrivals(s.Load.Arrivals) == workload.ArrivalsConstant {
		all.add("constant arrivals hide queueing: with random arrivals the same objective holds " +
			"only up to a lower rate")
	}
	return append(all, s.trialCaveats()...)
}

// caveats are sentences that a reader must know.
type caveats []string

func (c *caveats) add(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// trialCaveats returns what a reader must know about the trials.
func (s *Saved) trialCaveats() (all caveats) {
	repeated, left, noisy, short := 0, 0, 0, 0
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
	}
	if repeated > 0 {
		all.add("a passing disturbance seems to have failed %s: each was repeated once, and the "+
			"second outcome counts", times(repeated, "trial"))
	}
	if short > 0 {
		all.add("the system carries its load in pulses, and the window of %s was too short to "+
			"tell a pulse from growth: each was repeated with a window twice as long, and all "+
			"later trials kept that length", times(short, "trial"))
	}
	if noisy > 0 {
		all.add("the machine was noisy in %d of %s, so a repetition of the search may find "+
			"another bracket", noisy, times(len(s.Trials), "trial"))
	}
	if left > 0 {
		all.add("after %s the backlog was not empty at the end of the drain: the remaining "+
			"messages were deleted with the topics", times(left, "trial"))
	}
	return all
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
	remedy := "repeat its command with --resume"
	if s.End == OutOfTime || s.End == UsedUp {
		remedy = "search again with a longer --max-time"
	}
	return fmt.Sprintf("%d of %d trials of the curve were made: %s", made, planned, remedy)
}
