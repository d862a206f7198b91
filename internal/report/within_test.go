package report

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Every format shows the intervals of a long run's percentiles.
func TestPercentilesHaveIntervals(t *testing.T) {
	long := small
	long.seconds, long.stallAt = 60, 0
	s := long.load(t)
	began := time.Now()
	sentence := newWithin(s).sentence()
	t.Logf("took %v: %s", time.Since(began), sentence)
	for _, want := range []string{"publish p50 6", "publish p99 1.", "end-to-end p99 ",
		"another run may differ by more"} {
		if !strings.Contains(sentence, want) {
			t.Errorf("%q lacks %q", sentence, want)
		}
	}
	for _, format := range []string{"table", "md", "html"} {
		if out := strings.Join(strings.Fields(string(render(t, format, s))),
			" "); !strings.Contains(out, "from the variation within this run") {
			t.Errorf("%s does not say how sure its percentiles are", format)
		}
	}
	if got := newWithin(small.load(t)).sentence(); got != "" {
		t.Errorf("a run of %d s says %q", small.seconds, got)
	}
}

// An interval without an upper end once read as one that ends in a negative time.
func TestAnIntervalWithoutAnEndIsAbsent(t *testing.T) {
	for high, want := range map[float64]bool{
		2e9: true, math.Inf(1): false, math.NaN(): false, 1e300: false,
	} {
		span, bounded := spanOf(1e9, high)
		if bounded != want || bounded && span != (sureSpan{1e9, 2e9}) {
			t.Errorf("1s to %v ns: %v, %v", high, span, bounded)
		}
	}
}
