package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Guarantee is the judgement of one guarantee, for one round or for all rounds together.
type Guarantee struct {
	Name     string `json:"name"` // see Promises
	Promised bool   `json:"promised"`
	Why      string `json:"why"`     // why it is promised, or why not
	Outcome  string `json:"outcome"` // holds, broken, unknown
	Sentence string `json:"sentence"`
	Count    int64  `json:"count"` // messages that broke it
	Of       int64  `json:"of"`    // acknowledged, or received
}

// Judge judges each guarantee for one round. The run must have been judged before
// (verdict.Read), because Judge uses the effects of its faults.
func Judge(s *result.Saved) []Guarantee {
	r := &s.Run
	var total result.SubscriptionLedger
	for _, l := range r.Ledger.Subscriptions {
		// A message counts once, for the subscription with the most failures.
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
			out = append(out, Guarantee{
				Name: NoAborted, Count: total.RefusedReceived, Of: refused,
			})
		}
		out = append(out, Guarantee{Name: WholeTransactions, Count: total.PartialTransactions,
			Of: total.WholeTransactions + total.PartialTransactions})
	}
	for i := range out {
		g := &out[i]
		g.Promised, g.Why = promised(r, g.Name)
		g.Sentence = fmt.Sprintf(g.Promise().counted, quantity.Count(g.Count), quantity.Count(g.Of))
		if g.Name == NoLoss && total.Corrupt > 0 {
			g.Sentence += fmt.Sprintf(", or arrived damaged (%s)", quantity.Count(total.Corrupt))
		}
		if g.Name == NoLoss {
			g.Sentence += verdict.GonePartitions(r)
		}
		unknown.decide(g)
	}
	return out
}

// doubts are the reasons why a round's counts prove less than they seem to. An empty reason
// means no doubt.
type doubts struct {
	always string // the round proves nothing
	ofLoss string // missing messages are perhaps not lost
	held   string // guarantees without a failure perhaps did not hold
	late   string // copies may still arrive
	order  string // messages perhaps came out of order
	unread int64  // messages that may complete a transaction
}

// decide sets the outcome of a guarantee whose messages were counted.
func (d doubts) decide(g *Guarantee) {
	switch {
	case d.always != "":
		g.Outcome, g.Sentence = result.Unknown, d.always
	case g.Count > 0 && g.Name == NoLoss && d.ofLoss != "":
		g.Outcome = result.Unknown
		g.Sentence += "; not known to be lost: " + d.ofLoss
	case g.Name == WholeTransactions && g.Count > 0 && g.Count <= d.unread:
		g.Outcome = result.Unknown
		g.Sentence += "; each unread message may complete one"
	case g.Count > 0:
		g.Outcome = result.Broken
	case d.held == "" && d.order != "" && g.Name == Order:
		g.Outcome, g.Sentence = result.Unknown, d.order
	case d.held == "" && d.late != "" && (g.Name == NoDuplicates || g.Name == Order):
		g.Outcome = result.Unknown
		g.Sentence += "; " + d.late
	case g.Of == 0 && g.Name == WholeTransactions:
		g.Outcome, g.Sentence = result.Unknown, "no transaction of several messages was read"
	case d.held != "":
		g.Outcome, g.Sentence = result.Unknown, g.Sentence+", which proves nothing: "+d.held
	default:
		g.Outcome = result.Holds
	}
}

// untested returns the doubts about a round.
func untested(s *result.Saved) (d doubts) {
	r := &s.Run
	switch {
	case r.State != result.Complete:
		d.always = fmt.Sprintf("the round is %s (%s)", r.State, r.StateReason)
		return d
	case !r.Ledger.Accounted:
		d.always = "the round ended before its account"
		return d
	case len(r.Faults) == 0:
		d.always = "no fault was injected"
		return d
	}
	last := r.Faults[len(r.Faults)-1]
	// Servers that came back without a partition say so, and deliver nothing of it.
	delivered := r.Ledger.GonePartitions > 0 ||
		slices.ContainsFunc(s.Intervals, func(i result.Interval) bool {
			return i.EndNs > last.HealedNs && i.Received+i.Replayed > 0
		})
	answered := !last.Effect.Seen() || last.Effect.AckedAgainNs != 0 ||
		slices.ContainsFunc(s.Intervals, func(i result.Interval) bool {
			return i.FirstAckNs > last.HealedNs // in the drain
		})
	if !delivered {
		d.ofLoss = "nothing was delivered after the heal, so the system may not have come back"
		if !answered {
			d.held = "nothing was acknowledged or delivered after the fault, " +
				"so the system may not have come back"
		}
	}
	unread := func(l result.SubscriptionLedger) bool { return l.Unread > 0 }
	if slices.ContainsFunc(r.Ledger.Subscriptions, unread) {
		d.held = "the messages that the system held at the end were not all read"
	}
	if _, why := verdict.Watched(r); why != "" {
		d.late = why
	}
	for _, l := range r.Ledger.Subscriptions {
		d.order = cmp.Or(d.order, verdict.OrderUnwatched(r, l))
		d.unread += l.Unread
	}
	switch {
	case r.Impact == nil || r.Impact.Before.Acked == 0:
		d.held = "nothing was acknowledged in the window before the fault"
	case !slices.ContainsFunc(r.Faults, func(f result.Fault) bool { return seen(r, f) }):
		d.held = "the fault had no visible effect: no server ended, acknowledgements neither " +
			"failed nor paused for long, and rate and latency were as before"
	}
	if f := notInjected(r); f != "" {
		d.held = "a fault was not injected (" + f + "): leave more time between the faults"
	}
	return d
}

// notInjected returns a fault of the run's workload that was left out each time; empty: there is
// none, or it is not known.
func notInjected(r *result.Run) string {
	w, err := workload.Parse("the run's workload", []byte(r.Resolved.Workload))
	if err != nil {
		return ""
	}
	injected := map[string]int{}
	for _, f := range r.Faults {
		injected[f.Do+" "+f.Target]++
	}
	for _, f := range w.Faults {
		kind := fmt.Sprintf("%s %s", f.Do, f.Target)
		if injected[kind]--; injected[kind] < 0 {
			return f.String()
		}
	}
	return ""
}

// The smallest visible changes: publish latency grows by the factor slower, or the rate
// falls by the share less.
const (
	slower = 2
	less   = 0.03
)

// seen reports whether a fault had a visible effect.
func seen(r *result.Run, f result.Fault) bool {
	ends := f.Do == string(workload.FaultKill) || f.Do == string(workload.FaultPowerCut)
	if ends && len(r.System.Nodes) > 0 {
		return true // the injector saw the process end
	}
	before, during := r.Impact.Before, r.Impact.During
	if f.Effect.Seen() || during.Failed > 0 || r.Counters.Unknown > 0 {
		return true
	}
	// Random arrivals may be missing by up to three standard deviations of their number.
	expected := before.Rate() * float64(during.LengthNs) / 1e9
	missing := expected - float64(during.Acked)
	if missing > max(less*expected, 3*math.Sqrt(expected)) {
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

// confidence is the confidence level of the bounds.
const confidence = 0.95

// MostFailing returns the upper bound, with 95% confidence, on the share of failing rounds after a
// number of rounds without a failure.
func MostFailing(rounds int) string {
	return fmt.Sprintf("%.0f%%", stats.UpperBound(0, int64(rounds), confidence)*100)
}

// FailureBound returns a sentence with that bound.
func FailureBound(rounds int) string {
	begin := fmt.Sprintf("%d rounds without a failure bound", rounds)
	if rounds == 1 {
		begin = "1 round without a failure bounds"
	}
	return fmt.Sprintf("%s the chance of a failure at %s (%.0f%% confidence)", begin,
		MostFailing(rounds), confidence*100)
}

// together judges each guarantee for all rounds. A guarantee that one round broke is broken.
// A guarantee that is unknown in one round is unknown, unless another round broke it.
func together(rounds []Round) []Guarantee {
	var out []Guarantee
	for _, p := range Promises {
		name := p.Name
		var g Guarantee
		outcomes := map[string]int{}
		first := map[string]string{} // the first sentence of each outcome
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
			if first[this.Outcome] == "" {
				first[this.Outcome] = fmt.Sprintf("round %d: %s", r.Number, this.Sentence)
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
		g.Sentence = fmt.Sprintf("%s in %d of %d rounds",
			g.Outcome, outcomes[g.Outcome], len(rounds))
		if g.Outcome == result.Holds {
			g.Sentence += fmt.Sprintf(": none of %s; %s", quantity.Count(g.Of),
				FailureBound(outcomes[g.Outcome]))
		} else {
			g.Sentence += "; " + first[g.Outcome]
		}
		out = append(out, g)
	}
	return out
}
