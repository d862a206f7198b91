package load

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/workload"
)

func drawLoad(t *rapid.T) (workload.Load, time.Duration) {
	l := workload.Load{Arrivals: rapid.SampledFrom(
		[]workload.Arrivals{workload.ArrivalsConstant, workload.ArrivalsPoisson}).Draw(
		t, "arrivals"), Burst: rapid.IntRange(0, 4).Draw(t, "burst")}
	for range rapid.IntRange(1, 4).Draw(t, "segments") {
		l.Segments = append(l.Segments, workload.Segment{
			From: drawRate(t, "from"), To: drawRate(t, "to"),
			For: time.Duration(rapid.Int64Range(1e6, 1e9).Draw(t, "for")),
		})
	}
	return l, time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "warmup"))
}

// drawRate draws a rate, which is often 0.
func drawRate(t *rapid.T, name string) float64 {
	if rapid.IntRange(0, 2).Draw(t, name+" is none") == 0 {
		return 0
	}
	return rapid.Float64Range(1, 5000).Draw(t, name)
}

func walk(c *Cursor) (seqs, dues []int64) {
	for seq, due, ok := c.Next(); ok; seq, due, ok = c.Next() {
		seqs, dues = append(seqs, seq), append(dues, due)
	}
	return seqs, dues
}

// Any division of the work must add up to the same schedule.
func TestAnySplitIsTheSameSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, warmup := drawLoad(t)
		s := NewSchedule(l, warmup, rapid.Uint64().Draw(t, "seed"))
		_, whole := walk(s.Cursor(0, 1))
		n := rapid.Int64Range(1, 9).Draw(t, "split")
		got := 0
		for first := range n {
			seqs, dues := walk(s.Cursor(first, n))
			for i := range seqs {
				if want := first + int64(i)*n; seqs[i] != want {
					t.Fatalf("walk %d of %d visits %d, want %d", first, n, seqs[i], want)
				}
				if dues[i] != whole[seqs[i]] {
					t.Fatalf("message %d is due at %d in a split of %d, at %d in the whole",
						seqs[i], dues[i], n, whole[seqs[i]])
				}
			}
			got += len(seqs)
		}
		if got != len(whole) {
			t.Fatalf("a split of %d has %d messages, the whole %d", n, got, len(whole))
		}
	})
}

func TestDueTimesRiseAndStayInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, warmup := drawLoad(t)
		s := NewSchedule(l, warmup, rapid.Uint64().Draw(t, "seed"))
		_, dues := walk(s.Cursor(0, 1))
		for i, due := range dues {
			if due < 0 || due >= s.EndNs() {
				t.Fatalf("message %d is due at %d of %d ns", i, due, s.EndNs())
			}
			if i > 0 && due < dues[i-1] {
				t.Fatalf("message %d is due at %d, the one before at %d", i, due, dues[i-1])
			}
		}
	})
}

// A burst is due as one, when the curve has brought all messages before it; bursts are spaced like
// single messages at the burst's share of the rate.
func TestBurstsAreDueAsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, warmup := drawLoad(t)
		l.Burst = rapid.IntRange(2, 50).Draw(t, "burst")
		seed := rapid.Uint64().Draw(t, "seed")
		_, dues := walk(NewSchedule(l, warmup, seed).Cursor(0, 1))
		single := l
		single.Burst, single.Segments = 1, nil
		for _, s := range l.Segments {
			s.From, s.To = s.From/float64(l.Burst), s.To/float64(l.Burst)
			single.Segments = append(single.Segments, s)
		}
		_, bursts := walk(NewSchedule(single, warmup, seed).Cursor(0, 1))
		if len(dues)%l.Burst != 0 || math.Abs(float64(len(dues)/l.Burst-len(bursts))) > 1 {
			t.Fatalf("%d messages, %d bursts of %d", len(dues), len(bursts), l.Burst)
		}
		for i, due := range dues {
			if of := i / l.Burst; of < len(bursts) && max(due-bursts[of], bursts[of]-due) > 2 {
				t.Fatalf("message %d is due at %d, burst %d at %d", i, due, of, bursts[of])
			}
		}
	})
}

// The curve's integral is the number of messages, at every moment.
func TestConstantArrivalsFollowTheCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, _ := drawLoad(t)
		l.Arrivals, l.Burst = workload.ArrivalsConstant, 1
		_, dues := walk(NewSchedule(l, 0, 1).Cursor(0, 1))
		for i, due := range dues {
			if n := integral(l, float64(due)); math.Abs(n-float64(i)) > 1e-4+float64(i)*1e-9 {
				t.Fatalf("message %d is due when the curve has brought %v", i, n)
			}
		}
		if want := integral(l, math.Inf(1)); math.Abs(float64(len(dues))-want) > 1 {
			t.Fatalf("%d messages, the curve brings %v", len(dues), want)
		}
	})
}

// integral computes, slowly, the number of messages that a curve produces in ns.
func integral(l workload.Load, ns float64) float64 {
	n := 0.0
	for _, s := range l.Segments {
		t := min(ns, float64(s.For))
		n += (s.From + (s.To-s.From)*t/float64(s.For)/2) * t / 1e9
		if ns -= t; ns <= 0 {
			break
		}
	}
	return n
}

// No message is due within a stretch at 0/s: the last one before it is due by its start, and the
// next one at its end or later.
func TestNothingIsDueAtNoRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, warmup := drawLoad(t)
		s := NewSchedule(l, warmup, rapid.Uint64().Draw(t, "seed"))
		_, dues := walk(s.Cursor(0, 1))
		at := int64(warmup)
		if l.Segments[0].From == 0 && len(dues) > 0 && dues[0] < at {
			t.Fatalf("a message is due at %d, in a warm-up at 0/s", dues[0])
		}
		for _, seg := range l.Segments {
			end := at + int64(seg.For)
			for _, due := range dues {
				if seg.From == 0 && seg.To == 0 && due >= at && due < end {
					t.Fatalf("a message is due at %d, in a pause from %d to %d", due, at, end)
				}
			}
			at = end
		}
	})
}

// A stretch at 0/s shifts what follows and changes nothing else.
func TestAPauseShiftsTheRest(t *testing.T) {
	step := func(rate float64) workload.Segment {
		return workload.Segment{From: rate, To: rate, For: time.Second}
	}
	for _, rates := range [][2]float64{{1000, 1000}, {333, 7}, {3, 1e5}, {0.1, 10}} {
		l := workload.Load{Arrivals: workload.ArrivalsConstant,
			Segments: []workload.Segment{step(rates[0]), step(0), step(rates[1]), step(0)}}
		_, got := walk(NewSchedule(l, 0, 1).Cursor(0, 1))
		l.Segments = []workload.Segment{step(rates[0]), step(rates[1])}
		_, want := walk(NewSchedule(l, 0, 1).Cursor(0, 1))
		if len(got) != len(want) {
			t.Fatalf("%v: %d messages with pauses, %d without", rates, len(got), len(want))
		}
		for i, due := range want {
			if due >= 1e9 {
				due += 1e9
			}
			if got[i] != due {
				t.Fatalf("%v: message %d is due at %d, want %d", rates, i, got[i], due)
			}
		}
	}
}

func TestPoissonGapsAreExponential(t *testing.T) {
	const rate, n = 10_000.0, 200_000
	l := workload.Load{Arrivals: workload.ArrivalsPoisson,
		Segments: []workload.Segment{{From: rate, To: rate, For: n / 10_000 * time.Second}}}
	_, dues := walk(NewSchedule(l, 0, 7).Cursor(0, 1))
	mean, beyond := 0.0, 0
	for i := 1; i < len(dues); i++ {
		gap := float64(dues[i] - dues[i-1])
		mean += gap / float64(len(dues)-1)
		if gap > 3e9/rate {
			beyond++
		}
	}
	if math.Abs(mean*rate/1e9-1) > 0.01 {
		t.Errorf("mean gap is %v ns, want %v", mean, 1e9/rate)
	}
	if share := float64(beyond) / float64(len(dues)); math.Abs(share-math.Exp(-3)) > 0.002 {
		t.Errorf("%v of the gaps are beyond three means, want %v", share, math.Exp(-3))
	}
}

func TestWarmupRunsAtTheOpeningRate(t *testing.T) {
	l := workload.Load{Arrivals: workload.ArrivalsConstant,
		Segments: []workload.Segment{{From: 100, To: 300, For: time.Second}}}
	s := NewSchedule(l, 2*time.Second, 1)
	seqs, dues := walk(s.Cursor(0, 1))
	if len(seqs) != 400 {
		t.Errorf("%d messages, want 2 s x 100 + 1 s x 200", len(seqs))
	}
	if dues[199] >= s.WarmupNs() || dues[200] != s.WarmupNs() {
		t.Errorf("messages 199 and 200 are due at %d and %d, the window begins at %d", dues[199],
			dues[200], s.WarmupNs())
	}
}

// Usual rates and lengths give whole numbers of messages, each at a whole number of nanoseconds if
// there is one.
func TestRoundRatesAreExact(t *testing.T) {
	for _, rate := range []float64{1, 3, 7, 1000, 10_000, 30_000, 100_000, 123_456} {
		l := workload.Load{Arrivals: workload.ArrivalsConstant,
			Segments: []workload.Segment{{From: rate, To: rate, For: 5 * time.Second}}}
		s := NewSchedule(l, 3*time.Second, 1)
		_, dues := walk(s.Cursor(0, 1))
		if want := int(8 * rate); len(dues) != want {
			t.Errorf("%v/s for 8 s is %d messages", rate, len(dues))
			continue
		}
		if first := dues[int(3*rate)]; first != s.WarmupNs() {
			t.Errorf("%v/s: the window begins at %d, its first message is due at %d", rate,
				s.WarmupNs(), first)
		}
		for i, due := range dues {
			if off := float64(due) - float64(i)/rate*1e9; math.Abs(off) > 1 {
				t.Fatalf("%v/s: message %d is due %v ns off", rate, i, off)
			}
		}
	}
}

// DueBy agrees with a walk over every message, on any curve.
func TestDueByIsAWalk(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := func(name string) float64 { return drawRate(t, name) }
		w := workload.Workload{Topics: 1, Producers: 1, Duration: 2 * time.Second,
			Warmup: time.Duration(rapid.IntRange(0, 1500).Draw(t, "warm-up")) * time.Millisecond,
			Load: workload.Load{Arrivals: workload.ArrivalsConstant, Segments: []workload.Segment{
				{From: rate("a"), To: rate("b"), For: time.Second},
				{From: rate("c"), To: rate("d"), For: time.Second},
			}}}
		const startNs = 1000
		course := NewCourse(&Plan{Workload: w}, startNs, 0)
		s := NewSchedule(w.Load, w.Warmup, 0)
		for untilNs := int64(0); untilNs < s.EndNs()+1e9; {
			untilNs += rapid.Int64Range(0, 2e9).Draw(t, "step")
			var want [2]int64
			walk := s.Cursor(0, 1)
			for _, due, more := walk.Next(); more && due < untilNs; _, due, more = walk.Next() {
				want[phaseOf(due, s)]++
			}
			if got := course.DueBy(startNs + untilNs); got != want {
				t.Fatalf("%v due by %d, and a walk counts %v", got, untilNs, want)
			}
		}
	})
}
