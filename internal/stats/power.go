package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// draws is how many comparisons the functions below simulate.
const draws = 4000

// NeededByStudent is how many estimated standard errors a true difference must have for
// Student's two-sided test at alpha to refuse that there is none in the share power of all
// cases. A case is the estimate at hand and a comparison like it. It is a simulation.
func NeededByStudent(random *rand.Rand, dof, alpha, power float64) float64 {
	bound := Student(dof, alpha/2)
	needed := make([]float64, draws)
	for i := range needed {
		needed[i] = (bound*deviation(random, dof) - random.NormFloat64()) / deviation(random, dof)
	}
	return quantile(needed, power)
}

// NeededByRanks is the same in estimated standard deviations, for MannWhitney of a values
// against b.
func NeededByRanks(random *rand.Rand, a, b int, alpha, power float64) float64 {
	u := CriticalU(a, b, alpha/2)
	// Large samples need fewer draws, each of which has more values.
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
		// So far B must be moved for only u of its values to lie below A's.
		needed[i] = differences[len(differences)-1-u] / deviation(random, float64(a+b-2))
	}
	return quantile(needed, power)
}

// deviation draws the estimate of a standard deviation of 1 with so many degrees of
// freedom.
func deviation(random *rand.Rand, dof float64) float64 {
	n, sum := max(1, int(math.Round(dof))), 0.0
	for range n {
		x := random.NormFloat64()
		sum += x * x
	}
	return math.Sqrt(sum / float64(n))
}

// quantile is that of some values, which it sorts.
func quantile(values []float64, share float64) float64 {
	slices.Sort(values)
	return max(0, values[int(share*float64(len(values)-1))])
}
