package verdict

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The bounds of the verdicts.
const (
	// The schedule lag that the generator may cause itself in 99 of 100
	// messages: half of the publish p99 that it is part of, and a millisecond in
	// any case. Beyond it the tail is more the generator's than the system's.
	ownLagBoundNs = 1_000_000
	ownLagShare   = 2
	// cpuBound is the share of all cores from which on a process that shares
	// nothing with the servers is itself the limit.
	cpuBound = 0.9
	// achievedBound is the share of the offered rate that must be reached.
	achievedBound = 0.99
	// littleBound is by how much the sampled number in flight may miss rate x
	// latency; below littleFewest in flight on average the samples are too few
	// to tell.
	littleBound  = 0.10
	littleFewest = 0.5
	// littleSpans is how many times the mean send latency must fit into the
	// window: messages that begin or end outside count for less than a tenth.
	littleSpans = 40
)

// Judge fills the verdicts of a run and the warnings that follow from its
// figures, in place of those that it had. The events are those of the run
// (result.Saved has them); without them nothing is said of faults.
func Judge(r *result.Run, events ...result.Event) {
	if r.Imported != nil {
		r.Verdicts = imported(r)
		r.Warnings = importWarnings(r)
		return
	}
	r.Verdicts = []result.Verdict{generator(r), rate(r), loss(r), order(r)}
	if once(r) {
		r.Verdicts = append(r.Verdicts, duplicates(r))
	}
	r.Verdicts = append(r.Verdicts, failures(r), durability(r), littlesLaw(r))
	if r.Backlog != nil {
		r.Verdicts = append(r.Verdicts, catchUp(r.Backlog))
	}
	r.Summary.Generator.Limited = r.Verdicts[0].Outcome == result.Broken
	r.Warnings = warnings(r, events)
}

// Sound reports whether the system kept its word: nothing acknowledged was
// lost or damaged, nothing came twice where once was promised, durability was as
// asked, its readers caught up with what waited, and anything was acknowledged at
// all. What it refused outright it made no promise about.
func Sound(r *result.Run) bool {
	if c := r.Counters; c.Scheduled > 0 && c.Acked == 0 && r.State == result.Complete {
		return false
	}
	return !slices.ContainsFunc(r.Verdicts, func(v result.Verdict) bool {
		return v.Outcome == result.Broken && slices.Contains([]string{Loss, Duplicates, Durability, CatchUp}, v.Name)
	})
}

// The names of the verdicts.
const (
	Generator  = "generator"
	Rate       = "rate"
	Loss       = "loss"
	Order      = "order"
	Duplicates = "duplicates" // of exactly_once delivery only
	Failures   = "failures"
	Durability = "durability"
	LittlesLaw = "littles_law"
)

func say(name, outcome, format string, args ...any) result.Verdict {
	return result.Verdict{Name: name, Outcome: outcome, Sentence: fmt.Sprintf(format, args...)}
}

// generator asks whether plimsoll itself was the limit.
func generator(r *result.Run) result.Verdict {
	g, lag := r.Summary.Generator, r.Summary.Series(result.Lag)
	if lag.Count == 0 {
		return say(Generator, result.Unknown, "nothing was handed over in the measured window")
	}
	if r.Load.Closed != nil {
		return turnAround(r)
	}
	bound := int64(ownLagBoundNs)
	publish := r.Summary.Series(result.Publish)
	if p99, ok := publish.At(99); ok {
		bound = max(bound, p99/ownLagShare)
	} else if p50, ok := publish.At(50); ok {
		// Too few messages for a p99, which is no less than this.
		bound = max(bound, p50/ownLagShare)
	}
	if g.OwnLagP99Ns > bound {
		return say(Generator, result.Broken,
			"the load generator was the limit: of 100 messages it handed one over more than %s late by its own fault (bound %s)",
			quantity.Duration(g.OwnLagP99Ns), quantity.Duration(bound))
	}
	if g.CPUShare > cpuBound && !r.System.SharesHost {
		return say(Generator, result.Broken, "the load generator was the limit: it used %.0f%% of all cores", g.CPUShare*100)
	}
	return say(Generator, result.Holds, "the load generator kept up: own lag p99 %s, bound %s",
		quantity.Duration(g.OwnLagP99Ns), quantity.Duration(bound))
}

// rate asks whether the system kept up with what was offered.
func rate(r *result.Run) result.Verdict {
	s := r.Summary
	if r.Load.Closed != nil {
		return say(Rate, result.Unknown, "a closed loop offers no more than the system answers, so it cannot tell whether a rate is kept up with: %s was acknowledged", quantity.Rate(s.AchievedRate))
	}
	if s.OfferedRate == 0 {
		return say(Rate, result.Unknown, "nothing was offered in the measured window")
	}
	share := s.AchievedRate / s.OfferedRate
	if share < achievedBound {
		return say(Rate, result.Broken, "%s was offered and %s acknowledged in time (%.1f%%)",
			quantity.Rate(s.OfferedRate), quantity.Rate(s.AchievedRate), share*100)
	}
	return say(Rate, result.Holds, "%s was offered and %s acknowledged", quantity.Rate(s.OfferedRate), quantity.Rate(s.AchievedRate))
}

// ledger adds the subscriptions' accounts up.
func ledger(r *result.Run) (total result.SubscriptionLedger) {
	for _, l := range r.Ledger.Subscriptions {
		total.Lost += l.Lost
		total.Unread += l.Unread
		total.Duplicate += l.Duplicate
		total.Reordered += l.Reordered
		total.Corrupt += l.Corrupt
		total.Foreign += l.Foreign
		total.Acked += l.Acked
		total.Received += l.Received
	}
	return total
}

// loss asks whether every acknowledged message arrived, undamaged.
func loss(r *result.Run) result.Verdict {
	if !r.Ledger.Accounted {
		return say(Loss, result.Unknown, "the run did not get to its account")
	}
	l := ledger(r)
	switch {
	case l.Corrupt > 0:
		return say(Loss, result.Broken, "%s messages arrived damaged", quantity.Count(l.Corrupt))
	case l.Acked == 0:
		return say(Loss, result.Unknown, "nothing was acknowledged, so nothing could be lost")
	case l.Lost == 0 && l.Unread > 0:
		return say(Loss, result.Unknown, "%s acknowledged messages had not been read by those who read later when the run ended", quantity.Count(l.Unread))
	case l.Lost == 0:
		return say(Loss, result.Holds, "every acknowledged message arrived: %s of %s", quantity.Count(l.Acked), quantity.Count(l.Acked))
	case r.State == result.Interrupted || r.State == result.Failed:
		return say(Loss, result.Unknown, "%s acknowledged messages had not arrived when the run was cut short", quantity.Count(l.Lost))
	case r.Load.Delivery == "at_most_once":
		return say(Loss, result.Broken, "%s acknowledged messages never arrived, which at_most_once delivery allows", quantity.Count(l.Lost))
	}
	return say(Loss, result.Broken, "%s acknowledged messages never arrived within the drain", quantity.Count(l.Lost))
}

// once reports whether each message was promised to come exactly once.
func once(r *result.Run) bool { return r.Load.Delivery == "exactly_once" }

// duplicates asks whether exactly once was kept. Other deliveries may hand a
// message over again, and order tells how often they did.
func duplicates(r *result.Run) result.Verdict {
	if !r.Ledger.Accounted {
		return say(Duplicates, result.Unknown, "the run did not get to its account")
	}
	l := ledger(r)
	switch {
	case l.Duplicate > 0:
		return say(Duplicates, result.Broken, "%s messages came more than once, which exactly_once delivery forbids", quantity.Count(l.Duplicate))
	case l.Received == 0:
		return say(Duplicates, result.Unknown, "nothing was received, so nothing could come twice")
	}
	return say(Duplicates, result.Holds, "no message came more than once, of %s received", quantity.Count(l.Received))
}

// order asks whether messages came once and in order. Where once is a promise
// of its own, duplicates answers for it.
func order(r *result.Run) result.Verdict {
	if !r.Ledger.Accounted {
		return say(Order, result.Unknown, "the run did not get to its account")
	}
	l := ledger(r)
	if once(r) {
		if l.Reordered > 0 {
			return say(Order, result.Broken, "%s messages came out of order", quantity.Count(l.Reordered))
		}
		return say(Order, result.Holds, "every message came in the order of its lane")
	}
	if l.Reordered > 0 || l.Duplicate > 0 {
		return say(Order, result.Broken, "%s messages came out of order and %s more than once",
			quantity.Count(l.Reordered), quantity.Count(l.Duplicate))
	}
	return say(Order, result.Holds, "every message came once and in the order of its lane")
}

// failures asks whether the system refused or left anything unanswered.
func failures(r *result.Run) result.Verdict {
	c := r.Counters
	if c.Scheduled == 0 {
		return say(Failures, result.Unknown, "nothing was scheduled in the measured window")
	}
	if c.Acked+c.Failed+c.Unknown+c.Unsent != c.Scheduled {
		return say(Failures, result.Unknown, "the run did not get to its account")
	}
	if c.Failed+c.Unknown+c.Unsent == 0 {
		return say(Failures, result.Holds, "every message was sent and acknowledged")
	}
	return say(Failures, result.Broken, "%s messages were refused, %s never answered, %s due and never sent",
		quantity.Count(c.Failed), quantity.Count(c.Unknown), quantity.Count(c.Unsent))
}

func durability(r *result.Run) result.Verdict {
	d := r.Durability
	switch {
	case d.Level == 0:
		return say(Durability, result.Unknown, "level %d was set and could not be read back", d.Asked)
	case d.Level != d.Asked:
		return say(Durability, result.Broken, "level %d was asked for, the cluster is at level %d", d.Asked, d.Level)
	}
	return say(Durability, result.Holds, "level %d, read back from the cluster: an acknowledged message is %s", d.Level, d.Meaning)
}

// littlesLaw asks whether our own numbers agree with one another. It does so
// only where the law speaks of them: in a steady state that lasts many times as
// long as a message takes, when every message is answered.
func littlesLaw(r *result.Run) result.Verdict {
	l, c := r.Summary.Little, r.Counters
	send, wait := r.Summary.Series(result.Send), r.Summary.Series(result.Hiccup)
	switch {
	case l.Samples == 0:
		return say(LittlesLaw, result.Unknown, "the number in flight was not sampled")
	case r.State != result.Complete || c.Failed+c.Unknown+c.Unsent > 0 || r.Load.Closed == nil && r.Summary.AchievedRate < achievedBound*r.Summary.OfferedRate:
		return say(LittlesLaw, result.Unknown, "not every message was answered in its time, so that rate x latency is not the number in flight")
	case send.MeanNs*littleSpans > float64(r.Summary.WindowNs) || wait.MaxNs > hiccupBoundNs:
		return say(LittlesLaw, result.Unknown, "the window is too short for the latency, or was interrupted by a pause, to check the figures by")
	case l.ExpectedInFlight < littleFewest:
		return say(LittlesLaw, result.Unknown, "%.2f messages were in flight on average: too few to check the figures by", l.ExpectedInFlight)
	case l.Miss > littleBound:
		return say(LittlesLaw, result.Broken, "%.1f messages were in flight by sampling, %.1f by rate x latency: one of plimsoll's own figures is wrong by %.0f%%",
			l.SampledInFlight, l.ExpectedInFlight, l.Miss*100)
	case r.Load.Closed != nil:
		return sendsInFlight(r)
	}
	return say(LittlesLaw, result.Holds, "%.1f messages in flight by sampling, %.1f by rate x latency", l.SampledInFlight, l.ExpectedInFlight)
}
