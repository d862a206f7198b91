package stats

import "math"

// mixture is the variance of the true means, in standard deviations of a value, for which
// Sequential and SequentialP are best. docs/design/until.md says why it has this value.
const mixture = 3

// Sequential is like Student, for values that are looked at again after each new one: the interval
// that reaches so many standard errors to each side of the mean holds at every number of values,
// all together with a probability of at least 1-2*tail. dof is the number of values minus 1. If the
// values are too few, it is infinite.
//
// It is a confidence sequence for the mean of normal values of unknown variance (Lai, "On
// Confidence Sequences", 1976), with a normal mixture over the standardized mean (Wang and Ramdas,
// "Anytime-Valid t-Tests and Confidence Sequences for Gaussian Means with Unknown Variance", 2023).
func Sequential(dof, tail float64) float64 {
	n := dof + 1
	spread := 1 + n*mixture
	bound := math.Exp((math.Log(spread) - 2*math.Log(2*tail)) / n)
	if !(bound < spread) {
		return math.Inf(1)
	}
	return math.Sqrt(dof * (bound - 1) / (1 - bound/spread))
}

// SequentialP is like StudentP, for the test that belongs to Sequential: if the mean is 0, a p of
// at most alpha ever occurs, at any number of values, with a probability of at most alpha.
func SequentialP(deviation, dof float64) float64 {
	n := dof + 1
	spread := 1 + n*mixture
	squares := min(deviation*deviation/dof, math.MaxFloat64/2)
	evidence := n/2*(math.Log1p(squares)-math.Log1p(squares/spread)) - math.Log(spread)/2
	return math.Exp(-max(evidence, 0))
}
