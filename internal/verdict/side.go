package verdict

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Side is the part of the path of a message that kept a rate from being stable.
type Side struct {
	Name     string `json:"name"`     // see the Side names
	Sentence string `json:"sentence"` // why it is named
	// Resource and Use are the resource that Limiting names, and its sentence.
	Resource string `json:"resource,omitempty"`
	Use      string `json:"use,omitempty"`
}

// The sides that may limit a run.
const (
	SideGenerator = "generator" // plimsoll itself
	SideWorkload  = "workload"  // its bound of messages in flight
	SidePublish   = "publish"   // offered messages wait for their acknowledgement
	SideConsume   = "consume"   // acknowledged messages wait for their consumers
	SideUnknown   = "unknown"
)

const (
	// fullFlight is the share of the allowed messages in flight at which the workload's
	// bound counts as reached.
	fullFlight = 0.9
	// sameLatency is the greatest ratio of the mean send latencies at two rates when no
	// messages queue within the system: where they queue, the latency at the system's limit
	// is many times higher.
	sameLatency = 1.25
)

// LimitingSide names the side that limited an unstable run. stable is a stable run at a
// lower rate, or nil; the comparison distinguishes a workload that allows too few messages in
// flight from a system at its limit. The first side that applies is named:
//
//   - generator: its verdict is broken;
//   - workload: nearly as many messages are in flight as it allows, and they take
//     no longer than at the stable rate: by Little's law it allows no higher rate,
//     whatever the system could carry;
//   - publish or consume: the side where the number of waiting messages grows, or
//     whose objective is missed;
//   - publish: messages were refused or left unanswered.
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
		return Side{Name: SidePublish, Sentence: "the system delayed its producers: " + c.Sentence}
	case ClauseAchieved:
		if sum.AchievedRate >= achievedBound*sum.OfferedRate {
			return Side{Name: SideConsume,
				Sentence: "acknowledged messages were not received in time"}
		}
		return Side{Name: SidePublish, Sentence: "offered messages were not acknowledged in time"}
	}
	return Side{Name: SideUnknown, Sentence: "the figures do not show which side was the limit"}
}

// growing names the side on which the number of waiting messages grows.
func growing(q queues, offeredRate float64) (Side, bool) {
	bound := GrowthBound * offeredRate
	sent := judge(q.seconds, q.unacked(), offeredRate, bound)
	read := judge(q.seconds, q.unread, offeredRate, bound)
	switch {
	case !sent.known || !sent.grows && !read.grows:
		return Side{}, false
	case read.rate > sent.rate:
		return Side{Name: SideConsume,
			Sentence: "the number of messages acknowledged and not yet received grows by " +
				quantity.Rate(read.rate)}, true
	}
	return Side{Name: SidePublish,
		Sentence: "the number of messages due and not yet acknowledged grows by " +
			quantity.Rate(sent.rate)}, true
}

// fullOf judges whether the workload's bound of messages in flight was the limit.
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
		"max_in_flight x producers / latency = %s x %s / %s = %s: the workload allows no higher "+
			"rate, and the load did not raise the latency (%s at a stable rate): a larger "+
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
