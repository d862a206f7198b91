package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// Power is the share of comparisons in which a difference as large as
// Effect.Detectable says would be shown.
const Power = 0.9

// draws is how many comparisons Detectable simulates.
const draws = 4000

// scatter is how a figure scatters, as far as its test needs to know.
type scatter struct {
	se   float64 // of the ratio's logarithm: of a test by Student's distribution
	dof  float64
	sd   float64 // of the values' logarithms within a side: of a test by ranks
	a, b int     // values of each side
}

// spread is the standard deviation of the logarithms within both sides together.
func spread(a, b spans) float64 {
	sum, dof := 0.0, 0.0
	for _, side := range []spans{a, b} {
		logs := make([]float64, len(side))
		for i, v := range side {
			logs[i] = math.Log(v.Least)
		}
		if n := float64(len(side) - 1); n > 0 {
			sum, dof = sum+n*stats.Variance(logs), dof+n
		}
	}
	if dof == 0 {
		return 0
	}
	return math.Hypot(math.Sqrt(sum/dof), resolution)
}

// Detectable is the difference, as a share, that Power of such comparisons would
// show: of as many runs that scatter as much, by the test and the threshold of this
// one. That the scatter is itself an estimate is part of it. It is false where no
// difference could be shown, or the scatter is not known. Logarithms are taken to
// be normal.
func (e Effect) Detectable() (float64, bool) {
	s := e.scatter
	alpha := e.alpha
	if !e.Tested() || alpha <= 0 {
		return 0, false
	}
	if s.se > 0 {
		needed := remembered(test{dof: s.dof, alpha: alpha}, neededByStudent)
		return e.withInstrument(math.Expm1(needed * s.se)), true
	}
	if s.sd <= 0 || critical(s.a, s.b, alpha/2) < 0 {
		return 0, false
	}
	needed := remembered(test{a: s.a, b: s.b, alpha: alpha}, neededByRanks)
	return e.withInstrument(math.Expm1(needed * s.sd)), true
}

// test is all that decides which difference it shows, in units of the scatter.
type test struct {
	dof   float64
	a, b  int
	alpha float64
}

// needs are the results of remembered: pure functions of a test that take long.
var needs sync.Map

func remembered(t test, simulate func(*rand.Rand, test) float64) float64 {
	if known, ok := needs.Load(t); ok {
		return known.(float64)
	}
	needed := simulate(rand.New(rand.NewPCG(uint64(t.a), uint64(t.b))), t)
	needs.Store(t, needed)
	return needed
}

// neededByStudent is how many estimated standard errors a true difference must have
// for Student's test to refuse that there is none in Power of all cases. A case is
// the estimate at hand and a comparison like it.
func neededByStudent(random *rand.Rand, t test) float64 {
	bound, dof := student(t.dof, t.alpha/2), t.dof
	needed := make([]float64, draws)
	for i := range needed {
		needed[i] = (bound*deviation(random, dof) - random.NormFloat64()) / deviation(random, dof)
	}
	return quantile(needed, Power)
}

// neededByRanks is the same in estimated standard deviations, for the Mann-Whitney
// test.
func neededByRanks(random *rand.Rand, t test) float64 {
	a, b, u := t.a, t.b, critical(t.a, t.b, t.alpha/2)
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
	return quantile(needed, Power)
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
