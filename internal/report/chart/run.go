package chart

import (
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Run are the charts of one run: throughput, latency, backlog, percentiles, heat maps, and
// plimsoll's own error, which another tool does not record. The charts of its cost are separate.
func Run(s *result.Saved, sure latency.Within) []*document.Chart {
	t := newMoments(s)
	out := []*document.Chart{t.throughput(), t.latency()}
	backlog, other := t.backlog(), fact.Imported(&s.Run)
	if !other || Drawn(backlog) {
		out = append(out, backlog)
	}
	out = append(append(out, Curve(s, sure)), t.heats()...)
	if other {
		return out
	}
	out = append(out, t.ownError())
	if len(s.Resources) == 0 {
		out = append(out, t.cpu())
	}
	return out
}

// moments are the figures of a run over time, for its charts.
type moments struct {
	saved *result.Saved
	run   *result.Run
	at    document.Values // the middle of each interval, in seconds since the run started
	spans []document.Span
}

func newMoments(s *result.Saved) *moments {
	t := &moments{saved: s, run: &s.Run, spans: runSpans(s)}
	for _, i := range s.Intervals {
		t.at = append(t.at, float64(i.StartNs+i.EndNs)/2e9)
	}
	return t
}

// values are a line's values; nil where it has none, or there is no line.
func (t *moments) values(of line) document.Values {
	return valuesOf(t.saved.Intervals, of,
		func(i result.Interval) int64 { return i.EndNs - i.StartNs })
}

// add adds a line to a chart if the run has it.
func (t *moments) add(c *document.Chart, of line, s document.Series) {
	if s.Y = t.values(of); s.Y != nil {
		s.X = t.at
		c.Series = append(c.Series, s)
	}
}

// addRare adds a line unless it is zero throughout.
func (t *moments) addRare(c *document.Chart, of line, s document.Series) {
	if slices.ContainsFunc(t.values(of), func(v float64) bool { return v > 0 }) {
		t.add(c, of, s)
	}
}

// overTime is a chart over the time of the run.
func (t *moments) overTime(c document.Chart) *document.Chart {
	if len(t.saved.Intervals) == 0 {
		c.Empty = noIntervals
	}
	c.X, c.Spans = timeAxis(t.saved), t.spans
	return &c
}

func (t *moments) throughput() *document.Chart {
	c := t.overTime(document.Chart{ID: "throughput", Title: "Messages per second",
		Note:  "Each interval: due, acknowledged, and received by each subscription.",
		Label: "Throughput over time. " + row.Throughput(t.run) + ".",
		Y:     document.Axis{Unit: document.PerSecond}})
	if fact.Imported(t.run) {
		c.Note = "Each period: acknowledged, and received by all subscriptions together."
	} else {
		t.add(c, rateOf(func(i result.Interval) int64 { return i.Scheduled }),
			document.Series{Name: "due", Color: document.Grey, Dash: 1})
	}
	t.add(c, ackedLine, document.Series{Name: "acknowledged"})
	t.add(c, receivedLine(t.run), document.Series{Name: "received", Color: 1})
	if t.run.Backlog != nil {
		t.addRare(c, rateOf(func(i result.Interval) int64 { return i.Replayed }),
			document.Series{Name: "replayed", Color: 2})
	}
	t.addRare(c, rateOf(func(i result.Interval) int64 { return i.Failed }),
		document.Series{Name: "failed", Color: 3, Dash: 2})
	return c
}

func (t *moments) backlog() *document.Chart {
	c := t.overTime(document.Chart{ID: "backlog", Title: "Backlog and in flight",
		Note: "Backlog: acknowledged and not yet received. In flight: handed over and not yet " +
			"answered.",
		Label: "Backlog and messages in flight over time. The greatest backlog was " +
			quantity.Count(t.run.Summary.MaxBacklog) + " messages.",
		Y: document.Axis{Unit: document.Count}})
	t.add(c, backlogLine(t.run), document.Series{Name: "backlog", Color: 1})
	if fact.Imported(t.run) {
		c.Title, c.Note = "Backlog", "Backlog: acknowledged and not yet received."
		return c
	}
	t.add(c, countOf(func(i result.Interval) int64 { return i.InFlight }),
		document.Series{Name: "in flight"})
	return c
}

func (t *moments) latency() *document.Chart {
	c := t.overTime(document.Chart{ID: "latency", Title: "Latency over time",
		Note:  "From the moment each message was due, by the interval in which it ended.",
		Label: "Publish and end-to-end latency over time: " + latencyLabels(t.run) + ".",
		Y:     document.Axis{Unit: document.Nanos, Scale: document.Log}})
	if fact.Imported(t.run) {
		c.Note = "From the moment each message was handed over, by the period in which it ended."
	}
	c.Note += t.undrawn()
	for _, s := range []struct {
		series result.Series
		name   string
		color  int
	}{{fact.PublishSeries(t.run), "publish", 0}, {result.EndToEnd, "end-to-end", 1}} {
		if s.series == result.Send {
			s.name, s.color = "send", document.Grey
		}
		t.add(c, percentileLine(s.series, 50),
			document.Series{Name: s.name + " p50", Color: s.color, Faint: true})
		t.add(c, percentileLine(s.series, 99),
			document.Series{Name: s.name + " p99", Color: s.color})
		t.add(c, maxLine(s.series),
			document.Series{Name: s.name + " max", Color: s.color, Dash: 2})
	}
	return c
}

// undrawn is the end of a note where some messages have no latency.
func (t *moments) undrawn() string {
	if len(latency.MissingOf(t.run.Summary)) == 0 {
		return ""
	}
	return " Messages without a latency are not drawn."
}

func (t *moments) ownError() *document.Chart {
	c := t.overTime(document.Chart{ID: "self", Title: "Is plimsoll to blame?",
		Note: "Schedule lag: how late messages were handed over, because plimsoll was late or " +
			"because the system blocked its producers. Hiccups: how late a thread woke that only " +
			"sleeps; where hiccups rise, plimsoll causes part of the latencies above.",
		Label: "Schedule lag, hiccups and garbage collection pauses over time: " +
			latencyLabel(t.run.Summary.Series(result.Lag)) + ".",
		Y: document.Axis{Unit: document.Nanos, Scale: document.Log}})
	t.add(c, percentileLine(result.Lag, 99), document.Series{Name: "schedule lag p99", Color: 3})
	t.add(c, maxLine(result.Lag), document.Series{Name: "schedule lag max", Color: 3, Dash: 2})
	t.add(c, percentileLine(result.Hiccup, 99), document.Series{Name: "hiccup p99", Color: 2})
	t.add(c, maxLine(result.Hiccup), document.Series{Name: "hiccup max", Color: 2, Dash: 2})
	t.add(c, func(i result.Interval, _ float64) float64 { return positive(i.GCPauseNs) },
		document.Series{Name: "longest collection pause", Color: 4, Faint: true})
	return c
}

func (t *moments) cpu() *document.Chart {
	c := t.overTime(document.Chart{ID: "cpu", Title: "Plimsoll's own CPU",
		Note: "Cores that this process used; servers that run inside it are included.",
		Label: "CPU of plimsoll over time, " + phrase.Share(t.run.Summary.Generator.CPUShare, 1) +
			" of all cores on average.",
		Y: document.Axis{Unit: document.Cores}})
	t.add(c, func(i result.Interval, s float64) float64 { return i.CPUSeconds / s },
		document.Series{Name: "cores used", Color: 3})
	return c
}

// heats are the heat maps of the series of latency that were recorded, or one that says why there
// is none.
func (t *moments) heats() (out []*document.Chart) {
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		h := newHeat(t.saved, series)
		if fact.Imported(t.run) {
			h = nil
		}
		if h != nil || len(out) == 0 {
			out = append(out, t.heat(h, series))
		}
	}
	return out
}

// heat draws the map of a series, with faults over it.
func (t *moments) heat(h *document.Heat, series result.Series) *document.Chart {
	c := t.overTime(document.Chart{ID: "heat", Title: "Latency heat map",
		Note: "The number of messages by time and latency: a stronger colour means more " +
			"messages. Two bands are two kinds of messages, which no percentile line shows." +
			t.undrawn(),
		Label: "Heat map of latency over time.",
		Y:     document.Axis{Unit: document.Nanos, Scale: document.Log}})
	if h == nil {
		c.Empty = "No message's latency was saved, so there is no distribution to show."
		if fact.Imported(t.run) {
			c.Empty = "The tool recorded only one distribution of the whole run, so there is " +
				"nothing to show over time."
		}
		return c
	}
	c.ID += "-" + string(series)
	c.Title += ", " + phrase.SeriesTitle(series)
	c.Spans = slices.DeleteFunc(slices.Clone(t.spans), func(s document.Span) bool {
		return s.Tone == "" // a shade below the cells would not be seen
	})
	c.Heat = h
	return c
}

// Curve draws the series of a run by percentile, with the intervals that are known.
func Curve(s *result.Saved, sure latency.Within) *document.Chart {
	r := &s.Run
	c := percentileChart(document.Chart{ID: "curve", Note: latency.Uncorrected(r),
		Label: "Latency by percentile: " + latencyLabels(r) + "; uncorrected " +
			latencyLabel(r.Summary.Series(result.Send)) + "."})
	if missing := latency.MissingOf(r.Summary); len(missing) > 0 {
		c.Note += " A line ends where the messages without a latency begin (" +
			strings.Join(missing, "; ") + ")."
	}
	count := int64(math.MaxInt64)
	for i, series := range []result.Series{result.Publish, result.EndToEnd, result.Send} {
		curve := curveOf(s, series)
		if curve == nil {
			continue
		}
		line := document.Series{Name: phrase.SeriesTitle(series), Color: i}
		line.X, line.Y = curve.x, curve.y
		if series == result.Send {
			line.Name, line.Color, line.Dash = "send (uncorrected)", document.Grey, 1
		}
		c.Series = append(c.Series, line)
		if w := sure.Whiskers(s, series, i); len(w.X) > 0 {
			c.Series = append(c.Series, w)
		}
		count = min(count, curve.count)
	}
	c.Spans = fewMessages(count)
	if len(c.Series) == 0 {
		c.Empty = "No message was measured, so there is no distribution to show."
	}
	return c
}

// percentileChart is a chart of latency by percentile.
func percentileChart(c document.Chart) *document.Chart {
	c.Title = "Latency by percentile"
	c.X = document.Axis{Unit: document.Percentile, Scale: document.Tail, From: new(0.0)}
	c.Y = document.Axis{Unit: document.Nanos, Scale: document.Log}
	return &c
}

// fewMessages shades the percentiles that are the luck of a few messages.
func fewMessages(count int64) []document.Span {
	const few = 10
	if count <= few || count == math.MaxInt64 {
		return nil
	}
	return []document.Span{{From: 100 * (1 - few/float64(count)), To: 100,
		Words: "under ten messages"}}
}

// Drawn reports whether a chart has anything to draw.
func Drawn(c *document.Chart) bool {
	return c.Heat != nil || slices.ContainsFunc(c.Series, func(s document.Series) bool {
		return slices.ContainsFunc(s.Y, phrase.Finite)
	})
}

// line is the value of a line over an interval; NaN where it has none. Latencies are nanoseconds.
type line func(i result.Interval, seconds float64) float64

// valuesOf are the values of a line over intervals of some lengths; nil if it has none, or there is
// no line.
func valuesOf[I any](all []I, of func(I, float64) float64, lengthNs func(I) int64) document.Values {
	if of == nil {
		return nil
	}
	out := make(document.Values, len(all))
	for i, one := range all {
		out[i] = math.NaN()
		if ns := lengthNs(one); ns > 0 {
			out[i] = of(one, float64(ns)/1e9)
		}
	}
	if !slices.ContainsFunc(out, phrase.Finite) {
		return nil
	}
	return out
}

// rateOf is a count as messages per second.
func rateOf(count func(result.Interval) int64) line {
	return func(i result.Interval, s float64) float64 { return float64(count(i)) / s }
}

func countOf(count func(result.Interval) int64) line {
	return func(i result.Interval, _ float64) float64 { return float64(count(i)) }
}

var ackedLine = rateOf(func(i result.Interval) int64 { return i.Acked })

// receivedLine is the rate of each subscription.
func receivedLine(r *result.Run) line {
	if fact.Unrecorded(r, result.RecordedReceived, r.Summary.ReceivedRate == 0) {
		return nil
	}
	subscriptions := float64(max(r.Load.Subscriptions, 1))
	return func(i result.Interval, s float64) float64 {
		return float64(i.Received) / s / subscriptions
	}
}

func backlogLine(r *result.Run) line {
	if fact.Unrecorded(r, result.RecordedBacklog, r.Summary.MaxBacklog == 0) {
		return nil
	}
	return countOf(func(i result.Interval) int64 { return i.Backlog })
}

func percentileLine(series result.Series, percentile float64) line {
	return func(i result.Interval, _ float64) float64 {
		ns, ok := latency.ExactAt(latency.Of(i, series), percentile)
		return orGap(ns, ok)
	}
}

func maxLine(series result.Series) line {
	return func(i result.Interval, _ float64) float64 {
		ns, ok := latency.ExactMax(latency.Of(i, series))
		return orGap(ns, ok)
	}
}

// orGap is a latency, or a gap in the line if it is unknown or only a bound.
func orGap(ns int64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return positive(ns)
}

// positive is a value for an axis in powers of ten, which has no zero.
func positive(v int64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return float64(v)
}
