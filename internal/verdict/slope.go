package verdict

import "github.com/plimsoll-bench/plimsoll/internal/stats"

const (
	// growthFewest is the least number of points that distinguishes a slope from chance at 95%.
	growthFewest = 5
	// growthMost bounds the points, because the time grows with the pairs of points.
	growthMost = 200
)

// growth is the slope of a line through points, and its interval.
type growth struct {
	slope, low, high float64 // of 95% confidence; units of y by units of x
	points           int
}

// growthOf returns the line of stats.Slope. ok is false when there are too few points. xs must
// increase.
func growthOf(xs, ys []float64) (g growth, ok bool) {
	if every := (len(xs) + growthMost - 1) / growthMost; every > 1 {
		xs, ys = thin(xs, every), thin(ys, every)
	}
	g.points = len(xs)
	if g.points < growthFewest {
		return g, false
	}
	g.slope, g.low, g.high = stats.Slope(xs, ys)
	return g, true
}

func thin(values []float64, every int) []float64 {
	var out []float64
	for i := 0; i < len(values); i += every {
		out = append(out, values[i])
	}
	return out
}
