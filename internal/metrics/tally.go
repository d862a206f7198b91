package metrics

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	nativeSchema = 5 // buckets of an octave, as a power of two
	// beyondAll is the native bucket of infinity: the one above that of the greatest number.
	beyondAll = 1024<<nativeSchema + 1
)

// bounds are the upper bounds of the classic buckets in seconds.
var bounds = classicBounds()

func classicBounds() []float64 {
	var out []float64
	for _, stretch := range []struct{ from, to, each int }{ // octaves, and buckets of each
		{-20, -14, 4}, {-14, 3, 16}, {3, 12, 4},
	} {
		for i := range (stretch.to - stretch.from) * stretch.each {
			out = append(out, math.Exp2(float64(stretch.from)+float64(i)/float64(stretch.each)))
		}
	}
	return append(out, math.Exp2(12))
}

// tally counts latencies in the buckets of both forms.
type tally struct {
	classic []uint64 // of each bucket alone; the last has no bound
	native  map[int]int64
	zero    uint64
	count   uint64
	sum     float64 // seconds
}

func newTally() *tally {
	return &tally{classic: make([]uint64, len(bounds)+1), native: map[int]int64{}}
}

// add adds the counts of a histogram of nanoseconds. Each of its buckets counts as its middle,
// which is at most a 2,000th away from every value in it.
func (t *tally) add(h result.Buckets) {
	for value, n := range h.ForEachBucket {
		width := int64(1) << max(0, bits.Len64(uint64(value))-11)
		seconds := (float64(value) + float64(width-1)/2) / 1e9
		at, _ := slices.BinarySearch(bounds, seconds)
		t.classic[at] += uint64(n)
		if seconds > 0 {
			t.native[int(math.Ceil(math.Log2(seconds)*(1<<nativeSchema)))] += n
		} else {
			t.zero += uint64(n)
		}
		t.count += uint64(n)
		t.sum += seconds * float64(n)
	}
}

// metric returns the histogram, with messages that have no latency beyond all bounds.
func (t *tally) metric(desc *prometheus.Desc, missing uint64, began time.Time, native bool,
	labels []string) (prometheus.Metric, error) {
	below, buckets := uint64(0), make(map[float64]uint64, len(bounds))
	for i, bound := range bounds {
		below += t.classic[i]
		buckets[bound] = below
	}
	sum, count := t.sum, t.count+missing
	if missing > 0 {
		sum = math.Inf(1)
	}
	classic, err := prometheus.NewConstHistogramWithCreatedTimestamp(desc, count, sum, buckets,
		began, labels...)
	if err != nil || !native {
		return classic, err
	}
	exponential := make(map[int]int64, len(t.native)+1)
	for at, n := range t.native {
		exponential[at] = n
	}
	if missing > 0 {
		exponential[beyondAll] = int64(missing)
	}
	other, err := prometheus.NewConstNativeHistogram(desc, count, sum, exponential, nil, t.zero,
		nativeSchema, 0, began, labels...)
	return both{classic, other}, err
}

// both is a histogram in its two forms. A scraper uses the one that it understands.
type both struct {
	prometheus.Metric
	native prometheus.Metric
}

// Write writes both forms into one metric.
func (b both) Write(out *dto.Metric) error {
	if err := b.Metric.Write(out); err != nil {
		return err
	}
	var native dto.Metric
	if err := b.native.Write(&native); err != nil {
		return err
	}
	n := native.Histogram
	out.Histogram.Schema, out.Histogram.ZeroThreshold = n.Schema, n.ZeroThreshold
	out.Histogram.ZeroCount = n.ZeroCount
	out.Histogram.PositiveSpan, out.Histogram.PositiveDelta = n.PositiveSpan, n.PositiveDelta
	return nil
}
