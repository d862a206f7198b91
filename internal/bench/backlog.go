package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// By what rule readers have caught up, or never will.
const (
	// backlogLook is the time between two looks at how far they are.
	backlogLook = 20 * time.Millisecond
	// underWay is how old an acknowledgement may be whose message has not arrived,
	// as is always so with some.
	underWay = 100 * time.Millisecond
	// neverSpan is how long the backlog may go without shrinking.
	neverSpan = 30 * time.Second
	// openReadersLimit bounds the opening of the readers.
	openReadersLimit = 2 * time.Minute
)

var backlogRule = fmt.Sprintf("the readers have caught up when they have received as many distinct messages as had been acknowledged %v before; they never do when what they have not received does not shrink over %v (the slope of a straight line through it), or within the limit",
	underWay, neverSpan)

// catchUp follows a backlog: it is built, read, and read up. It is used by the
// meter's goroutine.
type catchUp struct {
	*meter
	plan   *workload.Backlog
	subs   int64 // that read it
	wanted int64 // messages; 0: For says when

	to   *result.Backlog
	next result.BacklogEnd // what the last look saw; empty: nothing new
	over bool              // nobody is waited for any more

	acked               []sample // of the last moments, the oldest first
	left                []sample // unread messages at the ends of intervals since the first was read
	read                int64    // as the last look saw
	ackedThen, ackedNow int64    // acknowledged when reading began, and by the end of the last interval of the window

	stretch   int // now
	stretches [3]stretchCells
}

// sample is a count at a time of the clock.
type sample struct{ ns, n int64 }

// stretchCells is what was recorded in a stretch.
type stretchCells struct {
	startNs, endNs int64 // since the run began; 0: there was none
	acked          int64
	cells          *measure.Cells
}

var stretchNames = [3]result.StretchName{result.Before, result.During, result.After}

// newCatchUp returns nil where the workload has no backlog.
func newCatchUp(m *meter) *catchUp {
	w := m.job.Workload
	if w.Backlog == nil {
		return nil
	}
	c := &catchUp{meter: m, plan: w.Backlog, subs: int64(w.Subscriptions), to: &result.Backlog{
		Then: string(w.Backlog.Then), End: result.BacklogBuilding, Rule: backlogRule, Stretches: []result.Stretch{},
	}}
	if c.replays() {
		c.subs = 1
	}
	if w.Backlog.For == 0 {
		c.wanted = w.BacklogMessages()
	}
	for i := range c.stretches {
		c.stretches[i].cells = measure.NewCells(result.Publish, result.EndToEnd)
	}
	m.run.Backlog = c.to
	return c
}

// await waits until a time of the clock, and looks after the backlog meanwhile.
// cut says that something came of it, so that an interval ends here.
func (m *meter) await(ctx context.Context, phase result.PhaseName, untilNs int64) (cut bool, err error) {
	c := m.backlog
	if c == nil || phase != result.PhaseMeasure {
		return false, m.sleep(ctx, untilNs)
	}
	for now := m.job.Clock.Now(); now < untilNs && ctx.Err() == nil; now = m.job.Clock.Now() {
		if c.next = c.look(now); c.next != "" {
			return true, nil
		}
		if err := m.sleep(ctx, min(untilNs, now+int64(backlogLook))); err != nil {
			return false, err
		}
	}
	return false, nil
}

// look says what has come of the backlog by now; empty: nothing new.
func (c *catchUp) look(now int64) result.BacklogEnd {
	if c.over {
		return ""
	}
	r := c.engine.Reading()
	if c.to.BuiltNs == 0 {
		late := c.measureNs.Load() + int64(float64(c.job.Workload.BacklogBuild())*workload.SlowBuild)
		switch {
		case c.wanted > 0 && r.Acked >= c.wanted, c.wanted == 0 && now >= c.measureNs.Load()+int64(c.plan.For):
			return result.BacklogReading
		case now >= late:
			return result.BacklogNotBuilt
		}
		return ""
	}
	c.read = r.Read
	if r.FirstNs != 0 {
		c.to.FirstNs = r.FirstNs - c.beganNs
	}
	switch {
	case c.caughtUp(now, r):
		return result.BacklogCaughtUp
	case now-c.beganNs-c.to.BuiltNs >= int64(c.plan.Limit):
		return result.BacklogTooLong
	case c.never(now):
		return result.BacklogNever
	}
	return ""
}

// caughtUp reports whether the readers have received all that was acknowledged
// a moment ago.
func (c *catchUp) caughtUp(now int64, r load.Reading) bool {
	c.acked = append(c.acked, sample{now, r.Acked})
	for len(c.acked) > 1 && c.acked[1].ns <= now-int64(underWay) {
		c.acked = c.acked[1:]
	}
	was := c.acked[0]
	return was.ns <= now-int64(underWay) && r.FirstNs != 0 && r.Read >= was.n*c.subs
}

// never reports whether the backlog has not shrunk over the span.
func (c *catchUp) never(now int64) bool {
	if c.to.FirstNs == 0 {
		return now-c.beganNs-c.to.BuiltNs >= int64(openReadersLimit+neverSpan)
	}
	return len(c.left) > 1 && now-c.left[0].ns >= int64(neverSpan) && slopeOf(c.left) >= 0
}

// slopeOf is the slope of the straight line through samples, by least squares.
func slopeOf(all []sample) float64 {
	var x, y []float64
	for _, s := range all {
		x, y = append(x, float64(s.ns-all[0].ns)), append(y, float64(s.n))
	}
	return stats.LeastSquares(x, y)
}

// add takes what an interval of the window recorded into its stretch.
func (c *catchUp) add(phase result.PhaseName, i result.Interval, cells *measure.Cells) {
	if c == nil || phase != result.PhaseMeasure {
		return
	}
	s := &c.stretches[c.stretch]
	if s.endNs == 0 {
		s.startNs = i.StartNs
	}
	s.endNs = i.EndNs
	s.acked += i.Acked
	c.ackedNow = sum(c.last.Acked)
	s.cells.Merge(cells)
	if c.to.FirstNs != 0 && !c.over {
		c.left = append(c.left, sample{i.EndNs + c.beganNs, sum(c.last.Acked)*c.subs - c.read})
		for len(c.left) > 1 && c.left[1].ns <= c.left[len(c.left)-1].ns-int64(neverSpan) {
			c.left = c.left[1:]
		}
	}
}

// step does what the last look saw to be due, at an interval's end.
func (c *catchUp) step() error {
	if c == nil || c.next == "" {
		return nil
	}
	now := c.lastNs
	c.to.End, c.next = c.next, ""
	acked := sum(c.last.Acked)
	switch c.to.End {
	case result.BacklogReading:
		c.stretch = 1
		c.to.BuiltNs, c.ackedThen = now-c.beganNs, acked
		c.to.Messages, c.to.Bytes = acked, acked*c.job.Workload.Message.Size
		c.engine.Read(c.cluster, c.job.coldReads, openReadersLimit)
		return c.tell("%s messages (%s) wait: reading begins", quantity.Count(acked), quantity.Bytes(c.to.Bytes))
	case result.BacklogNotBuilt:
		c.end(now)
		return c.tell("the backlog was not there in time: %s messages were acknowledged", quantity.Count(acked))
	}
	c.tally()
	if c.to.End != result.BacklogCaughtUp {
		c.end(now)
		return c.tell("the readers are given up: %s messages are unread", quantity.Count(c.to.LeftMessages))
	}
	c.stretch, c.to.CaughtUpNs = 2, now-c.beganNs
	c.end(now + int64(c.plan.After))
	return c.tell("the readers have caught up")
}

// tally says what was read, and published meanwhile, until the end of the
// window's last interval.
func (c *catchUp) tally() {
	b, now, acked := c.to, c.stretches[c.stretch].endNs, c.ackedNow
	b.ReadMessages = c.read / c.subs
	b.LeftMessages = acked - b.ReadMessages
	if since := max(b.FirstNs, b.BuiltNs); now > since {
		b.ReadRate = float64(b.ReadMessages) * 1e9 / float64(now-since)
		b.ReadBytesPerS = b.ReadRate * float64(c.job.Workload.Message.Size)
		b.PublishedRate = float64(acked-c.ackedThen) * 1e9 / float64(now-b.BuiltNs)
	}
}

// end has the window end at a time of the clock, or as soon after as it can.
func (c *catchUp) end(atNs int64) {
	c.over = true
	if endNs, ok := c.engine.End(c.lastNs, atNs); ok {
		c.endNs.Store(endNs)
		c.haltAfter(endNs)
	}
	c.run.Load.WindowSeconds = time.Duration(c.endNs.Load() - c.measureNs.Load()).Seconds()
}

func (c *catchUp) tell(format string, args ...any) error {
	sentence := fmt.Sprintf(format, args...)
	c.watch.Phase(result.PhaseMeasure, sentence)
	if err := c.writer.Event(result.Event{AtNs: c.lastNs - c.beganNs, Kind: "note", Sentence: sentence}); err != nil {
		return err
	}
	return c.writer.Update(&c.run)
}

// gaveUp reports whether the readers have not caught up and will not.
func (c *catchUp) gaveUp() bool {
	return c != nil && c.to.End != result.BacklogCaughtUp
}

// replays reports whether a subscription of its own reads the backlog.
func (c *catchUp) replays() bool { return c.plan.Then == workload.BacklogReplay }

// setAside calls unread what readers that the run gave up on did not receive:
// nobody waited for it.
func (c *catchUp) setAside(accounts []result.SubscriptionLedger) {
	if c == nil || !c.gaveUp() {
		return
	}
	if c.replays() {
		accounts = accounts[len(accounts)-1:]
	}
	for i := range accounts {
		a := &accounts[i]
		a.Unread, a.Lost, a.LostRanges = a.Lost, 0, nil
	}
}

// summarize fills the stretches.
func (c *catchUp) summarize() {
	if c == nil {
		return
	}
	if c.to.End == result.BacklogReading {
		c.tally() // the run was stopped meanwhile
	}
	for i, s := range c.stretches {
		if s.endNs <= s.startNs {
			continue
		}
		out := result.Stretch{Name: stretchNames[i], StartNs: s.startNs, EndNs: s.endNs, AckedRate: float64(s.acked) * 1e9 / float64(s.endNs-s.startNs)}
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			warm, cell := s.cells.Of(series, measure.Warmup), s.cells.Of(series, measure.Measured)
			// By the time of the event, whenever the message was due.
			cell.Histogram.Merge(warm.Histogram)
			out.Latency = append(out.Latency, result.Summarize(series, cell.Histogram, cell.Clamped+warm.Clamped, cell.Negative+warm.Negative))
		}
		c.to.Stretches = append(c.to.Stretches, out)
	}
}
