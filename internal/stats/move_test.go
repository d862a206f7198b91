package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// noisy returns n values around a level, a function of the share of the series before a value.
// alike is the correlation of neighbours, spikes the share of values that are far too large.
func noisy(seed uint64, n int, alike, spikes float64, level func(float64) float64) []float64 {
	const noise = 0.04
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	out := make([]float64, n)
	state := random.NormFloat64()
	for i := range out {
		out[i] = level(float64(i)/float64(n)) + noise*state
		state = alike*state + math.Sqrt(1-alike*alike)*random.NormFloat64()
		if random.Float64() < spikes {
			out[i] += random.ExpFloat64()
		}
	}
	return out
}

// A series without a move has one, at an error of 1 in 100, in about as few cases; and neither
// neighbours that resemble one another nor spikes change that much.
func TestMoveOfSeriesThatStay(t *testing.T) {
	const tries = 600
	for _, c := range []struct {
		n             int
		alike, spikes float64
		most          int // of tries: 1% and chance, and somewhat more where neighbours are alike
	}{
		{8, 0, 0, 14}, {15, 0, 0, 14}, {30, 0, 0, 14}, {60, 0, 0, 14}, {30, 0, 0.1, 18},
		{60, 0, 0.1, 18}, {15, 0.3, 0, 30}, {60, 0.3, 0, 24}, {30, 0.3, 0.1, 24},
	} {
		moved := 0
		for seed := range uint64(tries) {
			m, ok := MoveOf(noisy(seed, c.n, c.alike, c.spikes, func(float64) float64 { return 5 }))
			if !ok {
				t.Fatalf("%d values are too few", c.n)
			}
			if m.P <= 0.01 {
				moved++
			}
		}
		t.Logf("%+v: %d of %d", c, moved, tries)
		if moved > c.most {
			t.Errorf("%+v: %d of %d have a move", c, moved, tries)
		}
	}
}

// Moves of every kind are found, in at least 19 of 20 series.
func TestMoveOfSeriesThatMove(t *testing.T) {
	const tries = 100
	for name, level := range map[string]func(at float64) float64{
		"step":       func(at float64) float64 { return 0.18 * math.Round(at) },
		"slope":      func(at float64) float64 { return -0.2 * at },
		"early fall": func(at float64) float64 { return 2.3 * math.Exp(-20*at) },
		"late rise":  func(at float64) float64 { return math.Max(0, 2*(at-0.8)) },
	} {
		for _, n := range []int{30, 60} {
			found := 0
			for seed := range uint64(tries) {
				m, _ := MoveOf(noisy(seed, n, 0, 0, level))
				if m.P <= 0.01 {
					found++
				}
			}
			t.Logf("%s of %d: %d of %d", name, n, found, tries)
			if found < tries*19/20 {
				t.Errorf("%s of %d values: found in %d of %d", name, n, found, tries)
			}
		}
	}
}

func TestMoveOfPlainSeries(t *testing.T) {
	if _, ok := MoveOf(make([]float64, fewestForMove-1)); ok {
		t.Error("too few values have a move")
	}
	same := []float64{7, 7, 7, 7, 7, 7, 7, 7, 7, 7}
	if m, ok := MoveOf(same); !ok || m.P != 1 || m.Before != 7 || m.After != 7 {
		t.Errorf("a constant: %+v, %v", m, ok)
	}
	stepped := []float64{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 5}
	if m, _ := MoveOf(stepped); m.At != 10 || m.Before != 3 || m.After != 5 || m.P > 0.01 {
		t.Errorf("a step: %+v", m)
	}
	ramp := make([]float64, 15) // the logarithms of a queue that grows evenly
	for i := range ramp {
		ramp[i] = math.Log(float64(i) + 0.5)
	}
	if m, _ := MoveOf(ramp); m.P > 0.01 {
		t.Errorf("a ramp: %+v", m)
	}
	slices.Reverse(ramp)
	if m, _ := MoveOf(ramp); m.P > 0.01 {
		t.Errorf("a ramp that falls: %+v", m)
	}
	if a, b := mustMove(noisy(1, 20, 0, 0, math.Exp)), mustMove(noisy(1, 20, 0, 0, math.Exp)); a != b {
		t.Errorf("%+v, then %+v", a, b)
	}
}

func mustMove(series []float64) Move {
	m, ok := MoveOf(series)
	if !ok {
		panic("too few values")
	}
	return m
}

func FuzzMoveOf(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var series []float64
		for _, b := range raw[:min(len(raw), 100)] {
			series = append(series, math.Ldexp(float64(int8(b)), int(b%64)))
		}
		m, ok := MoveOf(series)
		if ok && (m.P <= 0 || m.P > 1 || m.At < fewestAside || m.At > len(series)-fewestAside) {
			t.Errorf("%+v of %v", m, series)
		}
	})
}
