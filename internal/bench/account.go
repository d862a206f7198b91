package bench

import (
	"errors"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

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
	var arrived int64
	m.run.Ledger, arrived = m.engine.Account()
	m.run.Ledger.WatchedNs = m.watchedNs()
	m.backlog.setAside(m.run.Ledger.Subscriptions)
	m.setAuditAside(m.run.Ledger.Subscriptions)
	for _, l := range m.run.Ledger.Subscriptions {
		for _, r := range l.LostRanges {
			if r.When != nil {
				r.When.Since(m.beganNs)
			}
		}
	}
	m.summarize(figures, arrived)
	return err
}

// watchedNs is how long the consumers stayed open after the last message arrived.
func (m *meter) watchedNs() int64 {
	last := m.engine.LastReceivedNs()
	if last == 0 {
		last = m.startNs
	}
	return max(0, m.closingNs-last)
}

// sendLimit bounds the wait for a Send that is under way when the run ends.
const sendLimit = 2 * time.Second

// close ends sending and closes the clients. A Send that does not return holds
// its pacer up; closing the producer ends it. What cannot be closed in time is
// noted: the measurement is whole by then.
func (m *meter) close() {
	m.closingNs = m.job.Clock.Now()
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

// accuse says what plimsoll knows of its own error.
func (m *meter) accuse() {
	s := &m.run.Summary
	g := &s.Generator
	own := m.totals.Of(result.OwnLag, measure.Measured).Histogram
	g.OwnLagP99Ns, g.OwnLagMeanNs, g.OwnLagCount = own.ValueAtPercentile(99), own.Mean(), own.TotalCount()
	if system := m.totals.Of(result.LessOwnLag, measure.Measured).Histogram; system.TotalCount() > 0 {
		g.LessOwnLagP99Ns = system.ValueAtPercentile(99)
	}
	if late := m.totals.Of(result.SimulatedLate, measure.Measured).Histogram; late.TotalCount() > 0 {
		g.SimulatedLateP99Ns = late.ValueAtPercentile(99)
	}
	waited := m.totals.Of(result.TwinWaited, measure.Measured).Histogram
	of := func(series result.Series) result.Latency {
		c := m.totals.Of(series, measure.Measured)
		missing := result.Missing{Unanswered: waited.TotalCount()}
		return result.Censored(series, c.Histogram, waited, missing, c.Clamped, c.Negative)
	}
	s.Instrument = &result.Instrument{Publish: of(result.Twin), EndToEnd: of(result.TwinReceive)}
}

// countersOf splits what was scheduled in a phase into what became of it.
func countersOf(f load.Figures, p measure.Phase) result.Counters {
	return result.Counters{
		Scheduled: f.Handed[p] + f.Unsent[p], Acked: f.Acked[p], Failed: f.Failed[p],
		Unknown: f.Handed[p] - f.Acked[p] - f.Failed[p], Unsent: f.Unsent[p], Received: f.Received[p],
	}
}

// without are the messages of a series that have no latency. arrived is how many
// distinct messages of the window arrived at the workload's own subscriptions.
func (m *meter) without(series result.Series, f load.Figures, arrived int64) result.Missing {
	c := m.run.Counters
	switch series {
	case result.Publish:
		return result.Missing{Unanswered: c.Unknown, Refused: c.Failed, Unsent: c.Unsent}
	case result.Send:
		return result.Missing{Unanswered: c.Unknown, Refused: c.Failed}
	case result.Lag:
		return result.Missing{Unsent: c.Unsent}
	case result.SendCall:
		calls := f.Calls[measure.Measured] - m.count(result.SendCall)
		if c.Unknown == 0 {
			return result.Missing{Refused: calls}
		}
		return result.Missing{Unanswered: calls}
	case result.EndToEnd:
		subscriptions := int64(m.run.Load.Subscriptions)
		absent := max(0, c.Scheduled*subscriptions-arrived)
		out := result.Missing{Unsent: min(absent, c.Unsent*subscriptions)}
		out.Refused = min(absent-out.Unsent, c.Failed*subscriptions)
		out.NotReceived = absent - out.Unsent - out.Refused
		return out
	}
	return result.Missing{}
}

func (m *meter) count(series result.Series) int64 {
	return m.totals.Of(series, measure.Measured).Histogram.TotalCount()
}

// latency is a series of the measured window, with the messages that have no latency.
func (m *meter) latency(series result.Series, f load.Figures, arrived int64) result.Latency {
	c := m.totals.Of(series, measure.Measured)
	var waited *hdr.Histogram
	if series == result.Publish {
		waited = m.totals.Of(result.Waited, measure.Measured).Histogram
	}
	return result.Censored(series, c.Histogram, waited, m.without(series, f, arrived), c.Clamped, c.Negative)
}

// summarize turns the sums of the measured window into rates and the
// histograms into tables.
func (m *meter) summarize(f load.Figures, arrived int64) {
	s := &m.run.Summary
	s.Finish(m.run.Load, m.run.Environment.Cores)
	// Exact, where an interval may end late: what is in flight at the window's
	// end is not lost from it, and what follows is not of it.
	if window := m.endNs.Load() - m.measureNs.Load(); window > 0 {
		perWindow := func(messages int64) float64 { return float64(messages) * 1e9 / float64(window) }
		s.OfferedRate, s.AchievedRate = perWindow(m.run.Counters.Scheduled), perWindow(f.AckedWithin)
		s.ReceivedRate = perWindow(f.ReceivedWithin) / float64(m.run.Load.Subscriptions)
		s.LeastReceivedRate = perWindow(f.LeastWithin)
		s.BytesPerS = s.AchievedRate * float64(m.run.Load.MessageBytes)
	}
	if m.run.Load.Closed != nil {
		s.Minutes = m.minutes.Minutes(s.WindowNs)
	}
	for _, name := range m.run.Load.Series() {
		s.Latency = append(s.Latency, m.latency(name, f, arrived))
	}
	if m.count(result.Copies) > 0 {
		s.Latency = append(s.Latency, m.latency(result.Copies, f, arrived))
	}
	m.backlog.summarize()
	m.accuse()
	s.InFlight = m.watcher.MeanInFlight()
	m.run.Observation.Methods = append(m.run.Observation.Methods[:0], m.methods()...)
	m.run.Observation.Finish(*s, m.run.Load, m.run.Environment.Cores)
	if f.FirstHandedNs > 0 {
		s.FirstMessageNs = m.run.StartedAt.Sub(m.job.Process).Nanoseconds() + f.FirstHandedNs - m.beganNs
	}
}
