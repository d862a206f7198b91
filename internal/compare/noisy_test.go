package compare

import (
	"math"
	"testing"
)

// A pair of a study that scatters several times as much as all others has an interval without the
// true ratio in at most 8 of 100 studies of two rounds, and 5 of three: the others' rounds do not
// make it look quiet, not even where they hardly scatter.
func TestTruthNoisyPairOfAQuietStudy(t *testing.T) {
	simulates(t)
	const studies, quiet = 4000, 20
	for _, sd := range []float64{0.01, 0.03, 0.08} {
		for _, times := range []float64{2, 4, 10} {
			for rounds := 2; rounds <= 3; rounds++ {
				random, missed := seeded(uint64(rounds)), 0
				draw := func(sd float64) (out []float64) {
					for range rounds {
						out = append(out, math.Exp(sd*random.NormFloat64()))
					}
					return out
				}
				for range studies {
					var samples [][]float64
					for range quiet {
						samples = append(samples, draw(sd))
					}
					a, b := draw(times*sd), draw(times*sd)
					_, low, high := Repeated(a, b, 0, ScatterOf(append(samples, a, b)))
					if low > 1 || high < 1 {
						missed++
					}
				}
				t.Logf("sd %.2f and %.0f times it, %d rounds: wrong in %d of %d", sd, times, rounds,
					missed, studies)
				if most := map[int]float64{2: 0.085, 3: 0.05}[rounds]; float64(missed) > most*studies {
					t.Errorf("sd %.2f and %.0f times it, %d rounds: wrong in %d of %d", sd, times, rounds,
						missed, studies)
				}
			}
		}
	}
}
