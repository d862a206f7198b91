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

// Check holds what a run printed against what was planted, a row for each figure.
type Check func(e *evidence) []Row

// evidence is what a truth's run left.
type evidence struct {
	run      *result.Run
	search   *peak.Saved // nil: a single run
	planted  sim.Planted
	workload *workload.Workload
	virtual  bool           // time is virtual, so the instrument has no error
	late     *hdr.Histogram // how late the simulated system was by its own schedule
}

// few is how many times its own measured error the instrument may be off: the twin is
// offered a small share of the load, and sees less of what is rare.
const few = 3

// instrument is the error that the run measured of itself, that this share of messages
// stays below: a few times the twin's latency, and how late the simulated system was.
func (e *evidence) instrument(series result.Series, share float64) float64 {
	if e.virtual {
		return 0
	}
	late := float64(e.late.ValueAtPercentile(share * 100))
	return late + few*reached(e.twin(series), share)
}

// twin is what a system that takes no time showed beside this one.
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

// reached is the lowest printed percentile that this share of messages stays below.
func reached(l result.Latency, share float64) float64 {
	for _, p := range l.Percentiles {
		if p.Percentile >= share*100-1e-9 {
			return float64(p.LatencyNs)
		}
	}
	return float64(l.MaxNs)
}

// resolution is the width of a histogram's bucket around a latency.
func resolution(ns float64) float64 { return max(ns/1000, result.HistogramMinNs) }

// percentiles checks a series' percentiles against a model.
func percentiles(series result.Series, m model, which ...float64) Check {
	return percentilesWithin(0, series, m, which...)
}

// percentilesWithin does it where messages may be handed over so much later than due:
// those that come within one step of the pacer go together.
func percentilesWithin(step time.Duration, series result.Series, m model, which ...float64) Check {
	return func(e *evidence) (rows []Row) {
		d := m(e.workload)
		for _, p := range which {
			rows = append(rows, e.percentile(series, d, p, float64(step)))
		}
		return rows
	}
}

func (e *evidence) percentile(series result.Series, d distribution, p, step float64) Row {
	latency := e.run.Summary.Series(series)
	n := float64(latency.Count + latency.Missing.Total())
	share := p / 100
	want := d.at(share)
	low, _ := d.between(share, n)
	row := Row{
		Figure: fmt.Sprintf("%s p%v", series, p), Unit: Nanoseconds, PlantedValue: want,
		Below: want - low + resolution(want), Above: e.above(series, d, share, n) - want + step,
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

// above is the largest figure that a percentile of the distribution may show together
// with the instrument's error. The sum of a latency and an error exceeds the sum of two
// percentiles in no more messages than exceed either (the union bound), so any division
// of the messages beyond the percentile holds; the narrowest counts.
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

// bounded prints a percentile that is a lower bound.
func bounded(p result.Percentile) string {
	if p.Bound == result.NotReached {
		return "not reached"
	}
	return "at least " + nanoseconds(float64(p.LatencyNs))
}

// censored checks that a percentile is printed as a bound: some of its messages have no
// latency, or none that is known.
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

// mean checks a series' mean against one with a standard deviation.
func mean(series result.Series, figures func(w *workload.Workload) (mean, deviation float64)) Check {
	return func(e *evidence) []Row {
		want, deviation := figures(e.workload)
		row := Row{Figure: string(series) + " mean", Unit: Nanoseconds, PlantedValue: want, Planted: nanoseconds(want)}
		off := sigmas*deviation + resolution(want)
		row.Below, row.Above = off, off+e.meanInstrument(series)
		got := e.run.Summary.Series(series).MeanNs
		return []Row{row.measured(got, nanoseconds(got))}
	}
}

func (e *evidence) meanInstrument(series result.Series) float64 {
	if e.virtual {
		return 0
	}
	return e.late.Mean() + few*e.twin(series).MeanNs
}

// rate checks a rate, which may be off by a share. What the simulated system does late
// may fall out of the window, or into it.
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

// account checks a number of messages, which must be exact.
func account(figure string, planted, printed func(e *evidence) int64) Check {
	return func(e *evidence) []Row {
		want, got := planted(e), printed(e)
		row := Row{Figure: figure, Unit: Messages, PlantedValue: float64(want), Planted: messages(want), exact: true}
		return []Row{row.measured(float64(got), messages(got))}
	}
}

// ledger is a figure of the account, of the subscription that has most of it.
func ledger(of func(l *result.SubscriptionLedger) int64) func(e *evidence) int64 {
	return func(e *evidence) (most int64) {
		for i := range e.run.Ledger.Subscriptions {
			most = max(most, of(&e.run.Ledger.Subscriptions[i]))
		}
		return most
	}
}

// some checks that the truth planted any: otherwise its account proves nothing.
func some(what string, planted func(e *evidence) int64) Check {
	return func(e *evidence) []Row {
		row := Row{Figure: what + " planted", Planted: "some", exact: true}
		n := planted(e)
		row.Printed, row.within = messages(n), n > 0
		return []Row{row}
	}
}

// says checks the outcome of a verdict.
func says(name string, outcomes ...string) Check {
	return func(e *evidence) []Row {
		row := Row{Figure: "verdict " + name, Planted: strings.Join(outcomes, " or ")}
		got := e.outcome(name)
		row.Printed, row.within = got, slices.Contains(outcomes, got)
		return []Row{row}
	}
}

// never checks that a verdict has not an outcome, whoever was the limit.
func never(name, outcome string) Check {
	return func(e *evidence) []Row {
		got := e.outcome(name)
		return []Row{{Figure: "verdict " + name, Planted: "not " + outcome, Printed: got, within: got != outcome, exact: true}}
	}
}

// blocked checks for how long of each second producers waited for the system. Of a
// stretch the time until its first message is due is no wait.
func blocked(ofSecond time.Duration) Check {
	return func(e *evidence) []Row {
		seconds := e.workload.Duration.Seconds()
		gap := 1e9 / e.workload.Load.Segments[0].From
		row := Row{
			Figure: "blocked in each second", Unit: Nanoseconds, PlantedValue: float64(ofSecond), Planted: nanoseconds(float64(ofSecond)),
		}
		// A producer that comes late into a stretch waits for less of it.
		off := gap + e.instrument(result.Publish, 0.99)
		row.Below, row.Above = off, off
		got := e.run.Summary.Generator.BlockedSeconds / seconds * 1e9
		return []Row{row.measured(got, nanoseconds(got))}
	}
}

// quietNs is the p99 of pauses below which a machine is quiet.
const quietNs = 1e6

// blamesSystem checks that the generator takes no more lateness upon itself than a
// thread that only sleeps was late, although the system held its producers up. On a
// machine that is not quiet the generator may be late beside that.
func blamesSystem(e *evidence) []Row {
	row := Row{Figure: "own lag p99", Unit: Nanoseconds, Planted: nanoseconds(0), exact: true, Above: resolution(0)}
	if !e.virtual {
		pauses := reached(e.run.Summary.Series(result.Hiccup), 0.99)
		row.exact, row.Above = pauses < quietNs, quietNs+few*pauses
	}
	own := float64(e.run.Summary.Generator.OwnLagP99Ns)
	return []Row{row.measured(own, nanoseconds(own))}
}

// outcome is that of a verdict of the run.
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

// bracket checks that a search's answer holds the highest rate that is sustained.
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
