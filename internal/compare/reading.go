package compare

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

// between returns a span.
func between(least, most float64) figure.Span { return figure.Span{Least: least, Most: most} }

// spans holds the values of a figure, one for each run.
type spans []figure.Span

// of returns a figure of every run; ok is false when a run does not have it.
func of(runs []*result.Saved, f figure.Figure) (out spans, ok bool) {
	for _, s := range runs {
		v, known := f.Span(&s.Run)
		if !known || v.Least <= 0 || math.IsNaN(v.Least) || math.IsNaN(v.Most) {
			return nil, false
		}
		out = append(out, v)
	}
	return out, len(out) > 0
}

// exact reports whether all values are exact.
func (s spans) exact() bool {
	return !slices.ContainsFunc(s, func(v figure.Span) bool { return !v.Exact() })
}

// least returns the lower bounds.
func (s spans) least() (out []float64) {
	for _, v := range s {
		out = append(out, v.Least)
	}
	return out
}

// most returns the upper bounds.
func (s spans) most() (out []float64) {
	for _, v := range s {
		out = append(out, v.Most)
	}
	return out
}

// Center is the median of a set of values, with an interval for the median of the population. High
// is infinite if nothing bounds it.
type Center struct {
	Median     figure.Span
	Low, High  float64
	Confidence float64 // of the interval
	Values     int     // number of values
}

// center returns the median and its interval by order statistics. Fewer than six values have no
// interval of 95%: theirs is from the least to the greatest, with its lower confidence.
func center(values spans) Center {
	least := centerOf(values.least())
	most := least
	if !values.exact() {
		most = centerOf(values.most())
	}
	least.Median.Most, least.High = most.Median.Most, most.High
	return least
}

func centerOf(values []float64) Center {
	c := Center{Median: figure.Exactly(stats.Median(values)), Values: len(values)}
	c.Low, c.High, c.Confidence = stats.MedianInterval(values, confidence)
	return c
}
