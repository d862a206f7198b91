package stats

import "math"

// leastParts is the assumed minimum of independent parts of a series. It bounds the widening for a
// smooth curve, whose distances from a line all resemble their neighbours. With six parts a random
// walk, which has no trend, is reported to have one in 5 of 100 series.
const leastParts = 6

// Drift is the slope of a line through a series in order of time.
type Drift struct {
	Slope float64
	se    float64 // its standard error
	dof   float64
}

// DriftOf returns the drift of points: the slope of Theil (see Slope), and its standard error with
// as many points as are independent of their neighbours (Santer et al., "Statistical Significance
// of Trends and Trend Differences in Layer-Average Atmospheric Temperature Time Series", Journal
// of Geophysical Research 105, 2000, equations 3 to 6). The error scales with the noise: growth
// far above it is found however much neighbours resemble one another, which rank tests do not do.
// x must increase.
func DriftOf(x, y []float64) Drift {
	n := float64(len(x))
	if n < leastParts {
		return Drift{se: math.Inf(1), dof: 1}
	}
	slope, _, _ := Slope(x, y)
	residuals, meanX, meanR := make([]float64, len(x)), 0.0, 0.0
	for i := range x {
		residuals[i] = y[i] - slope*x[i]
		meanX, meanR = meanX+x[i]/n, meanR+residuals[i]/n
	}
	squares, spread := 0.0, 0.0
	for i, r := range residuals {
		squares += (r - meanR) * (r - meanR)
		spread += (x[i] - meanX) * (x[i] - meanX)
	}
	parts := max(n/memory(residuals), leastParts)
	return Drift{slope, math.Sqrt(squares / (parts - 2) / spread), parts - 2}
}

// Interval returns the interval of 95% of the slope.
func (d Drift) Interval() (low, high float64) {
	reach := Student(d.dof, 0.025) * d.se
	return d.Slope - reach, d.Slope + reach
}

// Beyond is the p of the hypothesis that the series neither rises nor falls by more than bound,
// which is not negative, per unit of x. It tests both sides.
func (d Drift) Beyond(bound float64) float64 {
	above := math.Abs(d.Slope) - bound
	switch {
	case above <= 0 || math.IsInf(d.se, 1):
		return 1
	case d.se == 0:
		return 0
	}
	return StudentP(above/d.se, d.dof)
}
