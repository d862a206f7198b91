package bench

import (
	"context"
	"errors"
	"runtime"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// addToSummary adds an interval of the measured window to the summary.
func (m *meter) addToSummary(i result.Interval) {
	s := &m.run.Summary
	s.WindowNs += i.EndNs - i.StartNs
	s.OfferedRate += float64(i.Scheduled)
	s.AchievedRate += float64(i.Acked)
	s.ReceivedRate += float64(i.Received)
	s.MaxBacklog = max(s.MaxBacklog, i.Backlog)
	s.EndBacklog = i.Backlog
	g := &s.Generator
	g.CPUSeconds += i.CPUSeconds
	g.BlockedSeconds += float64(i.BlockedNs) / 1e9
	g.GCPauseMaxNs = max(g.GCPauseMaxNs, i.GCPauseNs)
	g.GCCount += i.GCCount
	g.PeakRSSBytes = max(g.PeakRSSBytes, i.RSSBytes)
	g.HeapPeakBytes = max(g.HeapPeakBytes, i.HeapBytes)
}

// account closes the clients, settles every counter and fills the summary.
func (m *meter) account() error {
	m.engine.Halt(m.job.Clock.Now())
	<-m.engine.Sent()
	phase := result.PhaseDrain
	err := m.interval(phase)
	m.watcher.Stop()
	<-m.watching
	err = errors.Join(err, m.begin(result.PhaseAccount, "comparing what was acknowledged with what arrived"))
	figures := m.engine.Figures()
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	closeErr := m.engine.Close(ctx)
	late := m.engine.Figures()
	figures.Received, figures.AnsweredTwice = late.Received, late.AnsweredTwice
	m.run.Warmup, m.run.Counters = countersOf(figures, measure.Warmup), countersOf(figures, measure.Measured)
	m.run.Errors = m.engine.Errors()
	m.run.Ledger = m.engine.Account()
	m.summarize(figures)
	return errors.Join(err, closeErr)
}

// countersOf splits what was scheduled in a phase into what became of it.
func countersOf(f load.Figures, p measure.Phase) result.Counters {
	return result.Counters{
		Scheduled: f.Handed[p] + f.Unsent[p], Acked: f.Acked[p], Failed: f.Failed[p],
		Unknown: f.Handed[p] - f.Acked[p] - f.Failed[p], Unsent: f.Unsent[p], Received: f.Received[p],
	}
}

// summarize turns the sums of the measured window into rates and the
// histograms into tables.
func (m *meter) summarize(f load.Figures) {
	s := &m.run.Summary
	if seconds := float64(s.WindowNs) / 1e9; seconds > 0 {
		s.OfferedRate /= seconds
		s.AchievedRate /= seconds
		s.ReceivedRate /= seconds * float64(max(m.run.Load.Subscriptions, 1))
		s.BytesPerS = s.AchievedRate * float64(m.run.Load.MessageBytes)
		s.Generator.CPUShare = s.Generator.CPUSeconds / seconds / float64(runtime.NumCPU())
	}
	for _, name := range result.AllSeries {
		from := m.totals
		if name == result.Hiccup {
			from = m.allHiccups
		}
		c := from.Of(name, measure.Measured)
		s.Latency = append(s.Latency, result.Summarize(name, c.Histogram, c.Clamped, c.Negative))
	}
	s.Generator.OwnLagP99Ns = m.totals.Of(result.OwnLag, measure.Measured).Histogram.ValueAtPercentile(99)
	send := m.totals.Of(result.Send, measure.Measured).Histogram
	inFlight, samples := m.watcher.MeanInFlight()
	s.Little = measure.Little(inFlight, samples, s.AchievedRate, send.Mean())
	if f.FirstHandedNs > 0 {
		s.FirstMessageNs = m.run.StartedAt.Sub(m.job.Process).Nanoseconds() + f.FirstHandedNs - m.beganNs
	}
}
