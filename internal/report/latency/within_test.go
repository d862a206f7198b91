package latency

import (
	"math"
	"testing"
)

// An interval without an upper end once read as one that ends in a negative time.
func TestAnIntervalWithoutAnEndIsAbsent(t *testing.T) {
	for high, want := range map[float64]bool{
		2e9: true, math.Inf(1): false, math.NaN(): false, 1e300: false,
	} {
		span, bounded := spanOf(1e9, high)
		if bounded != want || bounded && span != (SureSpan{1e9, 2e9}) {
			t.Errorf("1s to %v ns: %v, %v", high, span, bounded)
		}
	}
}
