package latency

import (
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Whiskers are the intervals of the percentiles of a series that have one.
func (w Within) Whiskers(s *result.Saved, series result.Series, color int) document.Series {
	out := document.Series{Color: color, Alone: true}
	for _, percentile := range []float64{50, 99} {
		span, ok := w.Of(series, percentile)
		ns, known := s.Run.Summary.Series(series).At(percentile)
		if !ok || !known {
			continue
		}
		out.X, out.Y = append(out.X, percentile), append(out.Y, float64(ns))
		out.Low = append(out.Low, float64(span.LowNs))
		out.High = append(out.High, float64(span.HighNs))
		out.Marks = append(out.Marks, document.Mark{At: len(out.X) - 1,
			Tip: phrase.SeriesTitle(series) + " " + result.PercentileName(percentile) +
				", 95% interval " +
				phrase.Micro(span.String())})
	}
	return out
}

// SureSpan is an interval of 95% around a latency.
type SureSpan struct {
	LowNs  int64 `json:"low_ns"`
	HighNs int64 `json:"high_ns"`
}

// String prints the interval.
func (s SureSpan) String() string {
	return quantity.Duration(s.LowNs) + " to " + quantity.Duration(s.HighNs)
}

// sureFigures are the percentiles that have an interval.
var sureFigures = []string{"publish.p50", "publish.p99", "e2e.p50", "e2e.p99"}

// Within are the intervals of a run's percentiles, from the variation within the run. A
// percentile whose interval is unknown is absent.
type Within map[string]SureSpan

// NewWithin computes the intervals of a run. It resamples the whole run for each percentile,
// so call it once for each run.
func NewWithin(s *result.Saved) Within {
	out := Within{}
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
func spanOf(low, high float64) (s SureSpan, bounded bool) {
	if !(high < math.MaxInt64) {
		return s, false
	}
	return SureSpan{int64(low), int64(high)}, true
}

// Of is the interval of a percentile of a series.
func (w Within) Of(series result.Series, percentile float64) (SureSpan, bool) {
	for _, s := range figure.SeriesNames {
		if s.Series == series {
			span, ok := w[s.Name+"."+result.PercentileName(percentile)]
			return span, ok
		}
	}
	return SureSpan{}, false
}

// Words is the interval of a percentile in words; empty: it is not known.
func (w Within) Words(series result.Series, percentile float64) string {
	span, known := w.Of(series, percentile)
	if !known {
		return ""
	}
	return span.String()
}

// Sentence lists all intervals; empty where the run is too short for any.
func (w Within) Sentence() string {
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
