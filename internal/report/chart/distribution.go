package chart

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	heatColumns = 180 // at most, over time
	heatRows    = 10  // of each power of ten of latency
	curveSteps  = 24  // of each power of ten of 1/(1-quantile)

	// leastDrawnNs is the start of latency axes; shorter latencies are drawn there.
	leastDrawnNs = 1_000
)

// newHeat makes the map of the number of messages of a series by time and latency, warm-up
// included. Times are seconds since the run started. It is nil when nothing was recorded. A column
// is an interval, or as many neighbours as keep the map within bounds.
func newHeat(s *result.Saved, series result.Series) *document.Heat {
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
	g := &document.Heat{}
	size := (len(byStart) + heatColumns - 1) / heatColumns
	for column := range slices.Chunk(slices.Sorted(maps.Keys(byStart)), size) {
		var histograms []result.Buckets
		for _, start := range column {
			histograms = append(histograms, byStart[start]...)
		}
		from, to := float64(column[0])/1e9, float64(ends[column[len(column)-1]])/1e9
		if n := len(g.X); n == 0 {
			g.X = append(g.X, from)
		} else if g.X[n-1] < from-1e-6 {
			g.X, g.Counts = append(g.X, from), append(g.Counts, nil) // nothing was recorded
		}
		g.X, g.Counts = append(g.X, max(to, from)), append(g.Counts, heatColumn(histograms))
	}
	fitRows(g)
	return g
}

// fitRows leaves out the rows below the least latency, makes all columns as long as the longest,
// and sets the bounds of the rows.
func fitRows(g *document.Heat) {
	least, rows := math.MaxInt, 0
	for _, column := range g.Counts {
		if at := slices.IndexFunc(column, func(n int64) bool { return n > 0 }); at >= 0 {
			least, rows = min(least, at), max(rows, len(column))
		}
	}
	least = min(least, rows)
	for i, column := range g.Counts {
		if column != nil {
			g.Counts[i] = append(column, make([]int64, rows-len(column))...)[least:]
		}
	}
	for r := least; r <= rows; r++ {
		g.Y = append(g.Y, leastDrawnNs*math.Pow(10, float64(r)/heatRows))
	}
}

// heatColumn are the counts of histograms by row. The middle of a bucket decides its row.
func heatColumn(histograms []result.Buckets) []int64 {
	counts := []int64{}
	for _, h := range histograms {
		unitBits := bits.Len64(uint64(h.LowestTrackableValue())) - 1
		for ns, count := range h.ForEachBucket {
			// Three digits take 2,048 buckets for each power of two, so 11 bits of a value count.
			width := int64(1) << max(bits.Len64(uint64(ns))-11, unitBits)
			middle := float64(2*ns+width-1) / 2
			r := int(math.Log10(max(middle/leastDrawnNs, 1)) * heatRows)
			counts = append(counts, make([]int64, max(r+1-len(counts), 0))...)
			counts[r] += count
		}
	}
	return counts
}

// curve is a series' latency by percentile. Point i is at the quantile q with
// 1/(1-q) = 10^(i/curveSteps); the last is the greatest latency. In a series with messages
// without a latency, the curve ends before the first such message.
type curve struct {
	count int64
	x, y  document.Values
}

// curveOf is the curve of a series of a run; nil when nothing was recorded.
func curveOf(s *result.Saved, series result.Series) *curve {
	h := s.Total(series)
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	leastNs := int64(math.MaxInt64) // of the messages without a latency
	if waited := s.Total(result.Waited); waited != nil && waited.TotalCount() > 0 {
		leastNs = waited.Min()
	}
	known, missing := h.TotalCount(), s.Run.Summary.Series(series).Missing.Total()
	out := &curve{count: known + missing}
	add := func(ns int64) {
		out.x = append(out.x, 100*(1-math.Pow(10, -float64(len(out.x))/curveSteps)))
		out.y = append(out.y, max(float64(ns), leastDrawnNs))
	}
	for i := 0; ; i++ {
		x := math.Pow(10, float64(i)/curveSteps)
		rank := (1 - 1/x) * float64(out.count)
		if x >= float64(out.count) || rank > float64(known) {
			break
		}
		ns := h.ValueAtPercentile(rank / float64(known) * 100)
		if missing > 0 && ns >= leastNs {
			return out
		}
		add(ns)
	}
	if missing == 0 {
		add(h.Max())
	}
	return out
}
