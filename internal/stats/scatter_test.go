package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The values are those of Abramowitz and Stegun, table 6.1, and trigamma(1/2) is half of the square
// of pi.
func TestDerivativesOfTheLogarithmOfGamma(t *testing.T) {
	const euler = 0.5772156649015329
	for _, c := range []struct{ got, want float64 }{
		{digamma(1), -euler}, {digamma(0.5), -euler - 2*math.Ln2}, {digamma(2), 1 - euler},
		{trigamma(1), math.Pi * math.Pi / 6}, {trigamma(0.5), math.Pi * math.Pi / 2},
		{digamma(30), math.Log(30) - 1./60 - 1./10800},
	} {
		if math.Abs(c.got-c.want) > 1e-7 {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	for _, x := range []float64{0.01, 0.5, 3, 700} {
		if got := inverseTrigamma(trigamma(x)); math.Abs(got/x-1) > 1e-6 {
			t.Errorf("%v, want %v", got, x)
		}
	}
}

// samplesOf draws samples whose variances are drawn from a scaled inverse chi-squared distribution.
func samplesOf(random *rand.Rand, n, of int, dof, variance float64) (all [][]float64) {
	for range n {
		chi := 0.0
		for range int(dof) {
			chi += math.Pow(random.NormFloat64(), 2)
		}
		sd := math.Sqrt(variance * dof / chi)
		one := make([]float64, of)
		for i := range one {
			one[i] = sd * random.NormFloat64()
		}
		all = append(all, one)
	}
	return all
}

// Planted scatters are found from samples of two and three, and samples of one variance are known
// to be alike.
func TestScatterIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, dof := range []float64{4, 10} {
		got := ScatterOf(samplesOf(random, 20_000, 3, dof, 0.04), 0)
		if math.Abs(got.Dof/dof-1) > 0.15 || math.Abs(got.Variance/0.04-1) > 0.05 {
			t.Errorf("%+v, want %v and 0.04", got, dof)
		}
	}
	alike := samplesOf(random, 5_000, 2, 1e3, 0.04)
	if got := ScatterOf(alike, 0); got.Dof < 30 || got.Dof > 5_000 {
		t.Errorf("samples of one variance: %+v", got)
	}
	if got := ScatterOf(alike[:4], 0); got != (Scatter{}) {
		t.Errorf("four samples: %+v", got)
	}
	if v, dof := (Scatter{Dof: 6, Variance: 0.04}).Moderate(0.01, 2); math.Abs(v-0.0325) > 1e-9 ||
		dof != 6 {
		t.Error(v, dof)
	}
	if v, dof := (Scatter{Dof: 6, Variance: 0.04}).Moderate(0.09, 9); v != 0.09 || dof != 9 {
		t.Error(v, dof)
	}
	// 80% of samples of two have at most 2.07 times the variance.
	if v, dof := (Scatter{Dof: 6, Variance: 0.04}).Moderate(0.08, 1); v != 0.08 || dof != 6 {
		t.Error(v, dof)
	}
	if v, dof := (Scatter{Dof: 6, Variance: 0.04}).Moderate(0.09, 1); v != 0.09 || dof != 1 {
		t.Error(v, dof)
	}
	if v, dof := (Scatter{}).Moderate(0.01, 2); v != 0.01 || dof != 2 {
		t.Error(v, dof)
	}
}

// A sample that does not scatter at all makes the others look unlike one another, unless it is taken
// to scatter a little.
func TestScatterHasALeast(t *testing.T) {
	samples := samplesOf(rand.New(rand.NewPCG(3, 4)), 40, 3, 1e3, 0.04)
	still := slices.Concat(samples, [][]float64{{1, 1, 1}})
	if with, without := ScatterOf(still, 4e-4), ScatterOf(still, 1e-30); without.Dof > 2 ||
		with.Dof < 2*without.Dof {
		t.Errorf("%+v with a least variance, %+v without", with, without)
	}
}
