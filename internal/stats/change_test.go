package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// noise returns n independent values about a level, as a share of it.
func noise(random *rand.Rand, n int, level, scatter float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = level * (1 + scatter*random.NormFloat64())
	}
	return out
}

// Where nothing changed, at most 5 of 100 series show a change.
func TestChangesKeepTheirLevel(t *testing.T) {
	const series, level = 300, 0.05
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{12, 30} {
		found := 0
		for range series {
			if len(Changes(noise(random, n, 100, 0.1), level)) > 0 {
				found++
			}
		}
		// Three standard deviations above 15.
		if found > 26 {
			t.Errorf("%d of %d series of %d values show a change", found, series, n)
		}
	}
}

func TestPlantedChangesAreFound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	values := slices.Concat(noise(random, 15, 100, 0.02), noise(random, 15, 120, 0.02),
		noise(random, 15, 90, 0.02))
	found := Changes(values, 0.05)
	if len(found) != 2 || found[0].At != 15 || found[1].At != 30 {
		t.Errorf("%+v", found)
	}
	for _, c := range found {
		if c.P > c.Needed {
			t.Errorf("%+v", c)
		}
	}
}

// Too few values show no change, however large, and one more can.
func TestFewestForChange(t *testing.T) {
	n := FewestForChange(0.05)
	step := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = float64(i) / 100
			if i >= n/2 {
				out[i] += 1000
			}
		}
		return out
	}
	if got := Changes(step(n-1), 0.05); len(got) > 0 {
		t.Errorf("%d values: %+v", n-1, got)
	}
	if got := Changes(step(n), 0.05); len(got) != 1 || got[0].At != n/2 {
		t.Errorf("%d values: %+v", n, got)
	}
	for _, same := range [][]float64{nil, {1}, make([]float64, 50)} {
		if got := Changes(same, 0.05); len(got) > 0 {
			t.Errorf("%d equal values: %+v", len(same), got)
		}
	}
}
