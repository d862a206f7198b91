package skew_test

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/skew"
)

// The estimator's answer is that of trying every pair of constraints: convex hulls and
// Newton's method lose nothing.
func TestEstimateIsThatOfAllPairs(t *testing.T) {
	for seed := range uint64(30) {
		w := newWorld(seed)
		var e skew.Estimator
		var all []skew.Exchange
		for range 150 {
			w.own.now += 100_000_000
			x, ok := w.exchange()
			if !ok {
				continue
			}
			all = append(all, x)
			if step, err := e.Add(x); step != nil || err != nil {
				t.Fatal(step, err)
			}
		}
		at := w.own.now + w.Int64N(5*second)
		line, known := e.At(at)
		least, most := pairs(all, at)
		if !known || math.Abs(float64(line.OffsetNs-line.BoundNs)-least) > 4 ||
			math.Abs(float64(line.OffsetNs+line.BoundNs)-most) > 4 {
			t.Errorf("seed %d: %+v, but all pairs allow %.0f to %.0f", seed, line, least, most)
		}
	}
}

// pairs returns the range of the offsets that all exchanges allow, by the definition: the
// drift is at least and at most what any two constraints demand, and the offset is what the
// constraints allow at these drifts.
func pairs(all []skew.Exchange, at int64) (least, most float64) {
	allowed := func(age float64) float64 {
		return skew.JumpPPM/1e6*age + skew.WanderPPMPerSecond/1e15*age*age/2
	}
	lowest, highest := -skew.MaxDriftPPM/1e6, skew.MaxDriftPPM/1e6
	for _, a := range all {
		for _, b := range all {
			x, y := float64(at-a.SentNs), float64(at-b.ReturnedNs)
			gap := float64((b.AnsweredNs-b.ReturnedNs)-(a.ReceivedNs-a.SentNs)) - 2 -
				allowed(x) - allowed(y)
			if x > y {
				lowest = max(lowest, gap/(x-y))
			} else if x < y {
				highest = min(highest, gap/(x-y))
			}
		}
	}
	least, most = math.Inf(-1), math.Inf(1)
	for _, x := range all {
		age := float64(at - x.SentNs)
		most = min(most, float64(x.ReceivedNs-x.SentNs)+1+highest*age+allowed(age))
		age = float64(at - x.ReturnedNs)
		least = max(least, float64(x.AnsweredNs-x.ReturnedNs)-1+lowest*age-allowed(age))
	}
	return least, most
}

// Times before the last exchange are answered too: what the drift may be widens the bound.
func TestEstimateOfThePast(t *testing.T) {
	w := newWorld(9)
	var e skew.Estimator
	for range 100 {
		w.own.now += 100_000_000
		if x, ok := w.exchange(); ok {
			if _, err := e.Add(x); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 100 {
		at := w.own.now - w.Int64N(10*second)
		line, known := e.At(at)
		if far := math.Abs(float64(line.OffsetNs) - w.truth(at)); !known ||
			far > float64(line.BoundNs) {
			t.Errorf("%d ns before now: wrong by %.0f, %+v", w.own.now-at, far, line)
		}
	}
}

func TestExchangesThatCannotBeTrueAreRejected(t *testing.T) {
	good := skew.Exchange{SentNs: 1000, ReceivedNs: 500, AnsweredNs: 600, ReturnedNs: 2000}
	for name, change := range map[string]func(*skew.Exchange){
		"a negative round trip": func(x *skew.Exchange) { x.AnsweredNs += 5000 },
		"backwards":             func(x *skew.Exchange) { x.ReturnedNs = 999 },
		"answered first":        func(x *skew.Exchange) { x.AnsweredNs = 499 },
		"a day long":            func(x *skew.Exchange) { x.ReturnedNs += int64(24 * time.Hour) },
		"no time":               func(x *skew.Exchange) { x.ReceivedNs = math.MinInt64 },
		"a century":             func(x *skew.Exchange) { x.ReturnedNs = math.MaxInt64 },
		"offset of a century": func(x *skew.Exchange) {
			x.ReceivedNs, x.AnsweredNs, x.SentNs, x.ReturnedNs = 1<<61, 1<<61, -100, 100
		},
	} {
		var e skew.Estimator
		x := good
		change(&x)
		if step, err := e.Add(x); err == nil || step != nil {
			t.Errorf("%s: %v, %v", name, step, err)
		}
		if _, known := e.At(3000); known {
			t.Errorf("%s: something is known", name)
		}
	}
	var e skew.Estimator
	for i, x := range []skew.Exchange{good, good} {
		if _, err := e.Add(x); (err != nil) != (i == 1) {
			t.Errorf("exchange %d: %v", i, err)
		}
	}
	if _, known := e.At(math.MaxInt64); known {
		t.Error("the end of time is known")
	}
}

// Exchanges at a thousand a second, for hours, cost no more memory.
func TestMemoryIsBounded(t *testing.T) {
	var e skew.Estimator
	at := int64(0)
	add := func() {
		at += 1_000_000
		x := skew.Exchange{SentNs: at, ReceivedNs: at, AnsweredNs: at, ReturnedNs: at + 1000}
		if step, err := e.Add(x); step != nil || err != nil {
			t.Fatal(step, err)
		}
	}
	for range 3000 {
		add()
	}
	if n := testing.AllocsPerRun(100, add); n != 0 {
		t.Errorf("%v allocations an exchange", n)
	}
}

func FuzzExchanges(f *testing.F) {
	times := func(ns ...int64) (b []byte) {
		for _, t := range ns {
			b = binary.LittleEndian.AppendUint64(b, uint64(t))
		}
		return b
	}
	f.Add(times(0, 0, 0, 0))
	f.Add(times(1, 5, 6, 9, 100, 110, 111, 120, 200, 1<<50, 1<<50, 210))
	f.Add(times(math.MinInt64, math.MaxInt64, -1, 1, 1<<61, 1<<61, 1<<61, 1<<61))
	f.Add(times(1, -1<<60, -1<<60, 2, 3, 1<<60, 1<<60, 4, 5, 0, 0, 6))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e skew.Estimator
		own := &manual{now: math.MinInt64 / 4}
		c := skew.New(own)
		last := c.Now()
		for ; len(raw) >= 32; raw = raw[32:] {
			at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(raw[8*i:])) }
			x := skew.Exchange{
				SentNs: at(0), ReceivedNs: at(1), AnsweredNs: at(2), ReturnedNs: at(3),
			}
			_, err := e.Add(x)
			for _, ns := range []int64{x.ReturnedNs, at(0), math.MaxInt64, math.MinInt64, 0} {
				sane(t, &e, ns)
			}
			if x.ReturnedNs > own.now && x.ReturnedNs <= 1<<61 {
				own.now = x.ReturnedNs
			}
			if _, other := c.Add(x); (err == nil) != (other == nil) {
				t.Fatalf("%+v: %v, but the clock: %v", x, err, other)
			}
			if c.State().Exchanges == 1 && c.Jump() == nil {
				last = c.Now()
			}
			if now := c.Now(); now < last {
				t.Fatalf("%+v: the clock went back from %d to %d", x, last, now)
			} else {
				last = now
			}
			s := c.State()
			if s.BoundNs < 0 || math.IsNaN(s.DriftPPM) {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// sane checks that a line has bounds that mean something.
func sane(t *testing.T, e *skew.Estimator, at int64) {
	t.Helper()
	line, known := e.At(at)
	if !known {
		return
	}
	if line.BoundNs < 1 || !(math.Abs(line.DriftPPM) <= skew.MaxDriftPPM) ||
		!(line.DriftBoundPPM >= 0) {
		t.Fatalf("at %d: %+v", at, line)
	}
}
