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
					r := Repeated(a, b, 0, ScatterOf(append(samples, a, b)))
					if r.Low > 1 || r.High < 1 {
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

// Of two equal cells whose scatter a few others show, at most 5 in 100 are called different.
func TestTruthScatterOfFewOthers(t *testing.T) {
	simulates(t)
	const studies = 6000
	for _, cells := range []int{5, 6, 10} {
		random, missed := seeded(uint64(cells)), 0
		for range studies {
			samples := make([][]float64, cells)
			for i := range samples {
				for range 2 {
					samples[i] = append(samples[i], math.Exp(0.1*random.NormFloat64()))
				}
			}
			r := Repeated(samples[0], samples[1], 0, ScatterOf(samples))
			if r.Low > 1 || r.High < 1 {
				missed++
			}
		}
		t.Logf("%d cells: wrong in %d of %d", cells, missed, studies)
		if float64(missed) > 0.05*studies {
			t.Errorf("%d cells: wrong in %d of %d", cells, missed, studies)
		}
	}
}
