package report

import (
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// sureSpan is an interval of 95% around a latency.
type sureSpan struct {
	LowNs  int64 `json:"low_ns"`
	HighNs int64 `json:"high_ns"`
}

func (s sureSpan) String() string {
	return quantity.Duration(s.LowNs) + " to " + quantity.Duration(s.HighNs)
}

// sureFigures are the percentiles that have an interval.
var sureFigures = []string{"publish.p50", "publish.p99", "e2e.p50", "e2e.p99"}

// within are the intervals of a run's percentiles, from the variation within the run. A
// percentile whose interval is unknown is absent.
type within map[string]sureSpan

// newWithin computes the intervals of a run. It resamples the whole run for each percentile,
// so call it once for each run.
func newWithin(s *result.Saved) within {
	out := within{}
	for _, name := range sureFigures {
		f := figure.Named(name)
		value, known := f.Value(&s.Run)
		if !known { // a bound has no interval
			continue
		}
		if w, sure := compare.Of(s, f); sure {
			if span, bounded := spanOf(w.Interval(value, 0.025)); bounded {
				out[name] = span
			}
		}
	}
	return out
}

// spanOf returns an interval; false: it has no upper end, so it says almost nothing.
func spanOf(low, high float64) (s sureSpan, bounded bool) {
	if !(high < math.MaxInt64) {
		return s, false
	}
	return sureSpan{int64(low), int64(high)}, true
}

// of is the interval of a percentile of a series.
func (w within) of(series result.Series, percentile float64) (sureSpan, bool) {
	for _, s := range figure.SeriesNames {
		if s.Series == series {
			span, ok := w[s.Name+"."+percentileName(percentile)]
			return span, ok
		}
	}
	return sureSpan{}, false
}

// words is the interval of a percentile in words; empty: it is not known.
func (w within) words(series result.Series, percentile float64) string {
	span, known := w.of(series, percentile)
	if !known {
		return ""
	}
	return span.String()
}

// sentence lists all intervals; empty where the run is too short for any.
func (w within) sentence() string {
	var spans []string
	for _, name := range sureFigures {
		if span, ok := w[name]; ok {
			spans = append(spans, figure.Named(name).Title+" "+span.String())
		}
	}
	if len(spans) == 0 {
		return ""
	}
	return strings.Join(spans, ", ") +
		": 95% intervals from the variation within this run; another run may differ by more"
}
