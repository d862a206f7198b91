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

// latency returns the series of count values as a run has it: the figures that OMB printed
// unchanged, the others from the distribution. Without a distribution there are only the printed
// figures; those of the periods alone give the mean, the least and the greatest.
func (s Series) latency(name result.Series, count int64, h *hdr.Histogram,
	clamped int64) result.Latency {
	l := result.Summarize(name, h, clamped, 0)
	if l.Count == 0 {
		return s.printed(l, count)
	}
	if mean, has := s.Whole["Avg"]; has {
		l.MeanNs = mean
	}
	if most, has := s.Whole["Max"]; has {
		l.MaxNs = nanoseconds(most)
	}
	if least, has := s.least(); has {
		l.MinNs = least
	}
	for i, p := range l.Percentiles {
		for _, c := range columns {
			if v, has := s.Whole[c.suffix]; has && c.percentile == p.Percentile {
				l.Percentiles[i].LatencyNs = nanoseconds(v)
			}
		}
	}
	return l
}

// printed fills in a series without a distribution.
func (s Series) printed(l result.Latency, count int64) result.Latency {
	if count <= 0 || len(s.Whole)+len(s.Periods) == 0 {
		return l
	}
	l.Count = count
	l.MinNs, _ = s.least()
	mean, has := s.Whole["Avg"]
	if !has {
		mean = averageOf(s.Periods["Avg"])
	}
	l.MeanNs = mean
	most, has := s.Whole["Max"]
	for _, v := range s.Periods["Max"] {
		if !has && v > most { // false for NaN
			most = v
		}
	}
	l.MaxNs = nanoseconds(most)
	for _, c := range columns {
		if v, has := s.Whole[c.suffix]; has && slices.Contains(result.Percentiles, c.percentile) &&
			(c.percentile == 50 || result.Supported(c.percentile, count)) {
			l.Percentiles = append(l.Percentiles,
				result.Percentile{Percentile: c.percentile, LatencyNs: nanoseconds(v)})
		}
	}
	return l
}

// least returns the least latency of the whole run, in a file that has it of each period.
func (s Series) least() (ns int64, has bool) {
	for _, v := range s.Periods[minSuffix] {
		if !math.IsNaN(v) && (!has || nanoseconds(v) < ns) {
			ns, has = nanoseconds(v), true
		}
	}
	return ns, has
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
	if least := s.Periods[minSuffix]; some && period < len(least) && !math.IsNaN(least[period]) {
		l.MinNs = nanoseconds(least[period])
	}
	return l, some
}

func nanoseconds(v float64) int64 { return int64(math.Round(min(v, 1<<62))) }
