package bench

import (
	"errors"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// account closes the clients, settles every counter and fills the summary.
// Once the clients are closed nothing is recorded any more, so counters,
// histograms and ledger speak of the same messages.
func (m *meter) account() error {
	m.engine.Halt(m.job.Clock.Now())
	m.close()
	err := m.interval(result.PhaseDrain)
	m.watcher.Stop()
	<-m.watching
	err = errors.Join(err, m.begin(result.PhaseAccount, "comparing what was acknowledged with what arrived"))
	figures := m.engine.Figures()
	m.run.Warmup, m.run.Counters = countersOf(figures, measure.Warmup), countersOf(figures, measure.Measured)
	m.run.Errors = m.engine.Errors()
	m.run.Ledger = m.engine.Account()
	m.backlog.setAside(m.run.Ledger.Subscriptions)
	m.setAuditAside(m.run.Ledger.Subscriptions)
	for _, l := range m.run.Ledger.Subscriptions {
		for _, r := range l.LostRanges {
			if r.When != nil {
				r.When.Since(m.beganNs)
			}
		}
	}
	m.summarize(figures)
	return err
}

// sendLimit bounds the wait for a Send that is under way when the run ends.
const sendLimit = 2 * time.Second

// close ends sending and closes the clients. A Send that does not return holds
// its pacer up; closing the producer ends it. What cannot be closed in time is
// noted: the measurement is whole by then.
func (m *meter) close() {
	sent := m.sentWithin(sendLimit)
	told := func(sentence string) { m.watch.Phase(result.PhaseDrain, sentence) }
	if err := m.engine.Close(closeTime(m.job.Workload), told); err != nil {
		m.note("closing the clients: " + err.Error())
	}
	if !sent && !m.sentWithin(sendLimit) {
		m.note("the client library did not return from a send, even after its producer was closed")
	}
}

func (m *meter) note(sentence string) {
	// A failure to write shows in the next interval.
	_ = m.writer.Event(result.Event{AtNs: m.sinceBegan(), Kind: "note", Sentence: sentence})
}

func (m *meter) sentWithin(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-m.engine.Sent():
		return true
	case <-timer.C:
		return false
	}
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
	s.Finish(m.run.Load, m.run.Environment.Cores)
	// Exact, where an interval may end late: what is in flight at the window's
	// end is not lost from it, and what follows is not of it.
	if window := m.endNs.Load() - m.measureNs.Load(); window > 0 {
		perWindow := func(messages int64) float64 { return float64(messages) * 1e9 / float64(window) }
		s.OfferedRate, s.AchievedRate = perWindow(m.run.Counters.Scheduled), perWindow(f.AckedWithin)
		s.ReceivedRate = perWindow(f.ReceivedWithin) / float64(m.run.Load.Subscriptions)
		s.BytesPerS = s.AchievedRate * float64(m.run.Load.MessageBytes)
	}
	if m.run.Load.Closed != nil {
		s.Minutes = m.minutes.Minutes(s.WindowNs)
	}
	for _, name := range m.run.Load.Series() {
		c := m.totals.Of(name, measure.Measured)
		s.Latency = append(s.Latency, result.Summarize(name, c.Histogram, c.Clamped, c.Negative))
	}
	m.backlog.summarize()
	own := m.totals.Of(result.OwnLag, measure.Measured).Histogram
	s.Generator.OwnLagP99Ns, s.Generator.OwnLagMeanNs = own.ValueAtPercentile(99), own.Mean()
	send := m.totals.Of(result.Send, measure.Measured).Histogram
	inFlight, samples := m.watcher.MeanInFlight()
	s.Little = measure.Little(inFlight, samples, s.AchievedRate, send.Mean())
	m.run.Observation.Methods = append(m.run.Observation.Methods[:0], m.methods()...)
	m.run.Observation.Finish(*s, m.run.Load, m.run.Environment.Cores)
	if f.FirstHandedNs > 0 {
		s.FirstMessageNs = m.run.StartedAt.Sub(m.job.Process).Nanoseconds() + f.FirstHandedNs - m.beganNs
	}
}
