package chart

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Comparison lay the lines of several runs over one another. Times count from the start
// of each run's measured window.
func Comparison(runs []*result.Saved) []*document.Chart {
	o := NewOverlay(runs)
	kinds := []result.Series{result.Publish, result.EndToEnd}
	if slices.ContainsFunc(fact.Runs(runs), fact.Imported) {
		kinds = append(kinds, result.Send)
	}
	var out []*document.Chart
	for _, series := range kinds {
		out = append(out, o.Curve(series))
	}
	out = append(out, o.throughput())
	for _, series := range kinds {
		out = append(out, o.latency(series))
	}
	out = append(out, o.backlog())
	for _, c := range comparedUsage {
		out = append(out, o.usage(c))
	}
	return append(out[:1], slices.DeleteFunc(out[1:], func(c *document.Chart) bool {
		return c.Empty == "" && len(c.Series) == 0
	})...)
}

// Overlay is several runs in the same charts.
type Overlay struct {
	runs    []*result.Saved
	names   []string
	moments []*moments
	used    []*usage
	spans   []document.Span // the faults of all
}

// NewOverlay puts runs over one another, each from the start of its measured window.
func NewOverlay(runs []*result.Saved) *Overlay {
	o := &Overlay{runs: runs, names: fact.Names(runs)}
	for i, s := range runs {
		o.moments, o.used = append(o.moments, newMoments(s)), append(o.used, newUsage(s))
		for _, f := range faultSpans(s, float64(fact.Window(&s.Run))/1e9) {
			f.Words = o.names[i] + ": " + f.Words
			o.spans = append(o.spans, f)
		}
	}
	return o
}

// line is a series in the colour and the pattern of a run.
func (o *Overlay) line(i int) document.Series {
	return document.Series{Name: o.names[i], Color: i % document.Colors,
		Dash: i / document.Colors % document.Dashes}
}

// words has a sentence for each run.
func (o *Overlay) words(of func(*result.Run) string) string {
	out := ""
	for i, s := range o.runs {
		out += fmt.Sprintf(" %s: %s.", o.names[i], of(&s.Run))
	}
	return out
}

// axis spans the time of all runs.
func (o *Overlay) axis() document.Axis {
	a := document.Axis{Unit: document.Seconds}
	for _, s := range o.runs {
		of, window := timeAxis(s), float64(fact.Window(&s.Run))/1e9
		if of.From == nil {
			continue
		}
		from, to := *of.From-window, *of.To-window
		if a.From != nil {
			from, to = min(from, *a.From), max(to, *a.To)
		}
		a.From, a.To = &from, &to
	}
	return a
}

// over is a chart with the line of each run that has values.
func (o *Overlay) over(c document.Chart, of func(i int) (at, y document.Values)) *document.Chart {
	c.X, c.Spans = o.axis(), o.spans
	for i := range o.runs {
		s := o.line(i)
		at, y := of(i)
		for _, t := range at {
			s.X = append(s.X, t-float64(fact.Window(&o.runs[i].Run))/1e9)
		}
		if s.Y = y; s.Y != nil {
			c.Series = append(c.Series, s)
		}
	}
	return &c
}

// overTime is a chart with a line of each run's intervals.
func (o *Overlay) overTime(c document.Chart, of func(*result.Run) line) *document.Chart {
	if !slices.ContainsFunc(o.runs, func(s *result.Saved) bool { return len(s.Intervals) > 0 }) {
		c.Empty = noIntervals
	}
	return o.over(c, func(i int) (at, y document.Values) {
		return o.moments[i].at, o.moments[i].values(of(&o.runs[i].Run))
	})
}

func (o *Overlay) throughput() *document.Chart {
	note := "Runs are aligned on the start of the measured window."
	if slices.ContainsFunc(o.runs, func(s *result.Saved) bool {
		_, _, ok := longDrain(s)
		return ok
	}) {
		note += " Charts over time show the beginning of a long drain; the figures below each " +
			"chart go on to its end."
	}
	return o.overTime(document.Chart{ID: "compare-throughput", Title: "Throughput, acknowledged",
		Note:  note,
		Label: "Throughput over time, runs side by side." + o.words(row.Throughput),
		Y:     document.Axis{Unit: document.PerSecond}},
		func(*result.Run) line { return ackedLine })
}

func (o *Overlay) latency(series result.Series) *document.Chart {
	return o.overTime(document.Chart{ID: "compare-latency-" + string(series),
		Title: "Latency over time, p99, " + phrase.SeriesTitle(series),
		Label: "The 99th percentile of latency over time, runs side by side." +
			o.words(labelOf(series)),
		Y: document.Axis{Unit: document.Nanos, Scale: document.Log}},
		func(*result.Run) line { return percentileLine(series, 99) })
}

func (o *Overlay) backlog() *document.Chart {
	return o.overTime(document.Chart{ID: "compare-backlog", Title: "Backlog",
		Label: "Backlog over time, runs side by side." + o.words(backlogLabel),
		Y:     document.Axis{Unit: document.Count}}, backlogLine)
}

func (o *Overlay) usage(of compared) *document.Chart {
	return o.over(document.Chart{ID: of.id, Title: of.title, Note: of.note,
		Label: of.title + " over time, runs side by side.", Y: document.Axis{Unit: of.unit}},
		func(i int) (at, y document.Values) {
			return o.used[i].at, o.used[i].values(of.line(o.runs[i]))
		})
}

// Curve is the distribution of a latency of all runs.
func (o *Overlay) Curve(series result.Series) *document.Chart {
	note := "Each run's whole distribution. Publish and end-to-end latency start when each " +
		"message was due."
	if slices.ContainsFunc(fact.Runs(o.runs), fact.Imported) {
		note += " Send latency, and the end-to-end latency of runs that another tool measured, " +
			"start when it was handed over."
	}
	c := percentileChart(document.Chart{ID: "compare-curve-" + string(series), Note: note,
		Label: "Latency by percentile, runs side by side." + o.words(labelOf(series))})
	c.Title += ", " + phrase.SeriesTitle(series)
	count := int64(math.MaxInt64)
	for i, s := range o.runs {
		if curve := curveOf(s, series); curve != nil {
			line := o.line(i)
			line.X, line.Y = curve.x, curve.y
			c.Series = append(c.Series, line)
			count = min(count, curve.count)
		}
	}
	c.Spans = fewMessages(count)
	if len(c.Series) == 0 && !slices.ContainsFunc(fact.Runs(o.runs), func(r *result.Run) bool {
		return r.Summary.Series(fact.PublishSeries(r)).Count > 0
	}) {
		c.Empty = "No message was measured in any of these runs."
	}
	return c
}
