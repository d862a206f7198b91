package measure

import (
	"math/bits"

	"github.com/plimsoll-bench/plimsoll/result"
)

// The buckets are those of result.NewHistogram: one for each value up to 2^subBits, then
// 2^(subBits-1) for each doubling.
const (
	subBits      = 11
	bucketPlaces = result.HistogramBytes / 8
)

// placeOf is the place of the bucket that holds a value.
func placeOf(ns int64) int {
	doubling := max(0, bits.Len64(uint64(ns))-subBits)
	return doubling<<(subBits-1) + int(ns>>doubling)
}

// leastAt is the least value of the bucket at a place.
func leastAt(place int) int64 {
	doubling := max(0, place>>(subBits-1)-1)
	return int64(place-doubling<<(subBits-1)) << doubling
}

// buckets counts latencies. Unlike a histogram of the library it takes no memory before
// the first latency, and is read and emptied in a time that follows from how far apart
// the latencies lie. The zero value is empty.
type buckets struct {
	counts            []int64
	from, to          int // the places in use; from == to: none
	clamped, negative int64
}

// count counts a latency. One out of range counts at the end of the range, and as such.
func (b *buckets) count(ns int64) {
	if ns < 0 {
		b.negative++
		ns = 0
	}
	if ns > result.HistogramMaxNs {
		b.clamped++
		ns = result.HistogramMaxNs
	}
	at := placeOf(ns)
	if b.from == b.to {
		b.begin(at)
	}
	b.from, b.to = min(b.from, at), max(b.to, at+1)
	b.counts[at]++
}

func (b *buckets) begin(at int) {
	if b.counts == nil {
		b.counts = make([]int64, bucketPlaces)
	}
	b.from, b.to = at, at+1
}

// take returns the counts as plain data, and empties the buckets.
func (b *buckets) take(into *Histogram) {
	into.Packed, into.Clamped, into.Negative = b.pack(), b.clamped, b.negative
	*b = buckets{counts: b.counts}
}
