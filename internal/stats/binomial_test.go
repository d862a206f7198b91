package stats

import (
	"math"
	"testing"
)

func TestUpperBound(t *testing.T) {
	for _, c := range []struct {
		broken, of int64
		confidence float64
		want       float64
	}{
		// 1-(1-c)^(1/n), the limit for no event.
		{0, 1, 0.95, 0.95},
		{0, 3, 0.95, 0.631597},
		{0, 10, 0.95, 0.258866},
		{0, 59, 0.95, 0.049508},
		{0, 1_000_000, 0.95, 2.995728e-6},
		// The upper limits of 95% intervals with two sides, in textbooks:
		// 0 of 10 and 1 of 10, 5 of 10, 2 of 20, 10 of 100.
		{0, 10, 0.975, 0.308497},
		{1, 10, 0.975, 0.445016},
		{5, 10, 0.975, 0.812914},
		{2, 20, 0.975, 0.316983},
		{10, 100, 0.975, 0.176223},
		// For rare events it is that of Poisson: 4.743865, 6.295794 and 16.962219 for 1, 2 and 10
		// events at 95% (Garwood, 1936).
		{1, 1_000_000_000, 0.95, 4.743865e-9},
		{2, 1_000_000_000, 0.95, 6.295794e-9},
		{10, 1_000_000_000, 0.95, 16.962219e-9},
		{10, 10, 0.95, 1},
		{0, 0, 0.95, 1},
	} {
		got := UpperBound(c.broken, c.of, c.confidence)
		if math.Abs(got-c.want) > 1e-5*c.want {
			t.Errorf("UpperBound(%d, %d, %v) = %.9g, want %.9g", c.broken, c.of, c.confidence, got,
				c.want)
		}
	}
}

// Of many events the limit lies 1.645 standard deviations above their share.
func TestUpperBoundOfMany(t *testing.T) {
	const of = 100_000_000
	for _, share := range []float64{0.001, 0.1, 0.5} {
		broken := int64(share * of)
		want := share + 1.644854*math.Sqrt(share*(1-share)/of)
		got := UpperBound(broken, of, 0.95)
		if math.Abs(got-want) > 0.01*(want-share) {
			t.Errorf("of %v of %d it is %.9g, want about %.9g", share, int64(of), got, want)
		}
	}
}
