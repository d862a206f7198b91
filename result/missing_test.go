package result_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Whatever the true latencies of messages without one are, within their known lower bounds: a
// percentile never exceeds the true one, equals it if it claims to be exact, and without missing
// messages nothing changes.
func TestCensoredPercentilesBoundTheTrueOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known, waited, truth := result.NewHistogram(), result.NewHistogram(), result.NewHistogram()
		latency := rapid.Int64Range(1_000, 10_000_000_000)
		for range rapid.IntRange(0, 2_000).Draw(t, "answered") {
			ns := latency.Draw(t, "latency")
			record(t, ns, known, truth)
		}
		var missing result.Missing
		for range rapid.IntRange(0, 300).Draw(t, "unanswered") {
			ns := latency.Draw(t, "waited")
			record(t, ns, waited)
			record(t, ns+rapid.Int64Range(0, 20_000_000_000).Draw(t, "more"), truth)
			missing.Unanswered++
		}
		missing.Refused = rapid.Int64Range(0, 300).Draw(t, "refused")
		for range missing.Refused {
			record(t, result.HistogramMaxNs, truth)
		}
		l := result.Censored(result.Publish, known, waited, missing, 0, 0)
		for _, p := range l.Percentiles {
			want := truth.ValueAtPercentile(p.Percentile)
			if float64(p.LatencyNs) > float64(want)*1.001 {
				t.Fatalf(
					"p%v is said to be %d (%q), it is %d",
					p.Percentile,
					p.LatencyNs,
					p.Bound,
					want,
				)
			}
			if p.Bound == result.Exact && float64(p.LatencyNs) < float64(want)*0.999 {
				t.Fatalf("p%v is said to be exactly %d, it is %d", p.Percentile, p.LatencyNs, want)
			}
		}
		if missing.Total() == 0 && len(l.Answered) > 0 ||
			missing.Total() > 0 && missing.Total() != l.Missing.Total() {
			t.Fatalf("missing %+v of %+v", l.Missing, missing)
		}
	})
}

func record(t *rapid.T, ns int64, into ...interface{ RecordValue(int64) error }) {
	for _, h := range into {
		if err := h.RecordValue(min(ns, result.HistogramMaxNs)); err != nil {
			t.Fatal(err)
		}
	}
}

// Of 10,000 messages 150 were refused: p99 falls among them, and p95 does not.
func TestRefusedMessagesAreLongerThanAnyBound(t *testing.T) {
	h := result.NewHistogram()
	if err := h.RecordValues(200_000, 9_850); err != nil {
		t.Fatal(err)
	}
	l := result.Censored(result.Publish, h, nil, result.Missing{Refused: 150}, 0, 0)
	p95, _ := l.Point(95)
	p99, _ := l.Point(99)
	worst, bound := l.Worst()
	if p95.Bound != result.Exact || p99.Bound != result.NotReached || bound != result.NotReached ||
		worst < 199_000 {
		t.Errorf("p95 %+v, p99 %+v, worst %d %q", p95, p99, worst, bound)
	}
}
