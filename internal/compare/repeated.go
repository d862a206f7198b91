package compare

import (
	"math"

	moremath "github.com/aclements/go-moremath/stats"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
)

// Repeated returns the ratio of the geometric means of two samples of a figure, b to a, and its
// interval by Student's distribution on the logarithms. Without two values above 0 on each side
// there is no interval: it is 0 to 0. Samples that grow until a question is decided are looked at
// several times: the intervals of the looks 1, 2, 3 and so on hold together, because look k has the
// share 1/(k(k+1)) of the error. Look 0: they are looked at once. What other samples show of the
// scatter makes the interval of small ones narrower.
func Repeated(a, b []float64, look int, others stats.Scatter) (ratio, low, high float64) {
	meanA, aloneA := sure(a, false)
	meanB, aloneB := sure(b, false)
	if ratio = meanB / meanA; aloneA.dof < 1 || aloneB.dof < 1 {
		return ratio, 0, 0
	}
	w := join(moderated(a, aloneA, others), moderated(b, aloneB, others))
	// Both sides may have the variance of the same others, which are as many for both together.
	w.dof = min(w.dof, max(others.Dof, join(aloneA, aloneB).dof))
	low, high = w.Interval(ratio, tailAt(look))
	return ratio, low, high
}

// RepeatedRatios is like Repeated for a sample of ratios, such as those of two figures of each run.
func RepeatedRatios(all []float64, look int, others stats.Scatter) (ratio, low, high float64) {
	ratio, alone := sure(all, false)
	if alone.dof < 1 {
		return ratio, 0, 0
	}
	low, high = moderated(all, alone, others).Interval(ratio, tailAt(look))
	return ratio, low, high
}

// tailAt returns the share of errors to each side of the interval of a look.
func tailAt(look int) float64 {
	tail := (1 - confidence) / 2
	if look > 0 {
		tail /= float64(look) * float64(look+1)
	}
	return tail
}

// moderated returns the uncertainty of a sample's mean, given what other samples show.
func moderated(values []float64, alone Within, others stats.Scatter) Within {
	sd := moremath.StdDev(logarithms(values))
	variance, dof := others.Moderate(sd*sd, alone.dof)
	alone.se = math.Hypot(math.Sqrt(variance/float64(len(values))), resolution/2)
	alone.dof = dof
	return alone
}

// leastScatter is the least standard deviation of a logarithm over rounds: a search's bracket is
// hardly narrower.
const leastScatter = 0.02

// ScatterOf returns what the samples of a figure show together of how one scatters.
func ScatterOf(samples [][]float64) stats.Scatter {
	logs := make([][]float64, len(samples))
	for i, values := range samples {
		logs[i] = logarithms(values)
	}
	return stats.ScatterOf(logs, leastScatter*leastScatter)
}
