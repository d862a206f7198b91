package measure

import (
	"math/bits"

	"github.com/plimsoll-bench/plimsoll/result"
)

// This file has the plain data in which a recording is handed over: no pointer into the recording,
// and nothing that could not be sent over a network. internal/load/worker.go says which data is
// handed over, and when.

// Histogram is the latencies of one series and phase that came in an interval. Two of
// the same series and phase merge by adding the counts of each bucket.
type Histogram struct {
	Series result.Series
	Phase  Phase
	// Packed are the counts of the buckets, which are those of result.NewHistogram (packed.go).
	Packed packed
	// Clamped latencies were above the range, negative ones below it; each counts too in
	// the bucket at that end.
	Clamped, Negative int64
}

// Histograms are those of an interval.
type Histograms []Histogram

// Empty reports whether the histogram holds nothing.
func (h Histogram) Empty() bool { return len(h.Packed) == 0 }

// Logged returns the histogram as the log of a run has it.
func (h Histogram) Logged(tag string, startMs, endMs int64) result.Logged {
	return result.Logged{Tag: tag, StartMs: startMs, EndMs: endMs, MaxNs: h.Packed.most(),
		Buckets: h.Packed.buckets}
}

// Set is a set of sequence numbers from 0, in pages of PageBits. Two of the same lane
// merge to their union.
type Set struct {
	Full []Pages // pages with all of their numbers: a set without gaps takes one
	Part []Page  // the others that have some, rising
}

// End returns the number behind the greatest of the set, or the first of an empty last page; 0: the
// set is empty.
func (s Set) End() (end int64) {
	if n := len(s.Full); n > 0 {
		end = (s.Full[n-1].First + s.Full[n-1].Count) * PageBits
	}
	if n := len(s.Part); n > 0 {
		last := &s.Part[n-1]
		end = max(end, last.Number*PageBits+1)
		for i, word := range last.Words {
			if word != 0 {
				end = max(end, last.Number*PageBits+int64(i*64+bits.Len64(word)))
			}
		}
	}
	return end
}

// Pages is a run of Count pages that begins at page First.
type Pages struct{ First, Count int64 }

// Page has the numbers from Number x PageBits on, a bit each.
type Page struct {
	Number int64
	Words  [PageBits / 64]uint64
}

// SentAccount is the outcome of one producer's messages since the load began.
type SentAccount struct {
	Topic, Producer int        // the producer's index is among those of its topic
	Lanes           []SentLane // by partition
	// AckedWithin counts the messages that were acknowledged within the measured window.
	AckedWithin int64
	// Transactions are those of the producer, by its own number less 1.
	Transactions []Transaction
}

// SentLane is the outcome of one producer's messages to one partition.
type SentLane struct {
	Acked, Refused Set
	// MeasuredFrom is the first sequence number that was due in the measured window, and Handed
	// the number of messages that were handed over; only when the load is over.
	MeasuredFrom, Handed int64
	// Times are when the first messages were due and acknowledged, by sequence number: of
	// a run with faults, and only when the load is over.
	Times []Moment
}

// SentCounts counts messages.
type SentCounts struct{ Handed, Acked, Refused int64 }

// Plus returns the sum.
func (c SentCounts) Plus(o SentCounts) SentCounts {
	return SentCounts{c.Handed + o.Handed, c.Acked + o.Acked, c.Refused + o.Refused}
}

// From counts the lane's messages from a sequence number on, when the load is over.
func (l *SentLane) From(seq int64) SentCounts {
	return SentCounts{Handed: max(0, l.Handed-seq), Acked: l.Acked.bitmap().countFrom(seq),
		Refused: l.Refused.bitmap().countFrom(seq)}
}

// Moment is when a message was due and acknowledged, on the worker's clock.
type Moment struct{ DueNs, AckNs int64 }

// MomentBytes is the memory of a Moment.
const MomentBytes = 16

// Transaction is how many messages a transaction had, and whether it was aborted.
type Transaction struct {
	Messages int32
	Aborted  bool
}

// ArrivedAccount is what one consumer received since the load began.
type ArrivedAccount struct {
	Topic, Subscription, Consumer int // the consumer's index is among those of its subscription
	// Worker tells accounts of several workers apart. Who merges them sets it.
	Worker int
	Lanes  []ArrivedLane
	// Duplicate counts copies of a message that the same consumer had received. Those that
	// came to several consumers follow from their sets.
	Duplicate int64
	// Reordered counts first arrivals after a later message of their lane at the same
	// consumer; overtaken those after one at another consumer of the worker.
	Reordered, Overtaken        int64
	Copies, Late                []Sighting // the first few
	Foreign, Corrupt, Misplaced int64
	// GivenBack and Redelivered are as in the ledger. Handled counts what came of the measured
	// window, first arrivals and redeliveries.
	GivenBack, Redelivered, Handled int64
	// Transactions counts first arrivals by producer of the topic and by transaction.
	Transactions [][]int32
}

// ArrivedLane is the set of messages received on a lane (a producer and a partition of the topic).
type ArrivedLane struct {
	Lane   int
	Seen   Set
	LastNs int64 // time of the last arrival, copies included, on the worker's clock
}

// Sighting names one message by its lane and its sequence number.
type Sighting struct {
	Lane int
	Seq  int64
}

// MergeHistograms returns the sums of histograms of the same series and phase, in the
// order in which these come first.
func MergeHistograms(all ...[]Histogram) []Histogram {
	type cell struct {
		series result.Series
		phase  Phase
	}
	places := make(map[cell]int)
	var groups [][]Histogram
	for _, some := range all {
		for _, h := range some {
			at, has := places[cell{h.Series, h.Phase}]
			if !has {
				at = len(groups)
				places[cell{h.Series, h.Phase}], groups = at, append(groups, nil)
			}
			groups[at] = append(groups[at], h)
		}
	}
	var sums buckets
	merged := make([]Histogram, 0, len(groups))
	for _, group := range groups {
		merged = append(merged, sums.sum(group))
	}
	return merged
}

// sum returns the sum of histograms of one series and phase. The buckets are empty, and are empty
// afterwards.
func (b *buckets) sum(group []Histogram) Histogram {
	if len(group) == 1 {
		return group[0]
	}
	for _, h := range group {
		b.clamped, b.negative = b.clamped+h.Clamped, b.negative+h.Negative
		b.add(h.Packed)
	}
	sum := Histogram{Series: group[0].Series, Phase: group[0].Phase}
	b.take(&sum)
	return sum
}

// set returns the bitmap as plain data.
func (b *bitmap) set() Set {
	var s Set
	for i, p := range b.pages {
		switch p {
		case nil:
		case fullPage:
			if n := len(s.Full); n > 0 && s.Full[n-1].First+s.Full[n-1].Count == int64(i) {
				s.Full[n-1].Count++
			} else {
				s.Full = append(s.Full, Pages{int64(i), 1})
			}
		default:
			s.Part = append(s.Part, Page{int64(i), p.words})
		}
	}
	return s
}

// bitmap returns the set as a bitmap, which can be changed and compared.
func (s Set) bitmap() *bitmap {
	b := &bitmap{}
	at := func(number int64) **page {
		for int64(len(b.pages)) <= number {
			b.pages = append(b.pages, nil)
		}
		return &b.pages[number]
	}
	for _, run := range s.Full {
		for number := run.First; number < run.First+run.Count; number++ {
			*at(number) = fullPage
		}
	}
	for _, part := range s.Part {
		p := &page{words: part.Words}
		for _, word := range part.Words {
			p.count += bits.OnesCount64(word)
		}
		if p.count == PageBits {
			p = fullPage
		}
		*at(part.Number) = p
	}
	return b
}

// Numbers is a set that grows. The zero value is empty.
type Numbers struct {
	all  bitmap
	pool pagePool
}

// Add adds a number.
func (n *Numbers) Add(number int64) { n.all.add(number, &n.pool) }

// Set returns the numbers as plain data.
func (n *Numbers) Set() Set { return n.all.set() }

// Has returns what reports whether a number is in the set.
func (s Set) Has() func(number int64) bool {
	b := s.bitmap()
	return func(number int64) bool { return b.word(number/64)&(1<<(number%64)) != 0 }
}

// Union returns the numbers of both sets.
func (s Set) Union(other Set) Set {
	b := s.bitmap()
	var pool pagePool
	b.union(other.bitmap(), &pool, func(int64) {})
	return b.set()
}
