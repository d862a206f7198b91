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
func Repeated(a, b []float64, look int, others stats.Scatter) RoundRatio {
	meanA, aloneA := sure(a, false)
	meanB, aloneB := sure(b, false)
	r := RoundRatio{Ratio: meanB / meanA}
	if aloneA.dof < 1 || aloneB.dof < 1 {
		return r
	}
	w := join(moderated(a, aloneA, others), moderated(b, aloneB, others))
	// Both sides may have the variance of the same others, which are as many for both together.
	w.dof = min(w.dof, max(others.Dof, join(aloneA, aloneB).dof))
	return r.known(w, look, min(len(a), len(b)), 2)
}

// RepeatedRatios is like Repeated for a sample of ratios, such as those of two figures of each run.
func RepeatedRatios(all []float64, look int, others stats.Scatter) RoundRatio {
	ratio, alone := sure(all, false)
	r := RoundRatio{Ratio: ratio}
	if alone.dof < 1 {
		return r
	}
	return r.known(moderated(all, alone, others), look, len(all), 1)
}

// RoundRatio is a ratio over rounds with its interval, which is 0 to 0 if it is not known.
type RoundRatio struct {
	Ratio, Low, High float64

	w                   Within
	look, rounds, sides int
}

func (r RoundRatio) known(w Within, look, rounds, sides int) RoundRatio {
	r.w, r.look, r.rounds, r.sides = w, look, rounds, sides
	r.Low, r.High = w.Interval(r.Ratio, tailAt(look))
	return r
}

// MostFurther is the greatest number that Further returns.
const MostFurther = 1000

// Further estimates how many more rounds of each side it takes until the logarithm of the ratio is
// known to within reach, if they scatter like the others and each is looked at. It is coarse: the
// candidates grow by an eighth. 0: the interval is not known.
func (r RoundRatio) Further(reach float64) int {
	if r.rounds == 0 {
		return 0
	}
	for more := 1; more < MostFurther; more += 1 + more/8 {
		w, look := r.w, r.look
		w.se *= math.Sqrt(float64(r.rounds) / float64(r.rounds+more))
		w.dof += float64(r.sides * more)
		if look > 0 {
			look += more
		}
		if w.reach(tailAt(look)) <= reach {
			return more
		}
	}
	return MostFurther
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
