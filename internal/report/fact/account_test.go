package fact

import (
	"testing"
)

func TestOneIn(t *testing.T) {
	for p, want := range map[float64]string{0.6316: "64 in 100", 0.0495: "1 in 20",
		3.0 / 1000: "1 in 333", 2.9957e-6: "1 in 333,000", 1: "100 in 100"} {
		if got := OneIn(p); got != want {
			t.Errorf("OneIn(%v) = %q, want %q", p, got, want)
		}
	}
}
