package load

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// settleAheadNs is the least time between now and a decided end of a warm-up or a schedule, so
// that no pacer has drawn a message due after it.
const settleAheadNs = 1_000_000_000

// Course is the only owner of a run's window. The windows that its methods return are sent to every
// worker (Start, Cut), and each worker derives the same schedule from it. It is used by one
// goroutine.
type Course struct {
	workload *workload.Workload
	window   Window
	lateNs   int64 // how long after its end late messages are handed over
	schedule *Schedule
	counted  *Cursor // walks the schedule for DueBy
	due      dueCount
	every    int64 // messages among which each producer has one
}

// dueCount counts the messages of a schedule up to a time.
type dueCount struct {
	byPhase [2]int64
	nextNs  int64
	more    bool
}

func (d *dueCount) advance(c *Cursor) { _, d.nextNs, d.more = c.Next() }

// NewCourse returns the course of a plan whose load begins at a time. Late messages are handed over
// for a while after its end.
func NewCourse(p *Plan, startNs int64, late time.Duration) *Course {
	w := &p.Workload
	c := &Course{
		workload: w, lateNs: int64(late), every: everyProducer(w),
		schedule: scheduleOf(w, w.Warmup),
	}
	c.window = Window{
		StartNs: startNs, MeasureNs: startNs + c.schedule.warmupNs,
		EndNs: startNs + c.schedule.endNs, HaltNs: startNs + c.schedule.endNs + c.lateNs,
	}
	c.counted = c.schedule.Cursor(0, 1)
	c.due.advance(c.counted)
	return c
}

// Window returns the current window.
func (c *Course) Window() Window { return c.window }

// Read returns the window that makes workers open the consumers that read later.
func (c *Course) Read() Window {
	c.window.Read = true
	return c.window
}

// DueBy returns the number of messages of the schedule due before a time, by phase. Times must not
// decrease. A closed loop has no schedule: 0.
func (c *Course) DueBy(ns int64) [2]int64 {
	for untilNs := ns - c.window.StartNs; c.due.more && c.due.nextNs < untilNs; {
		phase, endNs := phaseOf(c.due.nextNs, c.schedule), untilNs
		if phase == measure.Warmup {
			endNs = min(endNs, c.schedule.warmupNs)
		}
		c.due.byPhase[phase] += 1 + c.counted.leap(endNs)
		c.due.advance(c.counted)
	}
	return c.due.byPhase
}

// Settle ends the warm-up early: at the first whole second of the schedule for which no producer
// has drawn a message yet. ok is false, and nothing changes, if the warm-up ends before that
// anyway.
//
// Messages due before that keep their due times. The rest of the schedule is a pure function, as
// always: of seed, curve, sequence number and the length of the warm-up, which the result states.
// Settle is called at most once.
func (c *Course) Settle(nowNs int64) (w Window, ok bool) {
	const second = 1_000_000_000
	warmupNs := (c.undrawn(nowNs) + second - 1) / second * second
	if warmupNs >= c.schedule.warmupNs {
		return c.window, false
	}
	c.window.MeasureNs = c.window.StartNs + warmupNs
	c.window.EndNs -= c.schedule.warmupNs - warmupNs
	c.window.HaltNs = c.window.EndNs + c.lateNs
	c.follow()
	return c.window, true
}

// EndAt ends the schedule at a time or, when producers have drawn messages that are due later, at
// the first moment after all of those. ok is false, and nothing changes, if the schedule ends
// before that anyway.
func (c *Course) EndAt(nowNs, atNs int64) (w Window, ok bool) {
	endNs := c.window.StartNs + max(c.undrawn(nowNs), atNs-c.window.StartNs)
	if endNs >= c.window.EndNs {
		return c.window, false
	}
	c.window.EndNs, c.window.HaltNs = endNs, endNs+c.lateNs
	c.follow()
	return c.window, true
}

// Silence ends the schedule at the first moment after every message that a producer has drawn. The
// window goes on.
func (c *Course) Silence(nowNs int64) Window {
	c.window.LoadNs = c.undrawn(nowNs)
	c.follow()
	return c.window
}

// Stop stops all hand-overs, and ends the schedule now if it has not ended.
func (c *Course) Stop(nowNs int64) Window {
	c.window.EndNs = min(c.window.EndNs, max(nowNs, c.window.StartNs))
	c.window.HaltNs = nowNs
	c.follow()
	return c.window
}

func (c *Course) follow() {
	c.schedule = scheduleIn(c.workload, c.window)
	c.counted.follow(c.schedule)
}

// undrawn returns a time of the schedule beyond every message that a producer has drawn so far.
func (c *Course) undrawn(nowNs int64) int64 {
	c.DueBy(nowNs)
	// Each producer draws one message ahead of the one that it waits for, so none has drawn more
	// than two rounds; a separate cursor looks that far.
	ahead := nowNs + settleAheadNs - c.window.StartNs
	if c.due.more {
		ahead = max(ahead, c.due.nextNs+1) // drawn from counted already
	}
	look := *c.counted
	for range 2 * c.every {
		_, dueNs, more := look.Next()
		if !more {
			break
		}
		ahead = max(ahead, dueNs+1)
	}
	return ahead
}

// scheduleOf returns the schedule of a workload with a warm-up of a length. The schedule of a
// closed loop has a beginning and an end, but no due times.
func scheduleOf(w *workload.Workload, warmup time.Duration) *Schedule {
	if w.Load.Closed != nil {
		return &Schedule{warmupNs: int64(warmup), endNs: int64(warmup + w.Duration)}
	}
	return NewSchedule(w.Load, warmup, w.Seed)
}

// scheduleIn returns the schedule of a workload in a window: a pure function, so that a
// run and all its workers agree.
func scheduleIn(w *workload.Workload, in Window) *Schedule {
	s := scheduleOf(w, time.Duration(in.MeasureNs-in.StartNs))
	s.endNs = min(s.endNs, in.LoadEndNs()-in.StartNs)
	return s
}
