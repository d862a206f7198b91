package report

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

// comparisonCharts lay the lines of several runs over one another. Times count from the start
// of each run's measured window.
func comparisonCharts(runs []*result.Saved) []*document.Chart {
	words := wordsOfAll(runs)
	t := newOverlay(runs)
	var out []*document.Chart
	add := func(kind, id, title string, draw func(*document.Chart)) {
		found := chartOf(words, kind)
		if found == nil {
			return
		}
		d := *found
		if d.ID = id; title != "" {
			d.Title += ", " + title
		}
		if draw(&d); len(d.Series) > 0 || len(out) == 0 || d.Empty != "" {
			out = append(out, &d)
		}
	}
	kinds := []result.Series{result.Publish, result.EndToEnd}
	if slices.ContainsFunc(inner(runs), imported) {
		kinds = append(kinds, result.Send)
	}
	for _, series := range kinds {
		add("compare-curve", "compare-curve-"+string(series), seriesTitle(series),
			func(d *document.Chart) { t.curves(d, series) })
	}
	add("compare-throughput", "compare-throughput", "", func(d *document.Chart) {
		t.over(d, document.PerSecond, document.Linear, "acked")
	})
	for _, series := range kinds {
		add("compare-latency", "compare-latency-"+string(series), seriesTitle(series),
			func(d *document.Chart) {
				t.over(d, document.Nanos, document.Log, string(series)+"_p99")
			})
	}
	add("compare-backlog", "compare-backlog", "", func(d *document.Chart) {
		t.over(d, document.Count, document.Linear, "backlog")
	})
	for _, c := range comparedUsage {
		add(c.id, c.id, "", func(d *document.Chart) { t.usage(d, c) })
	}
	return out
}

// overlay is several runs in the same charts.
type overlay struct {
	runs    []*result.Saved
	names   []string
	moments []*moments
	used    []*usage
	spans   []document.Span // the faults of all
}

func newOverlay(runs []*result.Saved) *overlay {
	o := &overlay{runs: runs, names: names(runs)}
	for i, s := range runs {
		o.moments, o.used = append(o.moments, newMoments(s)), append(o.used, newUsage(s))
		for _, f := range faultSpans(s, float64(windowOf(&s.Run))/1e9) {
			f.Words = o.names[i] + ": " + f.Words
			o.spans = append(o.spans, f)
		}
	}
	return o
}

// line is a series in the colour and the pattern of a run.
func (o *overlay) line(i int) document.Series {
	return document.Series{Name: o.names[i], Color: i % document.Colors,
		Dash: i / document.Colors % document.Dashes}
}

// shifted counts times from the start of a run's measured window.
func shifted(at document.Values, r *result.Run) document.Values {
	out := make(document.Values, len(at))
	for i, t := range at {
		out[i] = t - float64(windowOf(r))/1e9
	}
	return out
}

// draw adds the line of each run that has values.
func (o *overlay) draw(c *document.Chart, y document.Axis, of func(i int) (at, y document.Values)) {
	c.X, c.Y, c.Spans = document.Axis{Unit: document.Seconds}, y, o.spans
	for i := range o.runs {
		s := o.line(i)
		if s.X, s.Y = of(i); s.Y != nil {
			s.X = shifted(s.X, &o.runs[i].Run)
			c.Series = append(c.Series, s)
		}
	}
}

func (o *overlay) over(c *document.Chart, unit document.Unit, scale document.Scale, of string) {
	o.draw(c, document.Axis{Unit: unit, Scale: scale}, func(i int) (at, y document.Values) {
		return o.moments[i].at, o.moments[i].values(of)
	})
}

func (o *overlay) usage(c *document.Chart, of compared) {
	o.draw(c, document.Axis{Unit: of.unit}, func(i int) (at, y document.Values) {
		return o.used[i].at, o.used[i].values(of.line(o.runs[i]))
	})
}

func (o *overlay) curves(c *document.Chart, series result.Series) {
	percentileAxes(c)
	count := int64(math.MaxInt64)
	for i, s := range o.runs {
		if curve := curveOf(s, series); curve != nil {
			line := curve.line(o.names[i], i)
			line.Color, line.Dash = i%document.Colors, i/document.Colors%document.Dashes
			c.Series = append(c.Series, line)
			count = min(count, curve.Count)
		}
	}
	c.Spans = fewMessages(count)
}
