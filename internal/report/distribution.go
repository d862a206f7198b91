package report

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	heatColumns = 180 // at most, over time
	heatRows    = 10  // of each power of ten of latency
	curveSteps  = 24  // of each power of ten of 1/(1-quantile)

	// leastDrawnNs is the start of latency axes; shorter latencies are drawn there.
	leastDrawnNs = 1_000
)

// heat is a map of the number of messages by time and latency. Times are seconds since the
// run started.
type heat struct {
	Starts, Ends []float64 // of each column
	PerTen       int       // rows per power of ten; row 0 begins at 1 us
	Cells        []int64   // triples: column, row, messages
}

// newHeat makes the map of a series, warm-up included. It is nil when nothing
// was recorded. A column is an interval, or as many neighbours as keep the
// map within bounds.
func newHeat(s *result.Saved, series result.Series) *heat {
	byStart, ends := map[int64][]result.Buckets{}, map[int64]int64{}
	for _, l := range s.Latency {
		if l.Series == series && l.EndNs > l.StartNs {
			byStart[l.StartNs] = append(byStart[l.StartNs], l.Histogram)
			ends[l.StartNs] = max(ends[l.StartNs], l.EndNs)
		}
	}
	if len(byStart) == 0 {
		return nil
	}
	out := &heat{PerTen: heatRows}
	size := (len(byStart) + heatColumns - 1) / heatColumns
	for column := range slices.Chunk(slices.Sorted(maps.Keys(byStart)), size) {
		var histograms []result.Buckets
		for _, start := range column {
			histograms = append(histograms, byStart[start]...)
		}
		out.column(len(out.Starts), histograms)
		out.Starts = append(out.Starts, float64(column[0])/1e9)
		out.Ends = append(out.Ends, float64(ends[column[len(column)-1]])/1e9)
	}
	return out
}

// column adds column c with the counts of histograms. The middle of a bucket decides its row.
func (m *heat) column(c int, histograms []result.Buckets) {
	counts, top := map[int]int64{}, 0
	for _, h := range histograms {
		unitBits := bits.Len64(uint64(h.LowestTrackableValue())) - 1
		for ns, count := range h.ForEachBucket {
			// Three digits take 2,048 buckets for each power of two, so 11 bits of a value count.
			width := int64(1) << max(bits.Len64(uint64(ns))-11, unitBits)
			middle := float64(2*ns+width-1) / 2
			r := int(math.Log10(max(middle/leastDrawnNs, 1)) * heatRows)
			counts[r] += count
			top = max(top, r)
		}
	}
	for r := 0; r <= top; r++ {
		if counts[r] > 0 {
			m.Cells = append(m.Cells, int64(c), int64(r), counts[r])
		}
	}
}

// curve is a series' latency by percentile. Point i is at the quantile q with
// 1/(1-q) = 10^(i/curveSteps); the last is the greatest latency. In a series with messages
// without a latency, the curve ends before the first such message.
type curve struct {
	Count int64
	Ns    []float64
}

// newCurve is nil when nothing was recorded. missing counts the messages without a latency;
// their latency is at least leastNs.
func newCurve(h *hdr.Histogram, missing, leastNs int64) *curve {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	known := h.TotalCount()
	out := &curve{Count: known + missing}
	for i := 0; ; i++ {
		x := math.Pow(10, float64(i)/curveSteps)
		rank := (1 - 1/x) * float64(out.Count)
		if x >= float64(out.Count) || rank > float64(known) {
			break
		}
		ns := h.ValueAtPercentile(rank / float64(known) * 100)
		if missing > 0 && ns >= leastNs {
			return out
		}
		out.Ns = append(out.Ns, max(float64(ns), leastDrawnNs))
	}
	if missing == 0 {
		out.Ns = append(out.Ns, max(float64(h.Max()), leastDrawnNs))
	}
	return out
}

// curveOf is the curve of a series of a run.
func curveOf(s *result.Saved, series result.Series) *curve {
	least := int64(math.MaxInt64)
	if waited := s.Total(result.Waited); waited != nil && waited.TotalCount() > 0 {
		least = waited.Min()
	}
	return newCurve(s.Total(series), s.Run.Summary.Series(series).Missing.Total(), least)
}
