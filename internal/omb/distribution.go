package omb

import (
	"math"
	"slices"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
)

// histogram returns the distribution of count values, restored from its quantiles. All values
// between two percentiles count at the latency of the upper one, as in OMB's own histogram,
// which these percentiles come from. OMB's printed figures are points of it, too, so that an
// export prints them again. It is nil when the file has no distribution, or nothing was
// counted.
//
// Clamped is the number of values above the range of plimsoll's histograms.
func (s Series) histogram(count int64) (h *hdr.Histogram, clamped int64) {
	if len(s.Quantiles) == 0 || count <= 0 {
		return nil, 0
	}
	points := s.points()
	h = result.NewHistogram()
	done := int64(0)
	for i, p := range points {
		upTo := int64(math.Round(p.Percentile / 100 * float64(count)))
		if i == len(points)-1 {
			upTo = count
		}
		n := min(upTo, count) - done
		if n <= 0 {
			continue
		}
		done += n
		if p.Ns > result.HistogramMaxNs {
			clamped += n
		}
		_ = h.RecordValues(int64(math.Round(min(p.Ns, result.HistogramMaxNs))), n) // within range
	}
	return h, clamped
}

// points returns the quantiles and the printed percentiles, in order.
func (s Series) points() []Quantile {
	points := slices.Clone(s.Quantiles)
	for _, c := range columns {
		v, has := s.Whole[c.suffix]
		if !has || c.percentile == 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(points, c.percentile, func(q Quantile, p float64) int {
			if q.Percentile < p {
				return -1
			}
			return 1
		})
		// A point that contradicts its neighbours is left out.
		if (at == 0 || points[at-1].Ns <= v) && (at == len(points) || v <= points[at].Ns) {
			points = slices.Insert(points, at, Quantile{c.percentile, v})
		}
	}
	return points
}

// latency returns a series as a run has it: the figures that OMB printed unchanged, the others
// from the distribution.
func latency(name result.Series, whole map[string]float64, h *hdr.Histogram,
	clamped int64) result.Latency {
	l := result.Summarize(name, h, clamped, 0)
	if l.Count == 0 {
		return l
	}
	if mean, has := whole["Avg"]; has {
		l.MeanNs = mean
	}
	if most, has := whole["Max"]; has {
		l.MaxNs = nanoseconds(most)
	}
	for i, p := range l.Percentiles {
		for _, c := range columns {
			if v, has := whole[c.suffix]; has && c.percentile == p.Percentile {
				l.Percentiles[i].LatencyNs = nanoseconds(v)
			}
		}
	}
	return l
}

// periodLatency returns a series in one period, from the figures that OMB printed.
func periodLatency(name result.Series, s Series, period int, count int64) (result.Latency, bool) {
	l := result.Latency{Series: name, Count: count, Percentiles: []result.Percentile{}}
	some := false
	for _, c := range columns {
		values := s.Periods[c.suffix]
		if period >= len(values) || math.IsNaN(values[period]) || count <= 0 {
			continue
		}
		some = true
		switch v := values[period]; {
		case c.suffix == "Avg":
			l.MeanNs = v
		case c.suffix == "Max":
			l.MaxNs = nanoseconds(v)
		case c.percentile == 50 || result.Supported(c.percentile, count):
			l.Percentiles = append(l.Percentiles,
				result.Percentile{Percentile: c.percentile, LatencyNs: nanoseconds(v)})
		}
	}
	return l, some
}

func nanoseconds(v float64) int64 { return int64(math.Round(min(v, 1<<62))) }
