package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
)

const (
	// fewestForMove is the least number of values that distinguishes a move from noise.
	fewestForMove = 8
	// mostForMove bounds the values that LogsOf returns, because the time of MoveOf grows with
	// them.
	mostForMove = 60
	// fewestAside is the least number of values on each side of a move. A single value is an
	// outlier.
	fewestAside = 2
	// moveTries is the number of series without a move that a series is compared with.
	moveTries = 399
	// farAway is the distance from the median, in standard deviations of normal noise, at which a
	// value is replaced by a closer one: single spikes would hide a move, or look like one.
	farAway = 4
	// signShare is the share of the error that the test of signs has. It is small, because only
	// series that change almost without noise need that test.
	signShare = 0.1
)

// Move is the greatest change of the level of a series in order of time: between its mean before a
// place and its mean from there on. It stands for a step, and for what a step resembles: a fall
// that ends early, a rise that begins late, and a slope.
type Move struct {
	At            int // the index of the first value after it
	Before, After float64
	// P is the probability of as great a change by chance, relative to the noise, in a series whose
	// level does not change and whose neighbours resemble one another as much.
	P float64
}

// MoveOf finds the move of a series, by the greatest ratio of the squares that a step explains to
// those that it leaves (Hawkins, "Testing a Sequence of Observations for a Shift in Location",
// Journal of the American Statistical Association 72, 1977). Hawkins's distribution holds for
// independent values, so it is drawn here from first-order autoregressions with the correlation of
// the series. In a series that changes almost without noise, neighbours resemble one another so
// much that no step stands out: the signs of its differences show the change. ok is false when
// there are too few values. The same series has the same P.
func MoveOf(series []float64) (m Move, ok bool) {
	n := len(series)
	if n < fewestForMove {
		return m, false
	}
	near := nearMedian(series)
	at, ratio := step(near)
	m = Move{At: at, Before: moremath.Mean(series[:at]), After: moremath.Mean(series[at:]), P: 1}
	if ratio == 0 {
		return m, true
	}
	rho := likenessBeside(near, at)
	random := rand.New(rand.NewPCG(uint64(n), uint64(at)))
	chance, reached := make([]float64, n), 1
	for range moveTries {
		state := random.NormFloat64()
		for i := range chance {
			chance[i] = state
			state = rho*state + math.Sqrt(1-rho*rho)*random.NormFloat64()
		}
		if _, r := step(chance); r >= ratio {
			reached++
		}
	}
	m.P = float64(reached) / (moveTries + 1)
	m.P = min(m.P/(1-signShare), oneWay(series)/signShare, 1)
	return m, true
}

// LogsOf returns the logarithms of a positive figure in order of time, for MoveOf. Of a long series
// each is that of the mean of as many neighbours. ok is false where a value is missing: NaN.
func LogsOf(series []float64) (logs []float64, neighbours int, ok bool) {
	neighbours = max((len(series)+mostForMove-1)/mostForMove, 1)
	for part := range slices.Chunk(series, neighbours) {
		logs = append(logs, math.Log(moremath.Mean(part)))
	}
	return logs, neighbours, !slices.ContainsFunc(logs, math.IsNaN)
}

// oneWay is the probability that as many differences of neighbours have one sign by chance (Moore
// and Wallis, "Time Series Significance Tests Based on Signs of Differences", Journal of the
// American Statistical Association 38, 1943). It takes the signs for independent. In a first-order
// autoregression they rather alternate, so the true probability is less.
func oneWay(series []float64) float64 {
	up, n := 0, 0
	for i := range len(series) - 1 {
		switch d := series[i+1] - series[i]; {
		case d > 0:
			up, n = up+1, n+1
		case d < 0:
			n++
		}
	}
	coin := moremath.BinomialDist{N: n, P: 0.5}
	return min(2*coin.CDF(float64(min(up, n-up))), 1)
}

// nearMedian returns a series whose values far away from the median are replaced by the farthest
// ones that count. The distance is measured by the median distance, which is 0.6745 standard
// deviations of normal noise (Hampel, "The Influence Curve and its Role in Robust Estimation",
// Journal of the American Statistical Association 69, 1974).
func nearMedian(series []float64) []float64 {
	middle := Median(series)
	away := make([]float64, len(series))
	for i, v := range series {
		away[i] = math.Abs(v - middle)
	}
	most := farAway * Median(away) / 0.6745
	if most == 0 {
		return series // more than half of the values are equal
	}
	near := make([]float64, len(series))
	for i, v := range series {
		near[i] = min(max(v, middle-most), middle+most)
	}
	return near
}

// step returns the place at which a step explains most of a series, and the ratio of the squares
// that it explains to those that it leaves.
func step(series []float64) (at int, ratio float64) {
	n, mean := float64(len(series)), moremath.Mean(series)
	squares, sum, best := 0.0, 0.0, 0.0
	at = fewestAside
	for i, v := range series {
		squares += (v - mean) * (v - mean)
		sum += v - mean
		before := i + 1
		if before < fewestAside || before > len(series)-fewestAside {
			continue
		}
		b := float64(before)
		if explained := sum * sum * n / (b * (n - b)); explained > best {
			at, best = before, explained
		}
	}
	// The squares of a constant are rounding errors.
	if rounding := 1e-9 * mean; best <= n*rounding*rounding {
		return at, 0
	}
	return at, best / max(squares-best, 0)
}

// likenessBeside is the correlation of neighbours, whatever the move at a place is like: the lesser
// of two estimates, because what a move is unlike in makes either too great. One takes a step and a
// slope away. The other compares differences over one and over two places, which a move changes
// little, whatever its shape: their variances differ by the factor 1+rho.
func likenessBeside(series []float64, at int) float64 {
	n := len(series)
	one, two := make([]float64, n-1), make([]float64, n-2)
	for i := range one {
		one[i] = series[i+1] - series[i]
	}
	for i := range two {
		two[i] = series[i+2] - series[i]
	}
	// A step and a slope are taken away, at the place that fits best.
	rest := likeness(withoutMove(series, at), 4, 6)
	v := moremath.Variance(nearMedian(one))
	if v == 0 {
		return rest
	}
	return min(rest, max(moremath.Variance(nearMedian(two))/v-1+2/float64(n), 0))
}

// withoutMove returns a series without its move: it takes away the levels before and after a place,
// and the one slope of both sides, which a series that changes steadily has.
func withoutMove(series []float64, at int) []float64 {
	rest, x := make([]float64, 0, len(series)), make([]float64, 0, len(series))
	over, under := 0.0, 0.0
	for _, side := range [][]float64{series[:at], series[at:]} {
		mean, middle := moremath.Mean(side), float64(len(side)-1)/2
		for i, v := range side {
			dx := float64(i) - middle
			rest, x = append(rest, v-mean), append(x, dx)
			over, under = over+dx*(v-mean), under+dx*dx
		}
	}
	for i := range rest {
		rest[i] -= over / under * x[i]
	}
	return rest
}
