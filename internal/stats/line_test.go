package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// A straight line has its own slope, and nothing around it.
func TestSlopeOfALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 60).Draw(t, "n")
		rise := rapid.Float64Range(-1e3, 1e3).Draw(t, "slope")
		var x, y []float64
		for i := range n {
			x, y = append(x, float64(i)), append(y, 5+rise*float64(i))
		}
		// One wild value in many changes little.
		if n >= 20 {
			y[n/2] += 1e9
		}
		median, low, high := Slope(x, y)
		near := func(v float64) bool { return math.Abs(v-rise) <= 1e-6*math.Max(1, math.Abs(rise)) }
		if !near(median) || low > median || high < median {
			t.Fatalf("slope %v in %v to %v, want %v", median, low, high, rise)
		}
	})
}

// The interval must hold the slope in 95 of 100 series, whether or not
// neighbours resemble one another.
func TestSlopeIntervalKeepsItsWord(t *testing.T) {
	for _, c := range []struct {
		n      int
		memory float64
	}{{15, 0}, {30, 0.5}, {60, 0.5}, {120, 0.8}} {
		missed := 0
		const tries = 1000
		for seed := range uint64(tries) {
			random := rand.New(rand.NewPCG(seed, uint64(c.n)))
			var x, y []float64
			state := random.NormFloat64()
			for i := range c.n {
				state = c.memory*state + math.Sqrt(1-c.memory*c.memory)*random.NormFloat64()
				x, y = append(x, float64(i)), append(y, 0.3*float64(i)+state)
			}
			if _, low, high := Slope(x, y); low > 0.3 || high < 0.3 {
				missed++
			}
		}
		t.Logf("%d points with memory %v: missed in %d of %d", c.n, c.memory, missed, tries)
		if missed > tries*7/100 {
			t.Errorf("%d points with memory %v: the interval misses the slope in %d of %d", c.n,
				c.memory, missed, tries)
		}
	}
}

func TestKnownLines(t *testing.T) {
	x, y := []float64{1, 2, 3, 4}, []float64{6, 5, 7, 10} // a textbook's: y = 3.5 + 1.4x
	if got := LeastSquares(x, y); math.Abs(got-1.4) > 1e-12 {
		t.Errorf("least squares: %v", got)
	}
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}} {
		if got := Median(c.values); got != c.want {
			t.Errorf("the median of %v is %v", c.values, got)
		}
	}
}
