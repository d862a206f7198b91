package bench

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// account closes the clients, settles every counter and fills the summary.
// When the clients are closed, nothing more is recorded, so counters, histograms and ledger cover
// the same messages.
func (r *run) account() error {
	errs := []error{r.cut(r.course.Stop(r.job.Clock.Now()))}
	r.close()
	last, err := r.sample(true)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	errs = append(errs, r.read(result.PhaseDrain, last))
	errs = append(errs,
		r.begin(result.PhaseAccount, "comparing acknowledged with received messages"))
	accounts, err := r.accounts()
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	c := &last.Counters
	r.run.Warmup, r.run.Counters = countersOf(c, measure.Warmup), countersOf(c, measure.Measured)
	r.run.Errors, r.run.Scaling = accounts.Errors, accounts.Scaling
	var arrived int64
	evidence := r.evidence(r.closingNs, *c, accounts)
	r.run.Ledger, arrived = r.plan.Judge(accounts, evidence)
	r.run.Ledger.WatchedNs = r.watchedNs(c)
	if r.run.Ledger.Accounted {
		r.arrivals.account(r.run.Ledger.Subscriptions, r.run.Ledger.WatchedNs)
	} else {
		arrived = r.count(result.EndToEnd) // the others are unknown
	}
	for _, p := range r.activities {
		p.account(r.run.Ledger.Subscriptions)
	}
	if r.job.Crew != nil {
		workers, own := r.job.Crew.Describe()
		r.run.Workers, r.run.Environment.Chrony = r.perWorker.fill(workers), own
	}
	if r.run.Ledger.Accounted {
		r.run.Classes = r.classes(accounts, evidence)
	}
	for _, l := range r.run.Ledger.Subscriptions {
		for _, lost := range l.LostRanges {
			if lost.When != nil {
				lost.When.Since(r.beganNs)
			}
		}
	}
	r.summarize(c, arrived, accounts.MeanInFlight)
	return errors.Join(errs...)
}

// unaccounted is why a run that has not failed otherwise has no account: a worker was lost when
// the load was over.
func (r *run) unaccounted() error {
	if r.run.Ledger.Accounted {
		return nil
	}
	select {
	case sentence := <-r.failures:
		return errors.New(sentence)
	default:
		return nil
	}
}

// watchedNs is how long the consumers stayed open after the last message arrived.
func (r *run) watchedNs(c *load.Counters) int64 {
	return max(0, r.closingNs-cmp.Or(c.LastReceived, r.course.Window().StartNs))
}

// close ends sending and closes the clients. Clients that cannot be closed in time are noted: the
// measurement is complete by then.
func (r *run) close() {
	r.closingNs = r.job.Clock.Now()
	limit := closeTime(r.job.Workload)
	err := load.Together(r.workers, func(i int) error { return r.workers[i].Close(limit) })
	if err != nil {
		r.note(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

func (r *run) note(sentence string) {
	// A write error appears with the next interval.
	_ = r.writer.Event(result.Event{AtNs: r.sinceBegan(), Kind: "note", Sentence: sentence})
}

// accuse fills the summary's figures of plimsoll's own error.
func (r *run) accuse() {
	s := &r.run.Summary
	totals := r.readings.totals
	measured := func(series result.Series) *hdr.Histogram {
		return totals.Of(series, measure.Measured).Histogram
	}
	s.Generator.Accuse(measured(result.OwnLag), measured(result.LessOwnLag),
		measured(result.SimulatedLate))
	waited := measured(result.TwinWaited)
	of := func(series result.Series) result.Latency {
		c := totals.Of(series, measure.Measured)
		missing := result.Missing{Unanswered: waited.TotalCount()}
		return result.Censored(series, c.Histogram, waited, missing, c.Clamped, c.Negative)
	}
	s.Instrument = &result.Instrument{Publish: of(result.Twin), EndToEnd: of(result.TwinReceive)}
}

// countersOf divides the scheduled messages of a phase by their result.
func countersOf(f *load.Counters, p measure.Phase) result.Counters {
	return result.Counters{
		Scheduled: f.Handed[p] + f.Unsent[p], Acked: f.Acked[p], Failed: f.Failed[p],
		Unknown: f.Handed[p] - f.Acked[p] - f.Failed[p], Unsent: f.Unsent[p],
		Received: f.Received[p],
	}
}

// without returns the messages without a latency of a series. arrived is the number of distinct
// messages of the window that arrived at the workload's own subscriptions.
func (r *run) without(series result.Series, f *load.Counters, arrived int64) result.Missing {
	c := r.run.Counters
	switch series {
	case result.Publish:
		return result.Missing{Unanswered: c.Unknown, Refused: c.Failed, Unsent: c.Unsent}
	case result.Send:
		return result.Missing{Unanswered: c.Unknown, Refused: c.Failed}
	case result.Lag:
		return result.Missing{Unsent: c.Unsent}
	case result.SendCall:
		calls := f.Calls[measure.Measured] - r.count(result.SendCall)
		if c.Unknown == 0 {
			return result.Missing{Refused: calls}
		}
		return result.Missing{Unanswered: calls}
	case result.EndToEnd:
		return notReceived(c.Scheduled, c.Failed, c.Unsent, arrived,
			int64(r.run.Load.Subscriptions))
	case result.Redelivered:
		// They include the warm-up's, which cannot be separated.
		return result.Missing{NotReceived: f.GivenBack - f.Redelivered}
	}
	return result.Missing{}
}

func (r *run) count(series result.Series) int64 {
	return r.readings.totals.Of(series, measure.Measured).Histogram.TotalCount()
}

// latency returns a series of the measured window, with the messages that have no latency.
func (r *run) latency(series result.Series, f *load.Counters, arrived int64) result.Latency {
	var waited *hdr.Histogram
	if series == result.Publish {
		waited = r.readings.totals.Of(result.Waited, measure.Measured).Histogram
	}
	return r.censored(series, waited, r.without(series, f, arrived))
}

// censored returns a series of the measured window with the messages that have no latency, and how
// long the unanswered ones were waited for; nil: that is not known.
func (r *run) censored(series result.Series, waited *hdr.Histogram,
	missing result.Missing) result.Latency {
	c := r.readings.totals.Of(series, measure.Measured)
	return result.Censored(series, c.Histogram, waited, missing, c.Clamped, c.Negative)
}

// loadSeconds returns for how long the measured window had a load, and until when that load was
// answered: the whole window, unless producers stop before a backlog is read.
func (r *run) loadSeconds() (offered, answered float64) {
	w := r.course.Window()
	since := func(ns int64) float64 { return max(float64(ns-w.MeasureNs)/1e9, 1e-9) }
	offered, answered = since(w.LoadEndNs()), since(w.EndNs)
	if b := r.run.Backlog; w.LoadNs > 0 && b != nil && b.BuiltNs > 0 {
		answered = max(offered, since(b.BuiltNs+r.beganNs))
	}
	return offered, answered
}

// summarize computes rates from the sums of the measured window, and tables from the histograms.
func (r *run) summarize(f *load.Counters, arrived int64, inFlight float64) {
	s := &r.run.Summary
	s.Finish(r.run.Load, r.run.LoadCores())
	// Exact, although an interval may end late: messages in flight at the window's end are not
	// lost, and later ones are not included.
	if w := r.course.Window(); w.EndNs > w.MeasureNs {
		seconds := float64(w.EndNs-w.MeasureNs) / 1e9
		offered, answered := r.loadSeconds()
		s.OfferedRate = float64(r.run.Counters.Scheduled) / offered
		s.WorkRate = float64(f.AckedWithin) / seconds
		due := float64(r.run.Counters.Scheduled-r.run.Counters.Failed) / offered
		s.AchievedRate = r.run.Load.Own(float64(f.AckedWithin)/answered, due)
		if b := r.job.Workload.Backlog; b != nil && b.Then == workload.BacklogReplay {
			seconds = answered // the workload's own subscriptions received no longer
		}
		own := func(n int64) float64 { return r.run.Load.Own(float64(n)/seconds, due) }
		s.ReceivedRate = 0
		for _, n := range f.ReceivedWithin {
			s.ReceivedRate += own(n) / float64(len(f.ReceivedWithin))
			s.LeastReceivedRate = own(slices.Min(f.ReceivedWithin))
		}
		s.BytesPerS = 0
		if f.AckedWithin > 0 {
			s.BytesPerS = float64(f.BytesWithin) * s.AchievedRate / float64(f.AckedWithin)
		}
	}
	if r.run.Load.Closed != nil {
		s.Minutes = r.readings.minutes.Minutes(s.WindowNs)
	}
	apart := r.clocksDifferNs()
	for _, name := range r.run.Load.Series() {
		l := r.latency(name, f, arrived)
		if name == result.EndToEnd {
			l = l.WithError(apart)
		}
		s.Latency = append(s.Latency, l)
	}
	if r.count(result.Request) > 0 {
		s.Latency = append(s.Latency, r.latency(result.Request, f, arrived))
	}
	for _, name := range []result.Series{result.Copies, result.CatchUp} {
		if r.count(name) > 0 {
			s.Latency = append(s.Latency, r.latency(name, f, arrived).WithError(apart))
		}
	}
	if f.GivenBack > 0 {
		s.Latency = append(s.Latency, r.latency(result.Redelivered, f, arrived))
	}
	spent := r.readings.last.Spent()
	s.Generator.CPULimitCores = spent.CPULimitCores
	s.Generator.MemoryLimitBytes = spent.MemoryLimitBytes
	r.accuse()
	s.InFlight = inFlight
	r.run.Observation.Methods = append(r.run.Observation.Methods[:0], r.methods()...)
	r.run.Observation.Finish(*s, r.run.Load, r.run.Environment.Cores)
	if f.FirstHandedNs > 0 {
		s.FirstMessageNs = r.run.StartedAt.Sub(r.job.Process).Nanoseconds() +
			f.FirstHandedNs - r.beganNs
	}
}
