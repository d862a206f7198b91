package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// readings holds the samples of a run, as intervals and as their sums.
type readings struct {
	// recorded is every series; those of tables are on an interval's line, in this order, and the
	// others have a histogram only.
	recorded, tables []result.Series

	cells, totals *measure.Cells
	minutes       result.MinuteTally // of a closed loop

	lastNs  int64
	last    load.Sample
	lastDue [2]int64
	waited  time.Duration // for the writer
}

func newReadings(l result.Load, w *workload.Workload) *readings {
	recorded := slices.Concat(l.Series(), result.Beside,
		load.ClassSeries(w, result.Publish), load.ClassSeries(w, result.EndToEnd))
	return &readings{
		recorded: recorded, tables: l.Series(),
		cells: measure.NewCells(recorded...), totals: measure.NewCells(recorded...),
	}
}

// interval collects, writes and shows the recordings since the last interval.
func (r *run) interval(phase result.PhaseName) error {
	sample, err := r.sample(true)
	if err != nil {
		return err
	}
	return r.read(phase, sample)
}

// read takes a sample as the next interval.
func (r *run) read(phase result.PhaseName, sample load.Sample) error {
	now, m := sample.AtNs, r.readings
	due := r.dueBy(now, sample.Counters)
	i := m.intervalOf(r.job, sample, due)
	i.StartNs, i.EndNs, i.Phase = m.lastNs-r.beganNs, now-r.beganNs, phase
	var aside clock.Aside
	for one := range slices.Chunk(sample.Histograms, 1) {
		m.cells.Add(one)
		m.totals.Add(one)
		aside.Step()
	}
	for _, series := range m.recorded {
		r.series(&i, series)
		aside.Step()
	}
	if phase == result.PhaseMeasure {
		r.run.Summary.Add(i)
		r.perWorker.measured()
	}
	if sample.FirstAckNs != 0 {
		i.FirstAckNs, i.LastAckNs = sample.FirstAckNs-r.beganNs, sample.LastAckNs-r.beganNs
	}
	err := r.writer.Interval(i, r.logged(&i, sample.Histograms))
	aside.Step()
	m.cells.Reset()
	m.lastNs, m.last, m.lastDue = now, sample, due
	r.watch.Interval(i)
	r.spacing.look(r.writer.Written(), r.course.Window().EndNs-now)
	aside.Step()
	errs := []error{err, r.spent(phase), r.heldUp(now), r.noteSleep(i)}
	for _, p := range r.activities {
		errs = append(errs, p.interval(ended{phase, i, sample, !r.interrupted}))
	}
	return errors.Join(errs...)
}

// dueBy returns the number of messages of each phase due by now. Messages of a closed loop are due
// when they are begun.
func (r *run) dueBy(now int64, c load.Counters) [2]int64 {
	if r.job.Workload.Load.Closed != nil {
		return c.Begun()
	}
	return r.course.DueBy(min(now, r.course.Window().EndNs))
}

// intervalOf returns the difference between the last sample and this one.
func (m *readings) intervalOf(job *Job, s load.Sample, due [2]int64) result.Interval {
	c, last, spent := &s.Counters, &m.last.Counters, s.Spent()
	before := m.last.Spent()
	return result.Interval{
		Scheduled: sum(due) - sum(m.lastDue), Sent: sum(c.Handed) - sum(last.Handed),
		Acked: sum(c.Acked) - sum(last.Acked), Failed: sum(c.Failed) - sum(last.Failed),
		Received: sum(c.Received) - sum(last.Received), Replayed: c.Replayed - last.Replayed,
		InFlight: c.InFlight, Backlog: c.Backlog(job.Workload),
		BlockedNs:  c.BlockedNs - last.BlockedNs,
		CPUSeconds: spent.CPUSeconds - before.CPUSeconds, RSSBytes: spent.RSSBytes,
		HeapBytes: spent.HeapBytes, GCPauseNs: spent.GCPauseNs,
		GCCount:    spent.GCCount - before.GCCount,
		Goroutines: spent.Goroutines, ThrottledNs: spent.ThrottledNs - before.ThrottledNs,
	}
}

// heldUp notes that the run had to wait for the disk of its directory.
func (r *run) heldUp(nowNs int64) error {
	waited := r.writer.HeldUp()
	if waited == r.readings.waited {
		return nil
	}
	since := waited - r.readings.waited
	r.readings.waited = waited
	sentence := fmt.Sprintf("this reading waited %s for the disk of the run's directory: "+
		"its queue of writes was full", quantity.Duration(int64(since)))
	return r.writer.Event(result.Event{AtNs: nowNs - r.beganNs, Kind: "disk", Sentence: sentence})
}

// series adds one series to the interval's line.
func (r *run) series(i *result.Interval, s result.Series) {
	m := r.readings
	warm, measured := m.cells.Of(s, measure.Warmup), m.cells.Of(s, measure.Measured)
	if r.run.Load.Closed != nil && i.Phase != result.PhaseWarmup {
		w := r.course.Window()
		at := result.MinuteAt(i.StartNs, i.EndNs, w.MeasureNs-r.beganNs, w.EndNs-r.beganNs)
		m.minutes.Add(s, at, func(into *hdr.Histogram) { into.Merge(measured.Histogram) })
	}
	if slices.Contains(m.tables, s) {
		i.Latency = append(i.Latency, summarize(s, warm, measured))
	}
}

// logged returns what the log gets of an interval: a line for each series and phase, in the order
// of recorded. The samples of all workers are merged, so there is one histogram of each.
func (r *run) logged(i *result.Interval, all []measure.Histogram) (lines []result.Logged) {
	fromMs := r.run.StartedAt.UnixMilli() + i.StartNs/1e6
	toMs := r.run.StartedAt.UnixMilli() + i.EndNs/1e6
	for _, series := range r.readings.recorded {
		for phase, tag := range []string{measure.Warmup: result.WarmupPrefix + string(series),
			measure.Measured: string(series)} {
			for _, h := range all {
				if h.Series == series && h.Phase == measure.Phase(phase) && !h.Empty() {
					lines = append(lines, h.Logged(tag, fromMs, toMs))
				}
			}
		}
	}
	return lines
}

// summarize computes the table figures of a series in both phases.
func summarize(s result.Series, warm, measured *measure.Cell) result.Latency {
	both := measured.Histogram
	switch {
	case warm.Histogram.TotalCount() == 0:
	case both.TotalCount() == 0:
		both = warm.Histogram
	default:
		both = result.NewHistogram()
		both.Merge(warm.Histogram)
		both.Merge(measured.Histogram)
	}
	clamped, negative := warm.Clamped+measured.Clamped, warm.Negative+measured.Negative
	return result.Summarize(s, both, clamped, negative)
}

func sum(n [2]int64) int64 { return n[measure.Warmup] + n[measure.Measured] }
