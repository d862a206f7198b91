package bench

import (
	"errors"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The conditions under which readers have caught up, or never will.
const (
	// backlogLook is the interval between checks of the readers' progress.
	backlogLook = 20 * time.Millisecond
	// neverSpan is how long the backlog may go without shrinking.
	neverSpan = 30 * time.Second
)

var backlogRule = fmt.Sprintf(
	"the readers have caught up when they have received as many distinct messages as had been "+
		"acknowledged %v before; they never do when what they have not received does not shrink "+
		"over "+
		"%v (the slope of a straight line through it), or within the limit",
	load.UnderWay, neverSpan)

// backlog follows a backlog while it is built and read to its end.
type backlog struct {
	idle
	run    *run
	plan   *workload.Backlog
	subs   int64 // number of subscriptions that read it
	wanted int64 // messages; 0: For says when

	to   *result.Backlog
	next result.BacklogEnd // result of the last look; empty: nothing new
	over bool              // the run no longer waits for readers
	mute bool              // producers were told to stop
	// cooling receives the result of emptying the page cache; nil: the page cache is not being
	// emptied.
	cooling chan error

	acked load.Recent
	// unread messages at the ends of intervals since the first read
	left []sample
	read int64 // at the last look
	// acknowledged when reading began, and by the end of the last interval of the window
	ackedThen, ackedNow int64

	stretch   int // current
	stretches [3]stretchCells
}

// sample is a count at a time of the clock.
type sample struct{ ns, n int64 }

// stretchCells holds the recordings of a stretch.
type stretchCells struct {
	startNs, endNs int64 // since the run began; 0: no such stretch
	acked          int64
	cells          *measure.Cells
}

var stretchNames = [3]result.StretchName{result.Before, result.During, result.After}

func newBacklog(r *run) *backlog {
	w := r.job.Workload
	b := &backlog{run: r, plan: w.Backlog, subs: int64(w.Subscriptions), to: &result.Backlog{
		Then: string(
			w.Backlog.Then), End: result.BacklogBuilding, Rule: backlogRule,
		Stretches: []result.Stretch{},
	}}
	if b.replays() {
		b.subs = 1
	}
	if w.Backlog.For == 0 {
		b.wanted = w.BacklogMessages()
	}
	for i := range b.stretches {
		b.stretches[i].cells = measure.NewCells(result.Publish, result.EndToEnd)
	}
	r.run.Backlog = b.to
	return b
}

// look reports whether the state of the backlog has changed.
func (b *backlog) look(now int64) (cut bool, err error) {
	if b.over {
		return false, nil
	}
	if err := b.cooled(); err != nil {
		return false, err
	}
	s, err := b.run.sample(false)
	if err != nil {
		return false, err
	}
	b.next = b.state(now, &s.Counters)
	if b.next == result.BacklogReading && b.plan.Stops() && !b.mute {
		b.mute, b.next = true, ""
		return false, b.run.cut(b.run.course.Silence(now))
	}
	return b.next != "", nil
}

// state returns the outcome of the backlog so far; empty: nothing new.
func (b *backlog) state(now int64, c *load.Counters) result.BacklogEnd {
	measureNs := b.run.course.Window().MeasureNs
	if b.to.BuiltNs == 0 {
		late := measureNs + int64(float64(b.run.job.Workload.BacklogBuild())*workload.SlowBuild)
		switch {
		case b.mute && (!c.Sent || c.InFlight > 0):
			return "" // each producer's own bounds end this
		case b.wanted > 0 && sum(c.Acked) >= b.wanted,
			b.wanted == 0 && now >= measureNs+int64(b.plan.For):
			return result.BacklogReading
		case now >= late:
			return result.BacklogNotBuilt
		}
		return ""
	}
	b.read = c.Read
	if c.FirstReadNs != 0 {
		b.to.FirstNs = c.FirstReadNs - b.run.beganNs
	}
	switch {
	case b.caughtUp(now, c):
		return result.BacklogCaughtUp
	case now-b.run.beganNs-b.to.BuiltNs >= int64(b.plan.Limit):
		return result.BacklogTooLong
	case b.never(now):
		return result.BacklogNever
	}
	return ""
}

// caughtUp reports whether the readers have received as many messages as were acknowledged
// load.UnderWay ago.
func (b *backlog) caughtUp(now int64, c *load.Counters) bool {
	was, known := b.acked.Add(now, sum(c.Acked))
	return known && c.FirstReadNs != 0 && c.Read >= was*b.subs
}

// never reports whether the backlog has not shrunk over neverSpan.
func (b *backlog) never(now int64) bool {
	if b.to.FirstNs == 0 {
		return now-b.run.beganNs-b.to.BuiltNs >= int64(load.OpenReadersLimit+neverSpan)
	}
	return len(b.left) > 1 && now-b.left[0].ns >= int64(neverSpan) && slopeOf(b.left) >= 0
}

// slopeOf returns the slope of the straight line through samples, by least squares.
func slopeOf(all []sample) float64 {
	var x, y []float64
	for _, s := range all {
		x, y = append(x, float64(s.ns-all[0].ns)), append(y, float64(s.n))
	}
	return stats.LeastSquares(x, y)
}

// interval adds an interval of the window to its stretch, and acts on the result of the last look.
func (b *backlog) interval(e ended) error {
	if e.phase == result.PhaseMeasure {
		b.add(e)
	}
	if !e.going || b.next == "" {
		return nil
	}
	now, acked := b.run.readings.lastNs, sum(e.sample.Counters.Acked)
	b.to.End, b.next = b.next, ""
	switch b.to.End {
	case result.BacklogReading:
		b.stretch = 1
		b.to.BuiltNs, b.ackedThen = now-b.run.beganNs, acked
		b.to.Messages, b.to.Bytes = acked, e.sample.Counters.AckedBytes
		if err := b.beginReading(); err != nil {
			return err
		}
		return b.tell("%s messages (%s) wait: reading begins",
			quantity.Count(acked), quantity.Bytes(b.to.Bytes))
	case result.BacklogNotBuilt:
		return errors.Join(b.finish(now),
			b.tell("the backlog was not complete in time: %s messages were acknowledged",
				quantity.Count(acked)))
	}
	b.tally()
	if b.to.End != result.BacklogCaughtUp {
		return errors.Join(b.finish(now),
			b.tell("the readers did not catch up: %s messages are unread",
				quantity.Count(b.to.LeftMessages)))
	}
	b.stretch, b.to.CaughtUpNs = 2, now-b.run.beganNs
	return errors.Join(b.finish(now+int64(b.plan.After)), b.tell("the readers have caught up"))
}

// add adds an interval of the window to its stretch.
func (b *backlog) add(e ended) {
	s, i := &b.stretches[b.stretch], e.interval
	if s.endNs == 0 {
		s.startNs = i.StartNs
	}
	s.endNs = i.EndNs
	s.acked += i.Acked
	b.ackedNow = sum(e.sample.Counters.Acked)
	s.cells.Add(e.sample.Histograms)
	if b.to.FirstNs != 0 && !b.over {
		b.left = append(b.left, sample{i.EndNs + b.run.beganNs, b.ackedNow*b.subs - b.read})
		for len(b.left) > 1 && b.left[1].ns <= b.left[len(b.left)-1].ns-int64(neverSpan) {
			b.left = b.left[1:]
		}
	}
}

// beginReading opens the consumers that read the backlog, at once or, with drop_page_cache, when
// the page cache of this machine has been dropped.
func (b *backlog) beginReading() error {
	if !b.run.job.Workload.Isolate.DropPageCache {
		return b.run.cut(b.run.course.Read())
	}
	b.cooling = make(chan error, 1)
	go func(done chan<- error) { done <- b.run.job.coldReads() }(b.cooling)
	return nil
}

// cooled opens the consumers when the page cache is empty.
func (b *backlog) cooled() error {
	select {
	case err := <-b.cooling:
		b.cooling = nil
		return errors.Join(err, b.run.cut(b.run.course.Read()))
	default:
		return nil
	}
}

// tally counts the messages read, and those published meanwhile, until the end of the window's last
// interval.
func (b *backlog) tally() {
	to, now, acked := b.to, b.stretches[b.stretch].endNs, b.ackedNow
	to.ReadMessages = b.read / b.subs
	to.LeftMessages = acked - to.ReadMessages
	if since := max(to.FirstNs, to.BuiltNs); now > since {
		to.ReadRate = float64(to.ReadMessages) * 1e9 / float64(now-since)
		to.ReadBytesPerS = to.ReadRate * float64(to.Bytes) / float64(max(to.Messages, 1))
		to.PublishedRate = float64(acked-b.ackedThen) * 1e9 / float64(now-to.BuiltNs)
	}
}

// finish ends the window at a time of the clock, or as soon as possible after it.
func (b *backlog) finish(atNs int64) (err error) {
	b.over = true
	r := b.run
	if w, ok := r.course.EndAt(r.readings.lastNs, atNs); ok {
		err = r.cut(w)
	}
	w := r.course.Window()
	r.run.Load.WindowSeconds = time.Duration(w.EndNs - w.MeasureNs).Seconds()
	return err
}

func (b *backlog) tell(format string, args ...any) error {
	r, sentence := b.run, fmt.Sprintf(format, args...)
	r.watch.Phase(result.PhaseMeasure, sentence)
	event := result.Event{AtNs: r.readings.lastNs - r.beganNs, Kind: "note", Sentence: sentence}
	return errors.Join(r.writer.Event(event), r.writer.Update(&r.run))
}

// drain does not wait for readers that the run gave up on.
func (b *backlog) drain(d *draining) {
	switch {
	case !b.gaveUp():
	case b.replays():
		d.awaited = b.run.job.Workload.Subscriptions
	default:
		d.lengthNs, d.awaited = min(d.lengthNs, int64(interruptedDrain)), 0
	}
}

// gaveUp reports whether the readers have not caught up and will not.
func (b *backlog) gaveUp() bool { return b.to.End != result.BacklogCaughtUp }

// replays reports whether an additional subscription reads the backlog.
func (b *backlog) replays() bool { return b.plan.Then == workload.BacklogReplay }

// account notes that the run did not wait for readers that it gave up on, and fills the stretches.
func (b *backlog) account(of []result.SubscriptionLedger) {
	if b.gaveUp() {
		if b.replays() && len(of) > 0 {
			of = of[len(of)-1:]
		}
		for i := range of {
			of[i].AwaitedNs = 0
		}
	}
	b.summarize()
}

func (b *backlog) summarize() {
	if b.to.End == result.BacklogReading {
		b.tally() // the run was stopped meanwhile
	}
	for i, s := range b.stretches {
		if s.endNs <= s.startNs {
			continue
		}
		out := result.Stretch{Name: stretchNames[i], StartNs: s.startNs, EndNs: s.endNs,
			AckedRate: float64(s.acked) * 1e9 / float64(s.endNs-s.startNs)}
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			warm, cell := s.cells.Of(series, measure.Warmup), s.cells.Of(series, measure.Measured)
			// By the time of the event, not by the due time of the message.
			l := summarize(series, warm, cell)
			if series == result.EndToEnd {
				l = l.WithError(b.run.clocksDifferNs())
			}
			out.Latency = append(out.Latency, l)
		}
		b.to.Stretches = append(b.to.Stretches, out)
	}
}
