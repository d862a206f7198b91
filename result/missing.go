package result

import (
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Bound says how a printed percentile relates to the true percentile.
type Bound string

// The bounds of a percentile.
const (
	Exact Bound = "" // the percentile itself
	// AtLeast is a lower bound: some of the messages below the percentile were never answered,
	// and each counts only for the time that it was waited for.
	AtLeast Bound = "at_least"
	// NotReached is a percentile that falls among messages without any latency. Its value is
	// the largest known latency, which the percentile exceeds.
	NotReached Bound = "not_reached"
)

// Missing counts the messages of a series that have no latency. They are part of its
// percentiles: an unanswered message counts for the time that it was waited for, and every
// other one as longer than any bound (right-censored observations; Kaplan and Meier,
// "Nonparametric Estimation from Incomplete Observations", 1958).
type Missing struct {
	Unanswered  int64 `json:"unanswered,omitempty"`   // handed over, no answer by the end
	Refused     int64 `json:"refused,omitempty"`      // the system said no
	Unsent      int64 `json:"unsent,omitempty"`       // due, never handed over
	NotReceived int64 `json:"not_received,omitempty"` // never reached the subscription
}

// Total returns the number of messages without a latency.
func (m Missing) Total() int64 { return m.Unanswered + m.Refused + m.Unsent + m.NotReceived }

// Words counts the messages by reason: 3 messages never answered, 8 refused. Empty: there are none.
func (m Missing) Words() string {
	var parts []string
	for _, why := range []struct {
		n     int64
		words string
	}{
		{m.Unanswered, "never answered"}, {m.Refused, "refused"},
		{m.Unsent, "never sent"}, {m.NotReceived, "never received"},
	} {
		if why.n == 0 {
			continue
		}
		count := quantity.Count(why.n)
		if len(parts) == 0 {
			count = quantity.Plural(why.n, "message", "messages")
		}
		parts = append(parts, count+" "+why.words)
	}
	return strings.Join(parts, ", ")
}

// Censored returns the figures of a histogram for a table, like Summarize, and includes the
// messages without a latency in the percentiles. waited has the times for which unanswered
// messages were waited for; nil: not known.
func Censored(
	series Series,
	h, waited *hdr.Histogram,
	missing Missing,
	clamped, negative int64,
) Latency {
	l := Summarize(series, h, clamped, negative)
	l.Missing = missing
	total := l.Count + missing.Total()
	if total == l.Count {
		return l
	}
	answered := NewHistogram()
	if h != nil {
		answered = h
	}
	// The buckets are those of the latencies, so that no value moves to another bucket.
	known := hdr.Import(answered.Export())
	if waited != nil {
		known.Merge(waited)
	}
	l.Answered, l.Percentiles = l.Percentiles, []Percentile{}
	for _, p := range Percentiles {
		if p == 50 || Supported(p, total) {
			l.Percentiles = append(l.Percentiles, censoredAt(p, answered, known, total))
		}
	}
	return l
}

// censoredAt returns a percentile of total messages. answered has the latencies, known has the
// latencies and the lower bounds of other messages. The percentile lies between two values at
// its rank: one assumes that every bound is the latency itself, the other that every bound is
// infinite. It is exact when the two are equal.
func censoredAt(percentile float64, answered, known *hdr.Histogram, total int64) Percentile {
	rank := int64(percentile/100*float64(total) + 0.5)
	switch n := known.TotalCount(); {
	case n == 0:
		return Percentile{Percentile: percentile, Bound: NotReached}
	case rank > n:
		return Percentile{Percentile: percentile, LatencyNs: known.Max(), Bound: NotReached}
	}
	at := Percentile{Percentile: percentile, LatencyNs: atRank(known, rank)}
	if rank > answered.TotalCount() || atRank(answered, rank) != at.LatencyNs {
		// A bound must not exceed the true value. The value is the upper end of a bucket whose
		// width is at most a 1,024th of it.
		at.LatencyNs, at.Bound = at.LatencyNs-at.LatencyNs>>10, AtLeast
	}
	return at
}

// atRank returns the value with this rank in a histogram, counted from the least value.
func atRank(h *hdr.Histogram, rank int64) int64 {
	return h.ValueAtPercentile(float64(rank) / float64(h.TotalCount()) * 100)
}

// Worst returns the largest latency of a series, and how it relates to the true largest
// latency.
func (l Latency) Worst() (ns int64, bound Bound) {
	ns = l.MaxNs
	for _, p := range l.Percentiles {
		ns = max(ns, p.LatencyNs)
	}
	switch m := l.Missing; {
	case m.Total() > m.Unanswered:
		return ns, NotReached
	case m.Unanswered > 0:
		return ns, AtLeast
	}
	return l.MaxNs, Exact
}

// Point returns a percentile with its bound, and whether the number of samples supports it.
func (l Latency) Point(percentile float64) (Percentile, bool) {
	for _, p := range l.Percentiles {
		if p.Percentile == percentile {
			return p, true
		}
	}
	return Percentile{Percentile: percentile}, false
}
