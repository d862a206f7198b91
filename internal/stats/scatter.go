package stats

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
	moremath "github.com/aclements/go-moremath/stats"
)

// Scatter is what many small samples show together of the variance of one: it is drawn from a
// scaled inverse chi-squared distribution around Variance, with Dof degrees of freedom, the more
// the more alike the samples' variances are. 0: nothing is known.
type Scatter struct{ Dof, Variance float64 }

// fewestSamples is the least number of samples with a variance of their own.
const fewestSamples = 5

// ScatterOf estimates the scatter from samples of two or more values each; shorter ones say
// nothing. No sample counts as having a variance below least. How unlike the variances are is
// judged down to a sixteenth of it: a single sample that seems not to scatter at all would make all
// of them look unlike one another, and with least itself samples that hardly scatter would look
// alike. The estimate is that of
// Smyth, "Linear Models and Empirical Bayes Methods for Assessing Differential Expression in
// Microarray Experiments" (2004), section 6.2; where the variances are no more unlike than chance
// makes them, it is their mean, with the degrees of freedom of all samples.
func ScatterOf(samples [][]float64, least float64) Scatter {
	var logs, expected []float64 // of each variance, and the variance of its logarithm by chance
	sum, dofs := 0.0, 0.0
	for _, values := range samples {
		dof := float64(len(values) - 1)
		if dof < 1 {
			continue
		}
		sd := moremath.StdDev(values)
		v := math.Max(sd*sd, least)
		logs = append(logs, math.Log(math.Max(sd*sd, least/16))-digamma(dof/2)+math.Log(dof/2))
		expected = append(expected, trigamma(dof/2))
		sum, dofs = sum+dof*v, dofs+dof
	}
	if len(logs) < fewestSamples {
		return Scatter{}
	}
	sd := moremath.StdDev(logs)
	beyond := sd*sd - moremath.Mean(expected)
	if beyond <= 0 {
		return Scatter{Dof: dofs, Variance: sum / dofs}
	}
	half := inverseTrigamma(beyond)
	return Scatter{Dof: math.Min(2*half, dofs), Variance: math.Max(least,
		math.Exp(moremath.Mean(logs)+digamma(half)-math.Log(half)))}
}

// Moderate returns the variance of a sample and its degrees of freedom, given what the other
// samples show: the mean of both, weighted by their degrees of freedom, but no less than the
// sample's own, and the greater of the degrees of freedom. With the mean alone and the sum of the
// degrees of freedom, samples that scatter more than others would have intervals that are too
// narrow (TestTruthScatterOfAStudy in internal/compare). A sample whose variance is beyond what
// chance makes of theirs (F test, 20%) stands alone; at 5% the pair of a noisy system among quiet
// ones would be wrong in 12 of 100 studies of two rounds, and not in 8
// (TestTruthNoisyPairOfAQuietStudy).
func (s Scatter) Moderate(variance, dof float64) (moderated, of float64) {
	if s.Dof == 0 || fP(variance/s.Variance, dof, s.Dof) < 0.2 {
		return variance, dof
	}
	mean := (s.Dof*s.Variance + dof*variance) / (s.Dof + dof)
	return math.Max(mean, variance), math.Max(s.Dof, dof)
}

// fP returns the probability that the ratio of two variances of equal populations, with so many
// degrees of freedom, is greater.
func fP(ratio, dof, of float64) float64 {
	return mathx.BetaInc(of/(of+dof*ratio), of/2, dof/2)
}

// digamma and trigamma are the first two derivatives of the logarithm of the gamma function, for x
// above 0, by recurrence and the asymptotic series (Abramowitz and Stegun, 6.3.18 and 6.4.12).
func digamma(x float64) (y float64) {
	for ; x < 8; x++ {
		y -= 1 / x
	}
	z := 1 / (x * x)
	return y + math.Log(x) - 0.5/x - z*(1./12-z*(1./120-z*(1./252-z/240)))
}

func trigamma(x float64) (y float64) {
	for ; x < 8; x++ {
		y += 1 / (x * x)
	}
	z := 1 / (x * x)
	return y + 1/x + z/2 + z/x*(1./6-z*(1./30-z*(1./42-z/30)))
}

// inverseTrigamma returns the x at which trigamma, which falls, has the value y, by bisection.
func inverseTrigamma(y float64) float64 {
	low, high := math.Log(1e-6), math.Log(1e9)
	for range 100 {
		if middle := (low + high) / 2; trigamma(math.Exp(middle)) > y {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(high)
}
