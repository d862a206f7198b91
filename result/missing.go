package result

import (
	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Bound says how a printed percentile relates to the true one.
type Bound string

// The bounds of a percentile.
const (
	Exact Bound = "" // the percentile itself
	// AtLeast is a lower bound: some of the messages below it were never answered,
	// and each counts only for as long as it was waited for.
	AtLeast Bound = "at_least"
	// NotReached is a percentile that falls among messages without any latency. Its
	// value is the largest latency known, which the percentile exceeds.
	NotReached Bound = "not_reached"
)

// Missing counts the messages of a series that have no latency. They are part of
// its percentiles: an unanswered message counts for as long as it was waited for,
// every other one as longer than any bound (right-censored observations; Kaplan
// and Meier, "Nonparametric Estimation from Incomplete Observations", 1958).
type Missing struct {
	Unanswered  int64 `json:"unanswered,omitempty"`   // handed over, no answer by the end
	Refused     int64 `json:"refused,omitempty"`      // the system said no
	Unsent      int64 `json:"unsent,omitempty"`       // due, never handed over
	NotReceived int64 `json:"not_received,omitempty"` // never reached the subscription
}

// Total is the number of messages without a latency.
func (m Missing) Total() int64 { return m.Unanswered + m.Refused + m.Unsent + m.NotReceived }

// Censored reads a histogram into the figures of a table, like Summarize, with the
// messages that have no latency in the percentiles. waited holds for how long
// unanswered messages were waited for; nil: that is not known.
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
	// As fine as the latencies themselves, so that none moves to another bucket.
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

// censoredAt is a percentile of total messages. answered holds those that have a
// latency, known those and the lower bounds of others. The percentile lies between the
// value at its rank where every bound is the latency itself, and the one where every
// bound is infinite; it is exact where the two are the same.
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
		// A bound must not exceed what it bounds, and the value is the upper end of a bucket
		// that is at most a 1,024th of it wide.
		at.LatencyNs, at.Bound = at.LatencyNs-at.LatencyNs>>10, AtLeast
	}
	return at
}

// atRank is the value of the rank-th of a histogram's values, from the least.
func atRank(h *hdr.Histogram, rank int64) int64 {
	return h.ValueAtPercentile(float64(rank) / float64(h.TotalCount()) * 100)
}

// Worst is the largest latency of a series, and how it relates to the true one.
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

// Point returns a percentile with its bound, and whether the samples support it.
func (l Latency) Point(percentile float64) (Percentile, bool) {
	for _, p := range l.Percentiles {
		if p.Percentile == percentile {
			return p, true
		}
	}
	return Percentile{Percentile: percentile}, false
}
