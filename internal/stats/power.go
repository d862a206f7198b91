package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// draws is the number of comparisons that the functions below simulate.
const draws = 4000

// NeededByStudent is the least true difference, in estimated standard errors, that Student's
// two-sided test at alpha shows with the probability power. It simulates the estimate at hand
// and a comparison like it.
func NeededByStudent(random *rand.Rand, dof, alpha, power float64) float64 {
	bound := Student(dof, alpha/2)
	needed := make([]float64, draws)
	for i := range needed {
		needed[i] = (bound*deviation(random, dof) - random.NormFloat64()) / deviation(random, dof)
	}
	return quantile(needed, power)
}

// NeededByRanks is the least true difference, in estimated standard deviations, that
// MannWhitney of a values against b values shows at alpha with the probability power.
func NeededByRanks(random *rand.Rand, a, b int, alpha, power float64) float64 {
	u := CriticalU(a, b, alpha/2)
	// Large samples need fewer draws, because each draw has more values.
	needed := make([]float64, max(draws/8, min(draws, 400_000/(a*b))))
	above, differences := make([]float64, a), make([]float64, 0, a*b)
	for i := range needed {
		for j := range above {
			above[j] = random.NormFloat64()
		}
		differences = differences[:0]
		for range b {
			below := random.NormFloat64()
			for _, x := range above {
				differences = append(differences, x-below)
			}
		}
		slices.Sort(differences)
		// B must be moved this far until only u pairs have B's value below A's.
		needed[i] = differences[len(differences)-1-u] / deviation(random, float64(a+b-2))
	}
	return quantile(needed, power)
}

// deviation draws an estimate, with dof degrees of freedom, of a standard deviation of 1.
func deviation(random *rand.Rand, dof float64) float64 {
	n, sum := max(1, int(math.Round(dof))), 0.0
	for range n {
		x := random.NormFloat64()
		sum += x * x
	}
	return math.Sqrt(sum / float64(n))
}

// quantile is the quantile of values at share, at least 0. It sorts the values.
func quantile(values []float64, share float64) float64 {
	slices.Sort(values)
	return max(0, values[int(share*float64(len(values)-1))])
}
