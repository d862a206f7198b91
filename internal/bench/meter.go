package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	intervalLength = time.Second // unless the job says otherwise
	// headStart is between the decision to start and the first message, for
	// the pacers to be in place.
	headStart = 20 * time.Millisecond
	// drainLook is the time between two looks at whether all has arrived, and
	// quiet how long nothing may happen before it is believed.
	drainLook = 20 * time.Millisecond
	quiet     = 200 * time.Millisecond
	// interruptedDrain is the longest drain of a run that was told to stop.
	interruptedDrain = 3 * time.Second
)

// meter offers the load and collects what is recorded.
type meter struct {
	*session
	watcher  *measure.Watcher
	watching chan struct{}
	self     *measure.Self

	every       int64        // an interval's length in ns
	startNs     int64        // of the schedule, on the clock
	measureNs   atomic.Int64 // of the measured window
	endNs       atomic.Int64 // of the schedule; earlier when the run is stopped
	closingNs   int64        // when closing the clients began
	settling    *settling    // nil: the warm-up lasts as long as asked
	backlog     *catchUp     // nil: readers keep up from the start
	breaker     *breaker     // nil: no faults, or not yet
	audit       audit
	judged      load.Figures // that lacks was found for, of judgedOf subscriptions
	judgedOf    int
	lacks       bool
	interrupted bool // on request, before load and drain had ended

	// recorded is every series, in the order of an interval's line; those of result.Beside
	// have a histogram and no figures there.
	recorded      []result.Series
	cells, totals *measure.Cells
	minutes       result.MinuteTally // of a closed loop
	spare         *measure.Cells     // of the watcher's series

	lastNs  int64
	last    load.Figures
	waited  time.Duration // for the writer
	lastDue [2]int64
}

func newMeter(s *session) *meter {
	recorded := append(slices.Clone(s.run.Load.Series()), result.Beside...)
	m := &meter{
		session: s, self: measure.NewSelf(), watching: make(chan struct{}), recorded: recorded,
		cells: measure.NewCells(recorded...), totals: measure.NewCells(recorded...),
		spare: measure.NewCells(result.Hiccup),
		every: int64(cmp.Or(s.job.Interval, intervalLength)),
	}
	if w := s.job.Workload; w.Settle {
		m.settling = &settling{}
		s.run.Settling = &result.Settling{MostNs: int64(w.Warmup), Rule: settleRule}
	}
	m.backlog = newCatchUp(m)
	return m
}

// offer runs the schedule to its end, or until the run is stopped.
func (m *meter) offer(ctx context.Context) error {
	c, schedule := m.job.Clock, m.engine.Schedule()
	m.startNs = c.Now() + int64(headStart)
	m.measureNs.Store(m.startNs + schedule.WarmupNs())
	m.endNs.Store(m.startNs + schedule.EndNs())
	m.lastNs = m.startNs
	m.watcher = measure.NewWatcher(c, m.engine.InFlight, m.phaseAt)
	m.lateness.begin(m.phaseAt)
	go func() {
		defer close(m.watching)
		m.watcher.Run(m.job.Workload.Seed)
	}()
	m.engine.Start(m.startNs)
	m.haltAfter(m.endNs.Load())
	if schedule.WarmupNs() > 0 {
		if err := m.stretch(ctx, result.PhaseWarmup, "load that is not measured", &m.measureNs); err != nil || m.interrupted {
			return err
		}
	}
	m.breaker = m.startFaults(ctx, m.measureNs.Load())
	return m.stretch(ctx, result.PhaseMeasure, "every message counts", &m.endNs)
}

// haltAfter bounds how long after the schedule's end messages are handed over.
func (m *meter) haltAfter(endNs int64) {
	drain := m.job.Workload.Drain
	m.engine.Halt(endNs + int64(cmp.Or(min(m.job.Late, drain), drain)))
}

func (m *meter) phaseAt(ns int64) measure.Phase {
	if ns >= m.measureNs.Load() && ns < m.endNs.Load() {
		return measure.Measured
	}
	return measure.Warmup
}

// stretch is one phase of load, an interval after another, until an end that may
// come nearer on the way.
func (m *meter) stretch(ctx context.Context, name result.PhaseName, sentence string, end *atomic.Int64) error {
	if err := m.begin(name, sentence); err != nil {
		return err
	}
	for next := m.lastNs; next < end.Load(); {
		untilNs := end.Load()
		length := m.length(next)
		next = min(next+length, untilNs)
		if untilNs-next < length/4 {
			next = untilNs
		}
		cut, err := m.await(ctx, name, next)
		if cut {
			next = m.job.Clock.Now()
		}
		if ctx.Err() != nil {
			m.stop()
			next = untilNs
		}
		if err != nil {
			m.stop()
			_ = m.interval(name)
			return err
		}
		err = m.interval(name)
		next = min(caughtUp(next, m.lastNs, length), untilNs)
		if !m.interrupted {
			err = errors.Join(err, m.settle(), m.backlog.step())
		}
		if err != nil {
			m.stop()
			return err
		}
	}
	return nil
}

// caughtUp is when a reading that was due, and came at a time of its own, ends
// on the grid of readings: one that came late stands for those that it missed.
func caughtUp(dueNs, cameNs, lengthNs int64) int64 {
	return dueNs + max(cameNs-dueNs, 0)/lengthNs*lengthNs
}

// stop lets nothing more be handed over.
func (m *meter) stop() {
	now := m.job.Clock.Now()
	m.interrupted = true
	m.endNs.Store(min(m.endNs.Load(), max(now, m.startNs)))
	m.engine.EndWindow(m.endNs.Load())
	m.engine.Halt(now)
}

// sleep waits until a time of the clock, a request to stop, or a failure.
func (m *meter) sleep(ctx context.Context, untilNs int64) error {
	timer := time.NewTimer(time.Duration(untilNs - m.job.Clock.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case err := <-m.engine.Failures():
		return fmt.Errorf("a consumer stopped: %w", err)
	}
	return nil
}

// drain waits until every message has been answered and has arrived, at most
// as long as the workload says since the last fault was healed and an audit was
// opened.
func (m *meter) drain(ctx context.Context) error {
	if err := m.begin(result.PhaseDrain, "waiting for what is under way"); err != nil {
		return err
	}
	begin, length := m.job.Clock.Now(), int64(m.job.Workload.Drain)
	if m.backlog.gaveUp() && !m.backlog.replays() {
		length = min(length, int64(interruptedDrain))
	}
	until, quietSince, movedNs, before := begin+length, begin, begin, load.Figures{}
	for now := begin; now < until; now = m.job.Clock.Now() {
		if ctx.Err() != nil {
			m.interrupted = true
			until = min(until, now+int64(interruptedDrain))
			ctx = context.WithoutCancel(ctx)
		}
		busy := m.openAudit() || !m.breaker.healed()
		if busy && !m.interrupted {
			until = now + length
		}
		if !m.interrupted {
			until = max(until, min(quietSince, begin+length)+m.lingerNs())
		}
		figures := m.engine.Figures()
		if figures != before || busy {
			before, movedNs = figures, now
		}
		if movedNs == now || !m.settled(figures) {
			quietSince = now
		}
		settled := now-quietSince >= max(int64(quiet), m.lingerNs())
		m.endAudit(settled, now-movedNs)
		if settled || m.job.Idle > 0 && now-movedNs >= max(int64(m.job.Idle), m.lingerNs()) {
			return nil
		}
		if now-m.lastNs >= m.length(m.lastNs) {
			if err := m.interval(result.PhaseDrain); err != nil {
				return err
			}
		}
		if err := m.sleep(context.Background(), now+int64(drainLook)); err != nil {
			return err
		}
	}
	return nil
}

// lingerNs is how long the drain goes on although nothing is missing.
func (m *meter) lingerNs() int64 {
	if m.interrupted {
		return 0
	}
	return int64(m.job.Linger)
}

// settled reports whether there is nothing left to wait for.
func (m *meter) settled(f load.Figures) bool {
	select {
	case <-m.engine.Sent():
		return f.InFlight == 0 && f.Backlog == 0 && !m.missing(f)
	default:
		return false
	}
}

// interval collects what was recorded since the last one, writes it and shows
// it.
func (m *meter) interval(phase result.PhaseName) error {
	now := m.job.Clock.Now()
	m.engine.Collect(m.cells)
	m.spare = m.watcher.Collect(m.cells, m.spare)
	m.lateness.collect(m.cells)
	figures, due, spent := m.engine.Figures(), m.engine.DueBy(min(now, m.endNs.Load())), m.self.Read()
	i := result.Interval{
		StartNs: m.lastNs - m.beganNs, EndNs: now - m.beganNs, Phase: phase,
		Scheduled: sum(due) - sum(m.lastDue), Sent: sum(figures.Handed) - sum(m.last.Handed),
		Acked: sum(figures.Acked) - sum(m.last.Acked), Failed: sum(figures.Failed) - sum(m.last.Failed),
		Received: sum(figures.Received) - sum(m.last.Received), Replayed: figures.Replayed - m.last.Replayed,
		InFlight: figures.InFlight, Backlog: figures.Backlog, BlockedNs: figures.BlockedNs - m.last.BlockedNs,
		CPUSeconds: spent.CPUSeconds, RSSBytes: spent.RSSBytes, HeapBytes: spent.HeapBytes,
		GCPauseNs: spent.GCPauseNs, GCCount: spent.GCCount, Goroutines: spent.Goroutines,
	}
	var written []*hdr.Histogram
	for _, series := range m.recorded {
		written = m.series(&i, written, series)
	}
	switch {
	case phase == result.PhaseMeasure:
		m.run.Summary.Add(i)
	case phase == result.PhaseWarmup && m.settling != nil:
		m.settling.add(i)
	}
	if first, last := m.engine.AckSpan(); first != 0 {
		i.FirstAckNs, i.LastAckNs = first-m.beganNs, last-m.beganNs
	}
	err := m.writer.Interval(i, written)
	m.totals.Merge(m.cells)
	m.lastNs, m.last, m.lastDue = now, figures, due
	m.backlog.add(phase, i, m.cells)
	m.cells.Reset()
	m.watch.Interval(i)
	return errors.Join(err, m.spent(phase), m.takeFaults(phase), m.heldUp(now))
}

// heldUp notes that the disk of the run's directory made the meter wait.
func (m *meter) heldUp(nowNs int64) error {
	waited := m.writer.HeldUp()
	if waited == m.waited {
		return nil
	}
	since := waited - m.waited
	m.waited = waited
	return m.writer.Event(result.Event{AtNs: nowNs - m.beganNs, Kind: "disk",
		Sentence: fmt.Sprintf("this reading waited %s for the disk of the run's directory: its queue of writes was full", quantity.Duration(int64(since)))})
}

// series adds one series to the interval's line and its histograms to those
// to write.
func (m *meter) series(i *result.Interval, written []*hdr.Histogram, s result.Series) []*hdr.Histogram {
	warm, measured := m.cells.Of(s, measure.Warmup), m.cells.Of(s, measure.Measured)
	m.tag(warm.Histogram, result.WarmupPrefix+string(s), i)
	m.tag(measured.Histogram, string(s), i)
	both := measured.Histogram
	if warm.Histogram.TotalCount() > 0 {
		both = result.NewHistogram()
		both.Merge(warm.Histogram)
		both.Merge(measured.Histogram)
	}
	if m.run.Load.Closed != nil && i.Phase != result.PhaseWarmup {
		m.minutes.Add(s, result.MinuteAt(i.StartNs, i.EndNs, m.measureNs.Load()-m.beganNs, m.endNs.Load()-m.beganNs), func(into *hdr.Histogram) { into.Merge(measured.Histogram) })
	}
	if !slices.Contains(result.Beside, s) {
		i.Latency = append(i.Latency, result.Summarize(s, both, warm.Clamped+measured.Clamped, warm.Negative+measured.Negative))
	}
	return append(written, warm.Histogram, measured.Histogram)
}

// tag gives a histogram what the log says of it.
func (m *meter) tag(h *hdr.Histogram, name string, i *result.Interval) {
	h.SetTag(name)
	h.SetStartTimeMs(m.run.StartedAt.UnixMilli() + i.StartNs/1e6)
	h.SetEndTimeMs(m.run.StartedAt.UnixMilli() + i.EndNs/1e6)
}

func sum(n [2]int64) int64 { return n[measure.Warmup] + n[measure.Measured] }
