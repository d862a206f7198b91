package prove

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Check compares what a run printed with what was planted. It returns a row for each figure.
type Check func(e *evidence) []Row

// evidence is the result of a truth's run.
type evidence struct {
	run      *result.Run
	search   *peak.Saved // nil: a single run
	planted  sim.Planted
	workload *workload.Workload
	virtual  bool           // time is virtual, so the instrument has no error
	late     *hdr.Histogram // the lateness of the simulated system against its own schedule
}

// few is the allowed error of the instrument in multiples of its measured error. The twin
// gets only a small share of the load, so it sees fewer of the rare delays.
const few = 3

// instrument returns the instrument's error, in ns, that this share of messages does not
// exceed: a few times the twin's latency, plus the lateness of the simulated system.
func (e *evidence) instrument(series result.Series, share float64) float64 {
	if e.virtual {
		return 0
	}
	late := float64(e.late.ValueAtPercentile(share * 100))
	return late + few*reached(e.twin(series), share)
}

// twin returns the latency of the run's twin, a system that takes no time.
func (e *evidence) twin(series result.Series) result.Latency {
	switch i := e.run.Summary.Instrument; {
	case i == nil:
		return result.Latency{}
	case series == result.EndToEnd:
		return i.EndToEnd
	default:
		return i.Publish
	}
}

// reached returns the lowest printed percentile at or above a share.
func reached(l result.Latency, share float64) float64 {
	for _, p := range l.Percentiles {
		if p.Percentile >= share*100-1e-9 {
			return float64(p.LatencyNs)
		}
	}
	return float64(l.MaxNs)
}

// resolution returns the width of the histogram's bucket around a latency, in ns.
func resolution(ns float64) float64 { return max(ns/1000, result.HistogramMinNs) }

// percentiles compares the percentiles of a series with a model.
func percentiles(series result.Series, m model, which ...float64) Check {
	return percentilesWithin(0, series, m, which...)
}

// percentilesWithin does so for loads in which a pacer delays due messages by at most step,
// to send them together with later ones.
func percentilesWithin(step time.Duration, series result.Series, m model, which ...float64) Check {
	return func(e *evidence) (rows []Row) {
		d := m(e.workload)
		for _, p := range which {
			rows = append(rows, e.percentile(series, d, p, float64(step)))
		}
		return rows
	}
}

// percentile returns the row of a percentile p, from 0 to 100. step is in ns.
func (e *evidence) percentile(series result.Series, d distribution, p, step float64) Row {
	latency := e.run.Summary.Series(series)
	n := float64(latency.Count + latency.Missing.Total())
	share := p / 100
	want := d.at(share)
	low, _ := d.between(share, n)
	row := Row{
		Figure: fmt.Sprintf("%s p%v", series, p), Unit: Nanoseconds, PlantedValue: want,
		Below: want - low + resolution(want),
		Above: e.above(series, d, share, n) - want + step,
	}
	row.Planted = nanoseconds(want)
	point, printed := latency.Point(p)
	if !printed {
		return row.broken("not printed")
	}
	if point.Bound != result.Exact {
		return row.broken(bounded(point))
	}
	return row.measured(float64(point.LatencyNs), nanoseconds(float64(point.LatencyNs)))
}

// above returns the largest value that a percentile of the distribution may show together
// with the instrument's error. By the union bound, the sum of a latency and an error exceeds
// the sum of two percentiles for at most as many messages as exceed either of them. So the
// messages beyond the percentile may be divided between the two in any way, and the
// narrowest result counts.
func (e *evidence) above(series result.Series, d distribution, share, n float64) float64 {
	off := d.rankError(share, n)
	least := math.Inf(1)
	for _, part := range []float64{1, 0.5, 0.2, 0.1, 0.01} {
		late := (1 - share) * part
		value := d.at(min(share+off+late, 1))
		least = min(least, value+resolution(value)+e.instrument(series, 1-late))
	}
	return least
}

// bounded formats a percentile that is a lower bound.
func bounded(p result.Percentile) string {
	if p.Bound == result.NotReached {
		return "not reached"
	}
	return "at least " + nanoseconds(float64(p.LatencyNs))
}

// censored checks that a percentile is printed as a bound, because too many of its messages
// have no latency.
func censored(series result.Series, p float64, bounds ...result.Bound) Check {
	return func(e *evidence) []Row {
		row := Row{Figure: fmt.Sprintf("%s p%v", series, p), Planted: "no latency"}
		point, printed := e.run.Summary.Series(series).Point(p)
		switch {
		case !printed:
			return []Row{row.broken("not printed")}
		case !slices.Contains(bounds, point.Bound):
			return []Row{row.broken(nanoseconds(float64(point.LatencyNs)))}
		}
		row.Printed, row.within = bounded(point), true
		return []Row{row}
	}
}

// mean compares a series' mean with a planted mean of known standard deviation.
func mean(
	series result.Series, figures func(w *workload.Workload) (mean, deviation float64),
) Check {
	return func(e *evidence) []Row {
		want, deviation := figures(e.workload)
		row := Row{
			Figure: string(series) + " mean", Unit: Nanoseconds,
			PlantedValue: want, Planted: nanoseconds(want),
		}
		off := sigmas*deviation + resolution(want)
		row.Below, row.Above = off, off+e.meanInstrument(series)
		got := e.run.Summary.Series(series).MeanNs
		return []Row{row.measured(got, nanoseconds(got))}
	}
}

// meanInstrument returns the mean error of the instrument, in ns.
func (e *evidence) meanInstrument(series result.Series) float64 {
	if e.virtual {
		return 0
	}
	return e.late.Mean() + few*e.twin(series).MeanNs
}

// rate compares a rate with a planted rate. off is the allowed error as a share. Messages
// that the simulated system delivers late may fall on either side of the window's ends.
func rate(figure string, want, off float64, printed func(r *result.Run) float64) Check {
	return func(e *evidence) []Row {
		row := Row{
			Figure: figure, Unit: PerSecond, PlantedValue: want, Planted: perSecond(want),
		}
		allowed := off
		if !e.virtual {
			allowed += float64(e.late.Max()) / float64(e.workload.Duration)
		}
		row.Below, row.Above = want*allowed, want*allowed
		got := printed(e.run)
		return []Row{row.measured(got, perSecond(got))}
	}
}

func achieved(r *result.Run) float64 { return r.Summary.AchievedRate }
func received(r *result.Run) float64 { return r.Summary.ReceivedRate }

// account compares a number of messages with the planted number. They must be equal.
func account(figure string, planted, printed func(e *evidence) int64) Check {
	return func(e *evidence) []Row {
		want, got := planted(e), printed(e)
		row := Row{
			Figure: figure, Unit: Messages, PlantedValue: float64(want),
			Planted: messages(want), exact: true,
		}
		return []Row{row.measured(float64(got), messages(got))}
	}
}

// ledger returns the largest value of a figure among the subscriptions' accounts.
func ledger(figure func(l *result.SubscriptionLedger) int64) func(e *evidence) int64 {
	return func(e *evidence) (most int64) {
		for i := range e.run.Ledger.Subscriptions {
			most = max(most, figure(&e.run.Ledger.Subscriptions[i]))
		}
		return most
	}
}

// some checks that the truth planted at least one case. Otherwise its account proves
// nothing.
func some(what string, planted func(e *evidence) int64) Check {
	return func(e *evidence) []Row {
		row := Row{Figure: what + " planted", Planted: "some", exact: true}
		n := planted(e)
		row.Printed, row.within = messages(n), n > 0
		return []Row{row}
	}
}

// says checks that a verdict has one of these outcomes.
func says(name string, outcomes ...string) Check {
	return func(e *evidence) []Row {
		row := Row{Figure: "verdict " + name, Planted: strings.Join(outcomes, " or ")}
		got := e.outcome(name)
		row.Printed, row.within = got, slices.Contains(outcomes, got)
		return []Row{row}
	}
}

// never checks that a verdict does not have an outcome, not even in a limited run.
func never(name, outcome string) Check {
	return func(e *evidence) []Row {
		got := e.outcome(name)
		return []Row{{
			Figure: "verdict " + name, Planted: "not " + outcome, Printed: got,
			within: got != outcome, exact: true,
		}}
	}
}

// blocked checks how long producers waited for the system in each second. The time from the
// beginning of a stretch to its first due message is not such a wait.
func blocked(ofSecond time.Duration) Check {
	return func(e *evidence) []Row {
		seconds := e.workload.Duration.Seconds()
		gap := 1e9 / e.workload.Load.Segments[0].From
		row := Row{
			Figure: "blocked in each second", Unit: Nanoseconds,
			PlantedValue: float64(ofSecond), Planted: nanoseconds(float64(ofSecond)),
		}
		// A producer that enters a stretch late waits for less of it.
		off := gap + e.instrument(result.Publish, 0.99)
		row.Below, row.Above = off, off
		got := e.run.Summary.Generator.BlockedSeconds / seconds * 1e9
		return []Row{row.measured(got, nanoseconds(got))}
	}
}

// quietNs bounds the p99 of pauses on a quiet machine, in ns.
const quietNs = 1e6

// blamesSystem checks that the generator's own lag is not more than the lag of a thread that
// only sleeps, although the system blocked its producers. On a machine that is not quiet the
// own lag may be larger.
func blamesSystem(e *evidence) []Row {
	row := Row{
		Figure: "own lag p99", Unit: Nanoseconds, Planted: nanoseconds(0), exact: true,
		Above: resolution(0),
	}
	if !e.virtual {
		pauses := reached(e.run.Summary.Series(result.Hiccup), 0.99)
		row.exact, row.Above = pauses < quietNs, quietNs+few*pauses
	}
	own := float64(e.run.Summary.Generator.OwnLagP99Ns)
	return []Row{row.measured(own, nanoseconds(own))}
}

// outcome returns the outcome of one of the run's verdicts.
func (e *evidence) outcome(name string) string {
	for _, v := range e.run.Verdicts {
		if v.Name == name {
			return v.Outcome
		}
	}
	return "not given"
}

// blamesGenerator checks that the first warning of the run names the generator.
func blamesGenerator(e *evidence) []Row {
	row := Row{Figure: "first warning", Planted: verdict.Generator, Printed: "none", exact: true}
	if len(e.run.Warnings) > 0 {
		row.Printed = e.run.Warnings[0].Code
	}
	row.within = row.Printed == verdict.Generator
	return []Row{row}
}

// bracket checks that a search's bracket contains the highest sustained rate.
func bracket(sustained float64) Check {
	return func(e *evidence) []Row {
		b := e.search.Bracket
		tolerance := sustained * e.search.Plan.Tolerance
		row := Row{
			Figure: "peak", Unit: PerSecond, PlantedValue: sustained, Planted: perSecond(sustained),
			Below: tolerance, Above: tolerance,
		}
		upper := max(b.UnstableRate, b.MixedRate)
		if b.StableRate <= 0 || upper <= 0 {
			return []Row{row.broken("no bracket: " + e.search.Sentence())}
		}
		nearest := min(max(sustained, b.StableRate), upper)
		return []Row{row.measured(nearest, perSecond(b.StableRate)+" to "+perSecond(upper))}
	}
}
