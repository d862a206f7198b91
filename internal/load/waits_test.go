package load

import (
	"fmt"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

const ms = 1_000_000

// sleeper is a thread whose sleep is set by the test.
type sleeper struct {
	asleepNs int64
	unknown  bool
}

func (s *sleeper) Asleep() (int64, bool) { return s.asleepNs, !s.unknown }

// A wait of 50 ms in Send excuses the messages that became due in it; 50 ms on a core, or waiting
// for one, excuse none.
func TestOwnLagCountsFromTheEndOfTheLastWait(t *testing.T) {
	for _, c := range []struct {
		name                   string
		asleepNs, wantWaited   int64
		unknown                bool
		took                   int64
		wantBefore, wantWithin int64 // own lag of messages due 1 ms before and 10 ms into the Send
	}{
		{name: "asleep", took: 50 * ms, asleepNs: 50 * ms, wantWaited: 50 * ms, wantBefore: 1 * ms,
			wantWithin: 0},
		{name: "on a core", took: 50 * ms, asleepNs: 0, wantWaited: 0, wantBefore: 51 * ms,
			wantWithin: 40 * ms},
		{name: "mostly on a core", took: 50 * ms, asleepNs: 10 * ms, wantWaited: 10 * ms,
			wantBefore: 51 * ms, wantWithin: 40 * ms},
		{name: "mostly asleep", took: 50 * ms, asleepNs: 40 * ms, wantWaited: 40 * ms,
			wantBefore: 11 * ms, wantWithin: 10 * ms},
		{name: "not known", took: 50 * ms, unknown: true, wantWaited: 50 * ms, wantBefore: 1 * ms,
			wantWithin: 0},
		{name: "not known and short", took: ms / 2, unknown: true, wantWaited: 0,
			wantBefore: 3 * ms / 2, wantWithin: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			const sendNs = 100 * ms
			thread := sleeper{asleepNs: c.asleepNs, unknown: c.unknown}
			w := waits{asleep: thread.Asleep}
			now := sendNs + c.took
			if got := w.sent(c.took, now); got != c.wantWaited {
				t.Errorf("%d ns were the system's, want %d", got, c.wantWaited)
			}
			if got := w.own(sendNs-ms, now); got != c.wantBefore {
				t.Errorf("due before: own lag %d ns, want %d", got, c.wantBefore)
			}
			if got := w.own(min(sendNs+10*ms, now), now); got != c.wantWithin {
				t.Errorf("due within: own lag %d ns, want %d", got, c.wantWithin)
			}
		})
	}
}

// A pacer that cannot keep up is not excused by the short waits between its sends.
func TestShortWaitsDoNotExcuseAnOverloadedPacer(t *testing.T) {
	s := &sleeper{}
	w := waits{asleep: s.Asleep}
	now := int64(0)
	for range 1000 {
		now += 900_000 // on a core
		s.asleepNs += 100_000
		now += 100_000
		w.sent(100_000, now)
	}
	// Messages are due at twice the rate of the hand-over.
	if own, want := w.own(now/2, now), now/2-now/10; own != want {
		t.Errorf("own lag is %d ns, want %d: the lag less the time asleep", own, want)
	}
	w.onTime(now)
	if own := w.own(now-ms/2, now); own != ms/2 {
		t.Errorf("own lag is %d ns after it was on time again", own)
	}
}

// The wait for an idle message is the system's until the answer, and plimsoll's from then on.
func TestAWaitForAnAnswerEndsWithTheAnswer(t *testing.T) {
	const began = int64(100 * ms)
	for _, c := range []struct {
		name                string
		answeredNs, wokeNs  int64
		wantWaited, wantOwn int64 // own: of a message that was due when the wait began
	}{
		{"woken at once", began + 50*ms, began + 50*ms, 50 * ms, 0},
		{"woken late", began + 50*ms, began + 70*ms, 50 * ms, 20 * ms},
	} {
		var w waits
		w.idled(c.answeredNs-began, c.answeredNs)
		if w.sinceNs != c.wantWaited {
			t.Errorf("%s: waited %d ns, want %d", c.name, w.sinceNs, c.wantWaited)
		}
		if own := w.own(began, c.wokeNs); own != c.wantOwn {
			t.Errorf("%s: own lag %d ns, want %d", c.name, own, c.wantOwn)
		}
	}
}

// A system that answers inside Send is offered far more than plimsoll can hand over: the lag is
// plimsoll's own, whatever delayed its thread. A thread that waits for Go's own scheduler looks
// asleep, so a machine that is full of other work may need several tries.
func TestAnOverloadedPacerAccusesItself(t *testing.T) {
	const tries = 5
	for try := 1; ; try++ {
		excused := overloaded(t)
		if excused == "" {
			return
		}
		if try == tries {
			t.Fatal(excused)
		}
	}
}

// overloaded offers a load that no pacer can hand over. It returns the percentile of the lag that
// was not plimsoll's own; empty: none.
func overloaded(t *testing.T) (excused string) {
	w := benchWorkload(20e6, 20*time.Millisecond, 1)
	e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Precise(), nil)
	if err := e.Open(t.Context(), null{}); err != nil {
		t.Fatal(err)
	}
	begin(e, clock.Now())
	<-e.Sent()
	closeEngine(t, e)
	cells := measure.NewCells(result.Lag, result.OwnLag)
	cells.Add(e.Collect())
	lag, own := cells.Of(result.Lag, measure.Measured).Histogram, cells.Of(result.OwnLag,
		measure.Measured).Histogram
	for _, p := range []float64{50, 99} {
		if l, o := lag.ValueAtPercentile(p), own.ValueAtPercentile(p); o < l*8/10 || l < ms {
			excused = fmt.Sprintf("p%v: own lag %d ns of a schedule lag of %d", p, o, l)
		}
	}
	return excused
}
