package stats

import (
	"cmp"
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
)

// Student is the value beyond which Student's distribution has the probability tail ("The
// Probable Error of a Mean", 1908).
func Student(dof, tail float64) float64 {
	return moremath.InvCDF(moremath.TDist{V: dof})(1 - tail)
}

// StudentP is the two-sided p of a deviation of so many standard errors.
func StudentP(deviation, dof float64) float64 {
	return math.Min(1, 2*(1-moremath.TDist{V: dof}.CDF(math.Abs(deviation))))
}

// Welch is the standard error of a difference and its degrees of freedom ("The Generalization
// of Student's Problem", 1947).
func Welch(seA, dofA, seB, dofB float64) (se, dof float64) {
	va, vb := seA*seA, seB*seB
	return math.Sqrt(va + vb), (va + vb) * (va + vb) / (va*va/dofA + vb*vb/dofB)
}

// Holm reports which of several tests reject their hypotheses, with alpha for all together
// ("A Simple Sequentially Rejective Multiple Test Procedure", 1979).
func Holm(ps []float64, alpha float64) (rejected []bool) {
	rejected = make([]bool, len(ps))
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	for i, at := range order {
		if ps[at] > alpha/float64(len(ps)-i) {
			break
		}
		rejected[at] = true
	}
	return rejected
}
