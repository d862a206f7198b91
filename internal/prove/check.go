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
	ownLag   *hdr.Histogram // plimsoll's own lag
}

// The allowed error of the instrument in multiples of its measured error. Own lag and the lateness
// of the simulated system are known of every message; margin is for the few instructions between
// the clock's readings and a message. The twin gets only a small share of the load, so it sees
// fewer of the rare delays.
const (
	margin = 1.5
	few    = 3
)

// instrument returns the instrument's error, in ns, that this share of messages does not
// exceed: own lag plus the lateness of the simulated system. By the union bound, each of them
// exceeds its percentile for half of the other messages.
func (e *evidence) instrument(share float64) float64 {
	if e.virtual {
		return 0
	}
	percentile := 100 - 100*(1-share)/2
	return margin * float64(e.late.ValueAtPercentile(percentile)+
		e.ownLag.ValueAtPercentile(percentile))
}

// explains returns the error, in ns, that the twin may explain for this share of messages. A
// figure that is wrong by no more is not proved wrong.
func (e *evidence) explains(series result.Series, share float64) float64 {
	if e.virtual {
		return 0
	}
	return float64(e.late.ValueAtPercentile(share*100)) + few*reached(e.twin(series), share)
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
	above, at := d.above(share, n, e.instrument)
	loose, _ := d.above(share, n, func(share float64) float64 { return e.explains(series, share) })
	row := Row{
		Figure: fmt.Sprintf("%s %s", series, result.PercentileName(p)), Unit: Nanoseconds,
		PlantedValue: want, Below: want - low + resolution(want), Above: above - want + step,
		most: mostOwnError(at*100, want), explained: loose - want + step,
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

// mostOwnError returns the greatest allowed error of a latency that takes the instrument's error at
// a percentile: that with which the verdict of a run is still that plimsoll was not the limit.
func mostOwnError(percentile, ns float64) float64 {
	if percentile > 95 {
		percentile = 99
	}
	return float64(verdict.OwnErrorBound(percentile, int64(ns)))
}

// above returns the largest value that a percentile of n messages of the distribution may show
// together with the instrument's error, which depends on the share of messages, and that share. By
// the union bound, the sum of a latency and an error exceeds the sum of two percentiles for at most
// as many messages as exceed either of them. So the messages beyond the percentile may be divided
// between the two in any way, and the narrowest result counts.
func (d distribution) above(
	share, n float64, instrument func(share float64) float64,
) (least, at float64) {
	off := d.rankError(share, n)
	least = math.Inf(1)
	for _, part := range []float64{1, 0.5, 0.2, 0.1, 0.01} {
		late := (1 - share) * part
		value := d.at(min(share+off+late, 1))
		if value += resolution(value) + instrument(1-late); value < least {
			least, at = value, 1-late
		}
	}
	return least, at
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
		row := Row{Figure: fmt.Sprintf("%s %s", series, result.PercentileName(p)),
			Planted: "no latency"}
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

// mean compares a series' mean with that of a model. A pacer delays messages by at most step.
func mean(step time.Duration, series result.Series, m func(*workload.Workload) float64) Check {
	return func(e *evidence) []Row {
		want := m(e.workload)
		row := Row{
			Figure: string(series) + " mean", Unit: Nanoseconds, PlantedValue: want,
			Planted: nanoseconds(want), Below: resolution(want), most: mostOwnError(50, want),
		}
		row.Above = row.Below + float64(step)
		if !e.virtual {
			row.explained = row.Above + e.late.Mean() + few*e.twin(series).MeanNs
			row.Above += margin * (e.late.Mean() + e.ownLag.Mean())
		}
		got := e.run.Summary.Series(series).MeanNs
		return []Row{row.measured(got, nanoseconds(got))}
	}
}

// mostRateError is the greatest allowed error of a rate, as a share.
const mostRateError = 0.05

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
		row.most = want * mostRateError
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
		off := gap + e.instrument(0.99)
		row.explained = gap + e.explains(result.Publish, 0.99)
		row.most = mostOwnError(99, float64(ofSecond))
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

// mostWidth is the greatest width of a bracket that proves anything, in tolerances of its search.
const mostWidth = 2

// bracket checks that a search's bracket contains the highest sustained rate, and is narrow.
func bracket(sustained float64) Check {
	return func(e *evidence) []Row {
		return []Row{bracketRow(e.search.Bracket, sustained, e.search.Plan.Tolerance,
			e.search.Sentence())}
	}
}

// bracketRow judges a bracket. Its error is that of the end that is farther from the truth.
func bracketRow(b peak.Bracket, sustained, tolerance float64, sentence string) Row {
	slack := tolerance * sustained
	row := Row{
		Figure: "peak", Unit: PerSecond, PlantedValue: sustained, Planted: perSecond(sustained),
		Below: slack, Above: slack, most: mostWidth * slack,
	}
	upper := max(b.UnstableRate, b.MixedRate)
	if b.StableRate <= 0 || upper <= 0 {
		return row.broken("no bracket: " + sentence)
	}
	printed := perSecond(b.StableRate) + " to " + perSecond(upper)
	if sustained < b.StableRate-slack || sustained > upper+slack {
		return row.measured(min(max(sustained, b.StableRate), upper), printed)
	}
	farther := b.StableRate
	if upper-sustained > sustained-b.StableRate {
		farther = upper
	}
	// The bracket holds the truth, so only its width counts.
	row.Below = max(math.Abs(farther-sustained), row.most)
	row.Above = row.Below
	return row.measured(farther, printed)
}
