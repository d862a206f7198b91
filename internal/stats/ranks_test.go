package stats

import (
	"math"
	"testing"
)

func TestLeastP(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8} {
		// Sides without overlap have the least possible p.
		var a, b []float64
		for i := range n {
			a, b = append(a, float64(i)), append(b, float64(100+i))
		}
		if p := MannWhitney(a, b); math.Abs(p-LeastP(n, n)) > 1e-9 {
			t.Errorf("%d against %d: the least p is %v, by the test %v", n, n, LeastP(n, n), p)
		}
	}
	if n := Evenly(2.0 / 252); n != 5 {
		t.Errorf("%d values a side reach the p of five", n)
	}
}

// Below five values a side no U is improbable enough at 2.5%, except 0 of 4 against 4.
func TestCriticalU(t *testing.T) {
	for _, c := range []struct{ a, b, want int }{{3, 3, -1}, {4, 4, 0}, {5, 5, 2}, {10, 10, 23}} {
		if got := CriticalU(c.a, c.b, 0.025); got != c.want {
			t.Errorf("%d against %d: %d, want %d, as in every table", c.a, c.b, got, c.want)
		}
	}
}
