package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// driftOf is the drift of a line with noise whose neighbours resemble one another.
func driftOf(seed uint64, n int, slope, alike float64) Drift {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	var x, y []float64
	state := random.NormFloat64()
	for i := range n {
		state = alike*state + math.Sqrt(1-alike*alike)*random.NormFloat64()
		x, y = append(x, float64(i)), append(y, slope*float64(i)+state)
	}
	return DriftOf(x, y)
}

// The interval holds the slope in 95 of 100 series. A slope that equals the bound is reported to
// exceed it in at most 5 of 100 series, a slope far above it in nearly all.
func TestDriftKeepsItsWord(t *testing.T) {
	const tries = 1000
	for _, c := range []struct {
		n          int
		alike, far float64
	}{{24, 0, 0.6}, {60, 0.5, 0.4}, {60, 0.8, 0.5}, {96, 0.9, 0.5}} {
		missed, beyond, found := 0, 0, 0
		for seed := range uint64(tries) {
			d := driftOf(seed, c.n, 0.3, c.alike)
			if low, high := d.Interval(); low > 0.3 || high < 0.3 {
				missed++
			}
			if d.Beyond(0.3) <= 0.05 {
				beyond++
			}
			if driftOf(seed, c.n, -c.far, c.alike).Beyond(0.3) <= 0.05 {
				found++
			}
		}
		t.Logf("%+v: missed %d, beyond %d, found %d", c, missed, beyond, found)
		if missed > tries*7/100 || beyond > tries*6/100 || found < tries*95/100 {
			t.Errorf("%+v: missed %d, beyond %d, found %d of %d", c, missed, beyond, found, tries)
		}
	}
}

// A smooth curve rises beyond doubt, a straight line is exact, and few points show nothing.
func TestDriftOfCurves(t *testing.T) {
	var x, curve, line []float64
	for i := range 60 {
		x, curve = append(x, float64(i)), append(curve, 150-50*math.Exp(-float64(i)/25))
		line = append(line, 5+2*float64(i))
	}
	if p := DriftOf(x, curve).Beyond(0.01); p > 0.01 {
		t.Errorf("a curve rises with p %v", p)
	}
	d := DriftOf(x, line)
	if low, high := d.Interval(); math.Abs(low-2) > 1e-6 || math.Abs(high-2) > 1e-6 {
		t.Errorf("a line has the slope %v to %v", low, high)
	}
	if d.Beyond(1.9) > 1e-6 || d.Beyond(2.1) != 1 || DriftOf(x[:5], line).Beyond(0) != 1 {
		t.Errorf("a line: %v, %v, few points: %v", d.Beyond(1.9), d.Beyond(2.1),
			DriftOf(x[:5], line[:5]).Beyond(0))
	}
}

// A random walk has no trend, whatever it looks like.
func TestARandomWalkHasNoDrift(t *testing.T) {
	const tries = 1000
	claimed := 0
	for seed := range uint64(tries) {
		random := rand.New(rand.NewPCG(seed, 1))
		var x, walk []float64
		at := 0.0
		for i := range 60 {
			at += random.NormFloat64()
			x, walk = append(x, float64(i)), append(walk, at)
		}
		if DriftOf(x, walk).Beyond(0) <= 0.002 { // that of one figure among many
			claimed++
		}
	}
	if claimed > tries*6/100 {
		t.Errorf("a drift of %d random walks of %d", claimed, tries)
	}
}
