package skew_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/skew"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

const seeds = 1000

// everySeed calls each for every seed, a half of them at a time.
func everySeed(t *testing.T, each func(t *testing.T, seed uint64)) {
	t.Helper()
	t.Run("seeds", func(t *testing.T) {
		for half := range uint64(2) {
			t.Run(fmt.Sprint(half), func(t *testing.T) {
				t.Parallel()
				for seed := half; seed < seeds; seed += 2 {
					each(t, seed)
				}
			})
		}
	})
}

// gathered collects figures of all seeds.
type gathered struct {
	sync.Mutex
	all []float64
}

func (g *gathered) add(more ...float64) {
	g.Lock()
	defer g.Unlock()
	g.all = append(g.all, more...)
}

func (g *gathered) quantiles() string {
	slices.Sort(g.all)
	return fmt.Sprintf("p50 %.3g, p90 %.3g, p99 %.3g, max %.3g", g.at(0.5), g.at(0.9), g.at(0.99),
		g.at(1))
}

func (g *gathered) at(share float64) float64 {
	return g.all[int(share*float64(len(g.all)-1))]
}

// The promise: the bound holds the truth in every seed, at every moment looked at,
// and is a few times what no estimator can avoid: half of the least round trip.
func TestBoundHoldsTheTruthInEverySeed(t *testing.T) {
	var ratios, looks, exchanges gathered
	everySeed(t, func(t *testing.T, seed uint64) {
		w := newWorld(seed)
		var mine []float64
		looked, jumped, last, away := 0, false, int64(0), 0.0
		w.run(t, 30*second, func(step *skew.Step, _ skew.Exchange) {
			s := w.clock.State()
			if step != nil || s.StepsNoticed != 0 {
				t.Fatalf("seed %d: %v where no clock stepped", seed, s.Steps)
			}
			if !jumped && s.Exchanges >= 10 {
				if err := w.clock.Jump(); err != nil {
					t.Fatal(err)
				}
				s, jumped, last = w.clock.State(), true, w.clock.Now()
			}
			looked++
			if wrong := w.wrong(); math.Abs(wrong) > float64(s.BoundNs) {
				t.Fatalf("seed %d: the clock is wrong by %.0f ns: %+v", seed, wrong, s)
			}
			if s.Exchanges == 0 {
				return
			}
			if far := math.Abs(w.truth(w.own.now) - float64(s.OffsetNs)); far >
				float64(s.BoundNs-max(s.DeviationNs, -s.DeviationNs)) {
				t.Fatalf("seed %d: the offset is wrong by %.0f ns: %+v", seed, far, s)
			}
			if now := w.clock.Now(); jumped && now < last {
				t.Fatalf("seed %d: the clock went back by %d ns", seed, last-now)
			} else if jumped {
				last = now
			}
			if w.own.now-w.beganNs > 12*second {
				mine = append(mine, float64(s.BoundNs)/((w.thereNs+w.backNs)/2))
				away = max(away, math.Abs(float64(s.DeviationNs)))
			}
		})
		ratios.add(mine...)
		looks.add(float64(looked))
		exchanges.add(float64(w.clock.State().Exchanges) / 30)
	})
	if len(looks.all) != seeds {
		t.Fatalf("%d seeds of %d", len(looks.all), seeds)
	}
	t.Logf("looks a seed: %s", looks.quantiles())
	t.Logf("exchanges a second: %s", exchanges.quantiles())
	t.Logf("bound / half of the least round trip: %s", ratios.quantiles())
	if ratios.at(0.5) > 2 || ratios.at(0.9) > 4 {
		t.Error("the bound is more than a few times the unavoidable one")
	}
}

const stepSize = 5_000_000

// planted is what became of a planted step.
type planted struct {
	before    skew.State // the last look before the step
	noticedNs int64      // after the step; 0: never
	dueNs     int64      // the latest that is promised; 0: nothing is promised
	step      skew.Step
}

// boundNs is that of the offset, without what the clock was off its line.
func (p planted) boundNs() int64 {
	return p.before.BoundNs - max(p.before.DeviationNs, -p.before.DeviationNs)
}

// plantStep runs a world in which a clock steps, and sees when that is noticed.
//
// Sure to prove the step is an exchange whose round trip and twice the bound before the
// step, grown by what the drift may have done since, are less than the step.
func plantStep(t *testing.T, w *world, sizeNs int64) (p planted) {
	t.Helper()
	w.stepAtNs, w.stepNs = w.beganNs+20*second+w.Int64N(2*second), sizeNs
	w.run(t, 35*second, func(step *skew.Step, x skew.Exchange) {
		after := w.own.now - w.stepAtNs
		switch {
		case after < 0:
			p.before = w.clock.State()
		case step != nil && p.noticedNs != 0:
			t.Errorf("another step: %v", step)
		case step != nil:
			p.noticedNs = after
		}
		if p.dueNs == 0 && x.SentNs > w.stepAtNs {
			later := float64(after) / 1e9
			bound := float64(p.boundNs()) + later*1000*
				(p.before.DriftBoundPPM+skew.JumpPPM+later*skew.WanderPPMPerSecond)
			if float64(x.RoundTripNs())+2*bound+2000 < stepSize {
				p.dueNs = after
			}
		}
	})
	if p.before.StepsNoticed != 0 {
		t.Errorf("a step before the step: %+v", p.before)
	}
	if steps := w.clock.State().Steps; p.noticedNs != 0 {
		p.step = steps[0]
	}
	return p
}

// A step that exceeds four times the bound is noticed within seconds, whatever the network
// does: 6 s here, of which congestion may take 2, and each lost exchange one. A step between that and the round trip is
// noticed when delays allow. A smaller step looks like delays that changed.
func TestStepIsNoticed(t *testing.T) {
	var took, sizes gathered
	var mu sync.Mutex
	var all, noticed [4]int // by the bound before the step, in quarters of its size
	measured := 0
	everySeed(t, func(t *testing.T, seed uint64) {
		w := newWorld(seed)
		p := plantStep(t, w, []int64{stepSize, -stepSize}[seed/2%2])
		if p.dueNs != 0 && (p.noticedNs == 0 || p.noticedNs > p.dueNs) {
			t.Errorf("seed %d: noticed after %d ns, but %d was promised", seed, p.noticedNs, p.dueNs)
		}
		if 4*p.boundNs() < stepSize && (p.noticedNs == 0 || p.noticedNs > 6*second) {
			t.Errorf("seed %d: noticed after %d ns, bound %d", seed, p.noticedNs, p.boundNs())
		}
		mu.Lock()
		defer mu.Unlock()
		quarter := min(3, 4*p.boundNs()/stepSize)
		all[quarter]++
		if p.noticedNs == 0 {
			return
		}
		noticed[quarter]++
		took.add(float64(p.noticedNs) / 1e9)
		off := p.step.SizeNs - w.stepNs
		sizes.add(math.Abs(float64(off)) / 1e6)
		if max(off, -off) <= p.step.BoundNs {
			measured++
		}
	})
	t.Logf("by quarters of the step in the bound before it: %d of %d noticed", noticed, all)
	t.Logf("seconds until it was noticed: %s", took.quantiles())
	t.Logf("the size is wrong by, ms: %s; by less than its bound in %d of %d", sizes.quantiles(),
		measured, len(sizes.all))
	if all[0] < seeds*3/4 || measured < len(sizes.all)*97/100 || sizes.at(0.5) > 0.2 {
		t.Error("too few steps are measured")
	}
}

// After silence the bound grows, and still holds.
func TestBoundHoldsBeyondTheLastExchange(t *testing.T) {
	var after gathered
	everySeed(t, func(t *testing.T, seed uint64) {
		w := newWorld(seed)
		w.run(t, 10*second, func(*skew.Step, skew.Exchange) {})
		if err := w.clock.Jump(); err != nil {
			t.Error(err)
			return
		}
		last := w.clock.State().BoundNs
		for range 60 {
			w.own.now += second
			s := w.clock.State()
			if wrong := math.Abs(w.wrong()); wrong > float64(s.BoundNs) {
				t.Errorf("seed %d: wrong by %.0f ns, %+v", seed, wrong, s)
			}
			if s.BoundNs < last {
				t.Errorf("seed %d: the bound shrank without an exchange", seed)
			}
			last = s.BoundNs
		}
		after.add(float64(last) / 1e6)
	})
	t.Logf("bound after a minute of silence, ms: %s", after.quantiles())
}

// A latency that is measured on the clock is wrong by at most the greatest slew and drift.
func TestClockSlewsNoFasterThanStated(t *testing.T) {
	w := newWorld(3)
	w.run(t, 2*second, func(*skew.Step, skew.Exchange) {})
	if err := w.clock.Jump(); err != nil {
		t.Fatal(err)
	}
	w.stepAtNs, w.stepNs = w.own.now, 30_000_000
	lastOwn, last, fastest := w.own.now, w.clock.Now(), 0.0
	w.run(t, 12*second, func(*skew.Step, skew.Exchange) {
		own, now := w.own.now, w.clock.Now()
		if own > lastOwn {
			rate := math.Abs(float64(now-last)-float64(own-lastOwn)) - 2
			fastest = max(fastest, rate/float64(own-lastOwn)*1e6)
		}
		lastOwn, last = own, now
	})
	t.Logf("the clock ran up to %.0f ppm off the worker's own", fastest)
	if fastest > skew.MaxSlewPPM+skew.MaxDriftPPM || fastest < skew.MaxSlewPPM-150 {
		t.Errorf("the clock ran %.0f ppm off the worker's own", fastest)
	}
}

// Without a jump the clock reaches the line by slewing alone.
func TestClockConverges(t *testing.T) {
	w := newWorld(7)
	w.offsetNs = 20_000_000
	w.run(t, 60*second, func(*skew.Step, skew.Exchange) {})
	s := w.clock.State()
	if s.DeviationNs > 20_000 || s.DeviationNs < -20_000 || s.BoundNs > 20_000_000 {
		t.Errorf("after a minute %+v", s)
	}
	if greatest := w.clock.GreatestBoundNs(); greatest < 20_000_000 {
		t.Errorf("the greatest bound was %d ns, and the clock was 20 ms away", greatest)
	}
	if greatest := w.clock.GreatestBoundNs(); greatest > w.clock.State().BoundNs {
		t.Errorf("the greatest bound since now is %d ns", greatest)
	}
}

func TestNothingIsKnownWithoutExchanges(t *testing.T) {
	own := &manual{now: 5}
	c := skew.New(own)
	if s := c.State(); s.BoundNs != skew.Unbounded || s.Exchanges != 0 {
		t.Errorf("%+v", s)
	}
	if err := c.Jump(); err == nil {
		t.Error("the clock jumped to nowhere")
	}
	if c.Now() != 5 || c.GreatestBoundNs() != skew.Unbounded {
		t.Error("not the worker's own clock")
	}
	own.now = 1000
	if _, err := c.Add(skew.Exchange{SentNs: 900, ReturnedNs: 1001}); err == nil {
		t.Error("an exchange that returned in the future was taken")
	}
}

// On one machine there is one clock, and the truth is an offset of zero.
func TestOneMachineHasNoOffset(t *testing.T) {
	own := clock.Precise()
	c := skew.New(own)
	questions, answers := make(chan struct{}), make(chan [2]int64)
	go func() {
		for range questions {
			received := clock.Now()
			answers <- [2]int64{received, clock.Now()}
		}
		close(answers)
	}()
	for range 300 {
		x := skew.Exchange{SentNs: c.Own()}
		questions <- struct{}{}
		answer := <-answers
		x.ReceivedNs, x.AnsweredNs, x.ReturnedNs = answer[0], answer[1], c.Own()
		if step, err := c.Add(x); err != nil || step != nil {
			t.Fatal(step, err)
		}
		s := c.State()
		if far := max(s.OffsetNs, -s.OffsetNs); far > s.BoundNs {
			t.Fatalf("an offset of zero is not within %+v", s)
		}
	}
	close(questions)
	for range answers {
	}
	t.Logf("%+v", c.State())
}

// The middle of a deep sleep of a machine: its clock stands still for an hour.
func TestSleepOfAnHourIsAStep(t *testing.T) {
	w := newWorld(11)
	w.stepAtNs, w.stepNs = w.beganNs+5*second, int64(time.Hour)
	var found []skew.Step
	w.run(t, 10*second, func(step *skew.Step, _ skew.Exchange) {
		if step != nil {
			found = append(found, *step)
		}
	})
	if len(found) != 1 || found[0].SizeNs < w.stepNs-second || found[0].SizeNs > w.stepNs+second {
		t.Fatalf("%v", found)
	}
	if wrong, s := math.Abs(w.wrong()), w.clock.State(); wrong > float64(s.BoundNs) {
		t.Errorf("wrong by %.0f: %+v", wrong, s)
	}
}
