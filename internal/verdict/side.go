package verdict

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Side is what kept a rate from being stable.
type Side struct {
	Name     string `json:"name"`     // see the Side names
	Sentence string `json:"sentence"` // why it is named
	// Resource is what Limiting names beside it, and its sentence.
	Resource string `json:"resource,omitempty"`
	Use      string `json:"use,omitempty"`
}

// The sides that may limit.
const (
	SideGenerator = "generator" // plimsoll itself
	SideWorkload  = "workload"  // its bound of messages in flight
	SidePublish   = "publish"   // what is offered waits to be acknowledged
	SideConsume   = "consume"   // what was acknowledged waits to be received
	SideUnknown   = "unknown"
)

const (
	// fullFlight is the share of the messages in flight that a workload allows
	// from which on its bound is reached.
	fullFlight = 0.9
	// sameLatency is by how much the mean send latency may differ between two
	// rates when nothing queues within the system: where something does, latency
	// at its limit is many times what it was.
	sameLatency = 1.25
)

// LimitingSide names the side that limited an unstable run. stable is a run at a
// lower rate that was stable, nil when there is none: beside it a workload that
// allows too few messages in flight is told from a system at its limit. The
// first of these that is so is named:
//
//   - generator: its verdict is broken;
//   - workload: nearly all messages that may be in flight are, and they take no
//     longer than at the stable rate, so that by Little's law no more can be
//     carried, whatever the system could do;
//   - publish or consume: where what waits grows, or whose objective is missed;
//   - publish: something was refused, or left unanswered.
func LimitingSide(unstable, stable *result.Saved, s Stability) Side {
	side := sideOf(unstable, stable, s)
	if side.Name == SideGenerator || side.Name == SideWorkload {
		return side
	}
	l := Limiting(&unstable.Run)
	side.Resource, side.Use = l.Resource, l.Sentence
	return side
}

func sideOf(unstable, stable *result.Saved, s Stability) Side {
	if c := s.Clause(ClauseGenerator); c.Outcome == result.Broken {
		return Side{Name: SideGenerator, Sentence: c.Sentence}
	}
	q := queuesOf(unstable)
	if side, is := fullOf(unstable, stable, q); is {
		return side
	}
	if side, is := growing(q, unstable.Run.Summary.OfferedRate); is {
		return side
	}
	sum := unstable.Run.Summary
	switch c, _ := s.Broken(); c.Name {
	case ClauseSLO:
		return missed(s)
	case ClauseFailures:
		return Side{Name: SidePublish, Sentence: c.Sentence}
	case ClauseLag:
		return Side{Name: SidePublish, Sentence: "the system held its producers up: " + c.Sentence}
	case ClauseAchieved:
		if sum.AchievedRate >= achievedBound*sum.OfferedRate {
			return Side{Name: SideConsume,
				Sentence: "what was acknowledged was not received in time"}
		}
		return Side{Name: SidePublish, Sentence: "what was offered was not acknowledged in time"}
	}
	return Side{Name: SideUnknown, Sentence: "nothing tells which side it was"}
}

// growing names the side on which more and more waits.
func growing(q queues, offeredRate float64) (Side, bool) {
	bound := GrowthBound * offeredRate
	sent := judge(q.seconds, q.unacked(), offeredRate, bound)
	read := judge(q.seconds, q.unread, offeredRate, bound)
	switch {
	case !sent.known || !sent.grows && !read.grows:
		return Side{}, false
	case read.rate > sent.rate:
		return Side{Name: SideConsume, Sentence: "what is acknowledged and not received grows by " +
			quantity.Rate(read.rate)}, true
	}
	return Side{Name: SidePublish, Sentence: "what is due and not acknowledged grows by " +
		quantity.Rate(sent.rate)}, true
}

// fullOf asks whether the workload's bound of messages in flight was the limit.
func fullOf(unstable, stable *result.Saved, q queues) (Side, bool) {
	l := unstable.Run.Load
	producers := l.Topics * l.Producers
	most := float64(producers) * float64(l.MaxInFlight)
	full := 0
	for _, n := range q.inFlight {
		if n >= fullFlight*most {
			full++
		}
	}
	if most <= 0 || full*2 < len(q.inFlight) ||
		unstable.Run.Summary.Generator.BlockedSeconds == 0 || stable == nil {
		return Side{}, false
	}
	now, before := unstable.Run.Summary.Series(result.Send), stable.Run.Summary.Series(result.Send)
	if now.Count == 0 || before.Count == 0 || now.MeanNs > sameLatency*before.MeanNs {
		return Side{}, false
	}
	return Side{Name: SideWorkload, Sentence: fmt.Sprintf(
		"max_in_flight x producers / latency = %s x %s / %s = %s: no more can be under way at "+
			"once, and the latency is not the load's (%s at a stable rate): a larger "+
			"max_in_flight, or more producers, may carry more",
		quantity.Count(int64(l.MaxInFlight)), quantity.Count(int64(producers)), duration(
			now.MeanNs),
		quantity.Rate(most/now.MeanNs*1e9), duration(before.MeanNs))}, true
}

// missed names the side whose objective was missed.
func missed(s Stability) Side {
	for _, c := range s.Clauses {
		if c.Name != ClauseSLO || c.Outcome == result.Holds {
			continue
		}
		if c.Series == result.EndToEnd {
			return Side{Name: SideConsume,
				Sentence: "an objective of end-to-end latency was missed: " + c.Sentence}
		}
		return Side{Name: SidePublish, Sentence: "an objective of publish latency was missed: " +
			c.Sentence}
	}
	return Side{Name: SideUnknown}
}
