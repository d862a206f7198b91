package result

import (
	"strconv"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The range of every latency histogram, in nanoseconds: 1 ns to 1 h at three significant
// digits, so that a few microseconds are as exact as an hour. Values outside are clamped and
// counted.
const (
	HistogramMinNs  = 1
	HistogramMaxNs  = 3_600_000_000_000
	HistogramDigits = 3
)

// coarseMinNs is the least value of the histograms of earlier runs. Their buckets are 512 ns
// wide below 1 ms.
const coarseMinNs = 1_000

// HistogramBytes is the memory of a latency histogram.
const HistogramBytes = 264 << 10

// NewHistogram returns an empty latency histogram.
func NewHistogram() *hdr.Histogram {
	return hdr.New(HistogramMinNs, HistogramMaxNs, HistogramDigits)
}

// NewLike returns an empty histogram with the buckets of a saved one. Merging into finer
// buckets would move all counts of a wide bucket to its lower end, and with them the
// percentiles of an earlier run.
func NewLike(saved Buckets) *hdr.Histogram {
	return hdr.New(saved.LowestTrackableValue(), HistogramMaxNs, HistogramDigits)
}

// Percentiles are those that tables print, where the number of samples supports them.
var Percentiles = []float64{50, 75, 90, 95, 99, 99.9, 99.99, 99.999}

// PercentileName names a percentile: p99.9.
func PercentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

// samplesBeyond is the number of samples that must lie above a percentile for it to be printed.
// With fewer samples, the percentile depends on a few messages.
const samplesBeyond = 10

// Supported reports whether n samples are enough to print a percentile.
func Supported(percentile float64, n int64) bool {
	return float64(n)*(100-percentile)/100 >= samplesBeyond-1e-6
}

// Summarize returns the figures of a histogram for a table.
func Summarize(series Series, h *hdr.Histogram, clamped, negative int64) Latency {
	l := Latency{Series: series, Clamped: clamped, Negative: negative, Percentiles: []Percentile{}}
	if h == nil || h.TotalCount() == 0 {
		return l
	}
	l.Count = h.TotalCount()
	l.MeanNs = h.Mean()
	l.MinNs = h.Min()
	shown := make([]float64, 0, len(Percentiles)+1)
	for _, p := range Percentiles {
		if p == 50 || Supported(p, l.Count) {
			shown = append(shown, p)
		}
	}
	// One walk through the buckets finds all of them. The greatest latency is percentile 100.
	values := h.ValueAtPercentilesSlice(append(shown, 100))
	for i, p := range shown {
		l.Percentiles = append(l.Percentiles, Percentile{Percentile: p, LatencyNs: values[i]})
	}
	l.MaxNs = values[len(shown)]
	return l
}

// At returns the latency at a percentile in nanoseconds, and whether the number of samples
// supports it.
func (l Latency) At(percentile float64) (int64, bool) {
	for _, p := range l.Percentiles {
		if p.Percentile == percentile {
			return p.LatencyNs, true
		}
	}
	return 0, false
}

// Series returns the summary's latency of a series, or the zero Latency when the summary does
// not have the series.
func (s Summary) Series(name Series) Latency {
	for _, l := range s.Latency {
		if l.Series == name {
			return l
		}
	}
	return Latency{Series: name}
}
