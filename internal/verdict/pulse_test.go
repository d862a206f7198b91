package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// sawtooth returns the messages waiting at a system of a capacity that stalls for some seconds in
// every period, from phase on. It begins empty.
func sawtooth(rate, capacity, every, stall, phase, length, step float64) (xs, ys []float64) {
	const tick = 0.01
	waits := 0.0
	for i := 0; float64(i)*tick <= length; i++ {
		at := float64(i) * tick
		if n := int(math.Round(step / tick)); i%n == 0 {
			xs, ys = append(xs, at), append(ys, waits)
		}
		waits += rate * tick
		if math.Mod(at+phase, every) < every-stall {
			waits = max(waits-capacity*tick, 0)
		}
	}
	return xs, ys
}

// A capacity of 5k/s with a stall of 1 s in 10 s carries 4.5k/s. Four periods distinguish 2% below
// from 2% above, at any phase. A single period is too short, unless the rate is far above.
func TestPulsesAreToldFromGrowth(t *testing.T) {
	for phase := 0.0; phase < 10; phase += 0.5 {
		for _, c := range []struct {
			rate, length float64
			grows        bool
		}{
			{4410, 40, false}, {4590, 40, true}, {4410, 80, false}, {4545, 80, true},
			{9000, 10, true}, {2000, 10, false},
		} {
			xs, ys := sawtooth(c.rate, 5000, 10, 1, phase, c.length, min(c.length/20, 1))
			j := judge(xs, ys, c.rate, GrowthBound*c.rate)
			long, overloaded := c.length > 10, c.rate > 5000
			wrong := j.grows != c.grows && !j.short
			if wrong || (long || overloaded) && j.short {
				t.Errorf("%.0f/s for %.0f s, phase %.1f: %+v", c.rate, c.length, phase, j)
			}
		}
	}
}

// Swings without growth are called growth about as often as by a straight line, whose interval of
// 95% is only for independent points.
func TestSwingsAreNotGrowth(t *testing.T) {
	for name, memory := range map[string]float64{"independent": 0, "following": 0.6} {
		const trials = 2000
		line := 0
		random, grows, short := rand.New(rand.NewPCG(1, 2)), 0, 0
		for range trials {
			var xs, ys []float64
			noise := 0.0
			for i := range 21 {
				noise = memory*noise + 100*random.NormFloat64()
				xs, ys = append(xs, float64(i)/2), append(ys, 1000+noise)
			}
			if g, _ := growthOf(xs, ys); g.low > 2.5 {
				line++
			}
			switch j := judge(xs, ys, 1000, 2.5); {
			case j.short:
				short++
			case j.grows:
				grows++
			}
		}
		t.Logf("%s: of %d, %d grow, %d are too short, %d grow by their line",
			name, trials, grows, short, line)
		if grows > trials*8/100 {
			t.Errorf("%s points: %d of %d grow", name, grows, trials)
		}
	}
}

// A window that ends within a pulse higher than any before is too short, and as many messages may
// wait at its end as before.
func TestAWindowMayEndInAPulse(t *testing.T) {
	pulse := func(at ...int) func(int) int64 {
		return func(i int) int64 {
			for _, a := range at {
				if i == a {
					return 900
				}
			}
			return 5
		}
	}
	for name, c := range map[string]struct {
		waits  func(int) int64
		stable bool
		short  bool
	}{
		"first pulse at the end": {pulse(20), false, true},
		"as high before":         {pulse(5, 20), true, false},
		"higher in the middle":   {pulse(12), true, false},
	} {
		s := window(c.waits, level(0))
		missing := float64(c.waits(20)-c.waits(0)) / 10
		s.Run.Summary.AchievedRate, s.Run.Summary.ReceivedRate = 1000-missing, 1000-missing
		if v := Stable(s, nil); v.Stable != c.stable || v.Short != c.short {
			t.Errorf("%s: stable %v, short %v: %q", name, v.Stable, v.Short, broken(v))
		}
	}
	// The breach of another clause does not depend on the window's length.
	s := window(pulse(20), level(0))
	s.Run.Summary.AchievedRate, s.Run.Summary.ReceivedRate = 910, 910
	if v := Stable(s, objective("p99<8ms")); v.Short {
		t.Errorf("%+v", v)
	}
	s.Run.State = result.Interrupted
	if v := Stable(s, nil); v.Short {
		t.Errorf("%+v", v)
	}
}
