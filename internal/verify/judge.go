package verify

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Guarantee is one judgement: of a round, or of all rounds together.
type Guarantee struct {
	Name     string `json:"name"` // see Guarantees
	Promised bool   `json:"promised"`
	Why      string `json:"why"`     // it is promised, or not
	Outcome  string `json:"outcome"` // holds, broken, unknown
	Sentence string `json:"sentence"`
	Count    int64  `json:"count"` // of messages that broke it
	Of       int64  `json:"of"`    // acknowledged, or received
}

// Judge judges each guarantee by one round. The run must have been judged
// (verdict.Read): what its faults did is part of that.
func Judge(s *result.Saved) []Guarantee {
	r := &s.Run
	var total result.SubscriptionLedger
	for _, l := range r.Ledger.Subscriptions {
		// Each message counts once, for the subscription that is worst off.
		total.Acked = max(total.Acked, l.Acked)
		total.Lost = max(total.Lost, l.Lost)
		total.Received += l.Received
		total.Duplicate += l.Duplicate
		total.Reordered += l.Reordered + l.Misplaced
		if r.System.PartitionsOwned {
			total.Reordered += l.Overtaken
		}
		total.Corrupt = max(total.Corrupt, l.Corrupt)
		total.RefusedReceived = max(total.RefusedReceived, l.RefusedReceived)
		total.PartialTransactions = max(total.PartialTransactions, l.PartialTransactions)
		total.WholeTransactions = max(total.WholeTransactions, l.WholeTransactions)
	}
	unknown := untested(s)
	out := []Guarantee{
		{Name: NoLoss, Count: total.Lost + total.Corrupt, Of: total.Acked},
		{Name: NoDuplicates, Count: total.Duplicate, Of: total.Received},
		{Name: Order, Count: total.Reordered, Of: total.Received},
	}
	if workload.Delivery(r.Load.Delivery) == workload.ExactlyOnce {
		if refused := r.Counters.Failed + r.Warmup.Failed; refused > 0 {
			out = append(out, Guarantee{Name: NoAborted, Count: total.RefusedReceived, Of: refused})
		}
		out = append(out, Guarantee{Name: WholeTransactions, Count: total.PartialTransactions,
			Of: total.WholeTransactions + total.PartialTransactions})
	}
	words := map[string]string{
		NoLoss:            "%s of %s acknowledged messages never arrived",
		NoDuplicates:      "%s further copies came of %s messages received",
		Order:             "%s of %s messages received came after a later one of their lane",
		NoAborted:         "%s of %s messages that were refused or aborted were read",
		WholeTransactions: "%s of %s transactions of several messages were seen in part",
	}
	for i := range out {
		g := &out[i]
		g.Promised, g.Why = promised(r, g.Name)
		g.Sentence = fmt.Sprintf(words[g.Name], quantity.Count(g.Count), quantity.Count(g.Of))
		if g.Name == NoLoss && total.Corrupt > 0 {
			g.Sentence += fmt.Sprintf(", or arrived damaged (%s)", quantity.Count(total.Corrupt))
		}
		unknown.settle(g)
	}
	return out
}

// doubts are why a round cannot show something.
type doubts struct {
	always string // anything
	ofLoss string // that what is missing is lost
	held   string // that a guarantee held
	late   string // that no copy could still come
}

// settle fills the outcome of a guarantee whose messages were counted.
func (d doubts) settle(g *Guarantee) {
	switch {
	case d.always != "":
		g.Outcome, g.Sentence = result.Unknown, d.always
	case g.Count > 0 && g.Name == NoLoss && d.ofLoss != "":
		g.Outcome, g.Sentence = result.Unknown, g.Sentence+", and it is not known whether they are lost: "+d.ofLoss
	case g.Count > 0:
		g.Outcome = result.Broken
	case d.held == "" && d.late != "" && (g.Name == NoDuplicates || g.Name == Order):
		g.Outcome, g.Sentence = result.Unknown, g.Sentence+"; of later deliveries "+d.late
	case g.Of == 0 && g.Name == WholeTransactions:
		g.Outcome, g.Sentence = result.Unknown, "no transaction of several messages was read"
	case d.held != "":
		g.Outcome, g.Sentence = result.Unknown, g.Sentence+", which proves nothing: "+d.held
	default:
		g.Outcome = result.Holds
	}
}

func untested(s *result.Saved) (d doubts) {
	r := &s.Run
	switch {
	case r.State != result.Complete:
		d.always = fmt.Sprintf("the round is %s (%s)", r.State, r.StateReason)
		return d
	case !r.Ledger.Accounted:
		d.always = "the round did not get to its account"
		return d
	case len(r.Faults) == 0:
		d.always = "no fault was injected"
		return d
	}
	last := r.Faults[len(r.Faults)-1]
	delivered := slices.ContainsFunc(s.Intervals, func(i result.Interval) bool { return i.EndNs > last.HealedNs && i.Received+i.Replayed > 0 })
	answered := last.Effect.UnavailableNs <= last.Effect.ResolutionNs || last.Effect.AckedAgainNs != 0
	if !delivered {
		d.ofLoss = "nothing was delivered any more after the heal, so the system may not have come back"
		if !answered {
			d.held = "nothing was acknowledged nor delivered any more after the fault, so the system may not have come back"
		}
	}
	if slices.ContainsFunc(r.Ledger.Subscriptions, func(l result.SubscriptionLedger) bool { return l.Unread > 0 }) {
		d.held = "what the system held in the end was not read to its end"
	}
	if _, why := verdict.Watched(r); why != "" {
		d.late = why
	}
	switch {
	case r.Impact == nil || r.Impact.Before.Acked == 0:
		d.held = "nothing was acknowledged in the window before the fault"
	case !slices.ContainsFunc(r.Faults, func(f result.Fault) bool { return seen(r, f) }):
		d.held = "the fault had no effect that could be seen: no server ended, no acknowledgement failed or was missing for long, and rate and latency were as before"
	}
	return d
}

// What of a run changes at least when a fault has an effect: publish latency by the
// factor slower, the rate by the share less.
const (
	slower = 2
	less   = 0.03
)

// seen reports whether a fault did anything.
func seen(r *result.Run, f result.Fault) bool {
	if ends := f.Do == string(workload.FaultKill) || f.Do == string(workload.FaultPowerCut); ends && len(r.System.Nodes) > 0 {
		return true // whose process the injector saw end
	}
	before, during := r.Impact.Before, r.Impact.During
	if f.Effect.UnavailableNs > f.Effect.ResolutionNs || during.Failed > 0 || r.Counters.Unknown > 0 {
		return true
	}
	// Three standard deviations of so many random arrivals.
	expected := before.Rate() * float64(during.LengthNs) / 1e9
	if missing := expected - float64(during.Acked); missing > max(less*expected, 3*math.Sqrt(expected)) {
		return true
	}
	for _, percentile := range []float64{99, 95, 90, 75, 50} {
		was, known := before.Publish.Point(percentile)
		is, too := during.Publish.Point(percentile)
		if known && too && was.Bound == result.Exact {
			return is.Bound != result.Exact || float64(is.LatencyNs) > slower*float64(was.LatencyNs)
		}
	}
	return false
}

// confidence is that of the bounds that rounds support.
const confidence = 0.95

// MostFailing is the share of rounds that fails at most, as so many rounds without a
// failure show with 95% confidence.
func MostFailing(rounds int) string {
	return fmt.Sprintf("%.0f%%", stats.UpperBound(0, int64(rounds), confidence)*100)
}

// FailureBound says what so many rounds without a failure leave open of the next.
func FailureBound(rounds int) string {
	which := "rounds"
	if rounds == 1 {
		which = "round"
	}
	return fmt.Sprintf("%d %s without a failure bound the chance of a failure at %s "+
		"(%.0f%% confidence)", rounds, which, MostFailing(rounds), confidence*100)
}

// together judges each guarantee by all rounds: broken in one is broken, and
// what is unknown of one is not known to hold.
func together(rounds []Round) []Guarantee {
	var out []Guarantee
	for _, name := range Guarantees {
		var g Guarantee
		outcomes := map[string]int{}
		of := map[string]string{} // the first sentence of each outcome
		for _, r := range rounds {
			i := slices.IndexFunc(r.Guarantees, func(g Guarantee) bool { return g.Name == name })
			if i < 0 {
				continue
			}
			this := r.Guarantees[i]
			if g.Name == "" || !this.Promised {
				g.Name, g.Promised, g.Why = name, this.Promised, this.Why
			}
			g.Count += this.Count
			g.Of += this.Of
			outcomes[this.Outcome]++
			if of[this.Outcome] == "" {
				of[this.Outcome] = fmt.Sprintf("round %d: %s", r.Number, this.Sentence)
			}
		}
		if g.Name == "" {
			continue
		}
		g.Outcome = result.Holds
		for _, outcome := range []string{result.Unknown, result.Broken} {
			if outcomes[outcome] > 0 {
				g.Outcome = outcome
			}
		}
		g.Sentence = fmt.Sprintf("%s in %d of %d rounds", g.Outcome, outcomes[g.Outcome], len(rounds))
		if g.Outcome == result.Holds {
			g.Sentence += fmt.Sprintf(": none of %s; %s", quantity.Count(g.Of),
				FailureBound(outcomes[g.Outcome]))
		} else {
			g.Sentence += "; " + of[g.Outcome]
		}
		out = append(out, g)
	}
	return out
}
