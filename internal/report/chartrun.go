package report

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

// maxSpans bounds the faults and events that a chart marks; more could not be told apart.
const maxSpans = 100

// runCharts are the charts of one run: throughput, backlog, latency, heat maps, percentiles,
// and plimsoll's own error.
func runCharts(s *result.Saved, sure within) []*document.Chart {
	words := wordsOfRun(s)
	var out []*document.Chart
	add := func(id string, draw func(*document.Chart)) {
		found := chartOf(words, id)
		if found == nil {
			return
		}
		d := *found
		if d.Empty == "" {
			draw(&d)
		}
		out = append(out, &d)
	}
	t := newMoments(s)
	add("throughput", t.throughput)
	add("latency", t.latency)
	add("backlog", t.backlog)
	add("curve", func(d *document.Chart) { runCurves(d, s, sure) })
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		if h := newHeat(s, series); h != nil || series == result.Publish {
			add("heat", func(d *document.Chart) { t.heat(d, h, series) })
		}
	}
	add("self", t.ownError)
	add("cpu", t.cpu)
	return out
}

// chartOf returns one of the charts; nil: it is not there.
func chartOf(all []*document.Chart, id string) *document.Chart {
	at := slices.IndexFunc(all, func(c *document.Chart) bool { return c.ID == id })
	if at < 0 {
		return nil
	}
	return all[at]
}

// moments are the figures of a run over time, for its charts.
type moments struct {
	saved *result.Saved
	lines map[string]line
	at    document.Values // the middle of each interval, in seconds since the run started
	spans []document.Span
	axis  document.Axis
}

func newMoments(s *result.Saved) *moments {
	t := &moments{saved: s, lines: map[string]line{}, spans: runSpans(s), axis: timeAxis(s)}
	lines := timelines(s.Run.Load.Subscriptions)
	if imported(&s.Run) {
		lines = importedLines(&s.Run, lines)
	}
	lines = append(lines, line{"replayed",
		func(i result.Interval, s float64) float64 { return float64(i.Replayed) / s }})
	for _, l := range lines {
		t.lines[l.name] = l
	}
	for _, i := range s.Intervals {
		t.at = append(t.at, float64(i.StartNs+i.EndNs)/2e9)
	}
	return t
}

// timeAxis spans the time of a run with figures.
func timeAxis(s *result.Saved) document.Axis {
	from, to := lasted(s)
	if !(from < to) {
		return document.Axis{Unit: document.Seconds}
	}
	return document.Axis{Unit: document.Seconds, From: &from, To: &to}
}

// values are a line's values; nil where the run has no such line, or the line has none.
func (t *moments) values(name string) document.Values {
	line, ok := t.lines[name]
	if !ok {
		return nil
	}
	out := make(document.Values, len(t.saved.Intervals))
	for i, of := range t.saved.Intervals {
		out[i] = math.NaN()
		if seconds := float64(of.EndNs-of.StartNs) / 1e9; seconds > 0 {
			out[i] = line.value(of, seconds)
		}
	}
	if !slices.ContainsFunc(out, finite) {
		return nil
	}
	return out
}

// add adds a line to a chart if the run has it.
func (t *moments) add(c *document.Chart, name string, s document.Series) {
	if s.Y = t.values(name); s.Y != nil {
		s.X = t.at
		c.Series = append(c.Series, s)
	}
}

// addRare adds a line unless it is zero throughout.
func (t *moments) addRare(c *document.Chart, name string, s document.Series) {
	if slices.ContainsFunc(t.values(name), func(v float64) bool { return v > 0 }) {
		t.add(c, name, s)
	}
}

func (t *moments) overTime(c *document.Chart, unit document.Unit, scale document.Scale) {
	c.X, c.Y, c.Spans = t.axis, document.Axis{Unit: unit, Scale: scale}, t.spans
}

func (t *moments) throughput(c *document.Chart) {
	t.overTime(c, document.PerSecond, document.Linear)
	t.add(c, "offered", document.Series{Name: "due", Color: document.Grey, Dash: 1})
	t.add(c, "acked", document.Series{Name: "acknowledged"})
	t.add(c, "received", document.Series{Name: "received", Color: 1})
	if t.saved.Run.Backlog != nil {
		t.addRare(c, "replayed", document.Series{Name: "replayed", Color: 2})
	}
	t.addRare(c, "failed", document.Series{Name: "failed", Color: document.Red, Dash: 2})
}

func (t *moments) backlog(c *document.Chart) {
	t.overTime(c, document.Count, document.Linear)
	t.add(c, "backlog", document.Series{Name: "backlog", Color: 1})
	t.add(c, "in_flight", document.Series{Name: "in flight"})
}

func (t *moments) latency(c *document.Chart) {
	t.overTime(c, document.Nanos, document.Log)
	for _, s := range []struct {
		series result.Series
		name   string
		color  int
	}{{publishSeries(&t.saved.Run), "publish", 0}, {result.EndToEnd, "end-to-end", 1}} {
		if s.series == result.Send {
			s.name, s.color = "send", document.Grey
		}
		t.add(c, string(s.series)+"_p50",
			document.Series{Name: s.name + " p50", Color: s.color, Faint: true})
		t.add(c, string(s.series)+"_p99", document.Series{Name: s.name + " p99", Color: s.color})
		t.add(c, string(s.series)+"_max",
			document.Series{Name: s.name + " max", Color: s.color, Dash: 2})
	}
}

func (t *moments) ownError(c *document.Chart) {
	t.overTime(c, document.Nanos, document.Log)
	t.add(c, "schedule_lag_p99", document.Series{Name: "schedule lag p99", Color: 3})
	t.add(c, "schedule_lag_max", document.Series{Name: "schedule lag max", Color: 3, Dash: 2})
	t.add(c, "hiccup_p99", document.Series{Name: "hiccup p99", Color: 2})
	t.add(c, "hiccup_max", document.Series{Name: "hiccup max", Color: 2, Dash: 2})
	t.add(c, "gc", document.Series{Name: "longest collection pause", Color: 4, Faint: true})
}

func (t *moments) cpu(c *document.Chart) {
	t.overTime(c, document.Cores, document.Linear)
	t.add(c, "cpu", document.Series{Name: "cores used", Color: 3})
}

// heat draws the map of a series, with faults over it.
func (t *moments) heat(c *document.Chart, h *heat, series result.Series) {
	c.ID += "-" + string(series)
	c.Title += ", " + seriesTitle(series)
	t.overTime(c, document.Nanos, document.Log)
	c.Spans = slices.DeleteFunc(slices.Clone(t.spans), func(s document.Span) bool {
		return s.Tone == "" // a shade below the cells would not be seen
	})
	c.Heat = h.grid()
}

// grid is the map as a chart has it.
func (m *heat) grid() *document.Heat {
	if m == nil {
		return nil
	}
	rows := 0
	for i := 0; i+2 < len(m.Cells); i += 3 {
		rows = max(rows, int(m.Cells[i+1])+1)
	}
	g := &document.Heat{}
	places := make([]int, len(m.Starts))
	for i, start := range m.Starts {
		if n := len(g.X); n > 0 && g.X[n-1] < start-1e-6 {
			g.X, g.Counts = append(g.X, start), append(g.Counts, nil) // nothing was recorded
		} else if n == 0 {
			g.X = append(g.X, start)
		}
		places[i] = len(g.Counts)
		g.X = append(g.X, max(m.Ends[i], start))
		g.Counts = append(g.Counts, make([]int64, rows))
	}
	least := rows
	for i := 0; i+2 < len(m.Cells); i += 3 {
		g.Counts[places[m.Cells[i]]][m.Cells[i+1]] = m.Cells[i+2]
		least = min(least, int(m.Cells[i+1]))
	}
	for r := least; r <= rows; r++ {
		g.Y = append(g.Y, leastDrawnNs*math.Pow(10, float64(r)/float64(m.PerTen)))
	}
	for i, column := range g.Counts {
		if column != nil {
			g.Counts[i] = column[least:]
		}
	}
	return g
}

// runCurves draws the series of a run by percentile, with the intervals that are known.
func runCurves(c *document.Chart, s *result.Saved, sure within) {
	percentileAxes(c)
	count := int64(math.MaxInt64)
	for i, series := range []result.Series{result.Publish, result.EndToEnd, result.Send} {
		curve := curveOf(s, series)
		if curve == nil {
			continue
		}
		line := curve.line(seriesTitle(series), i)
		if series == result.Send {
			line.Name, line.Color, line.Dash = "send (uncorrected)", document.Grey, 1
		}
		c.Series = append(c.Series, line)
		if w := sure.whiskers(s, series, i); len(w.X) > 0 {
			c.Series = append(c.Series, w)
		}
		count = min(count, curve.Count)
	}
	c.Spans = fewMessages(count)
}

func percentileAxes(c *document.Chart) {
	zero := 0.0
	c.X = document.Axis{Unit: document.Percentile, Scale: document.Tail, From: &zero}
	c.Y = document.Axis{Unit: document.Nanos, Scale: document.Log}
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

// line is the curve over percentiles.
func (c *curve) line(name string, color int) document.Series {
	out := document.Series{Name: name, Color: color, Y: document.Values(c.Ns)}
	for i := range c.Ns {
		out.X = append(out.X, 100*(1-math.Pow(10, -float64(i)/curveSteps)))
	}
	return out
}

// whiskers are the intervals of the percentiles of a series that have one.
func (w within) whiskers(s *result.Saved, series result.Series, color int) document.Series {
	out := document.Series{Color: color, Alone: true}
	for _, percentile := range []float64{50, 99} {
		span, ok := w.of(series, percentile)
		ns, known := s.Run.Summary.Series(series).At(percentile)
		if !ok || !known {
			continue
		}
		out.X, out.Y = append(out.X, percentile), append(out.Y, float64(ns))
		out.Low = append(out.Low, float64(span.LowNs))
		out.High = append(out.High, float64(span.HighNs))
		out.Marks = append(out.Marks, document.Mark{At: len(out.X) - 1,
			Tip: seriesTitle(series) + " " + percentileName(percentile) + ", 95% interval " +
				micro(span.String())})
	}
	return out
}

// runSpans are the phases of a run that are not measured, its faults and its other events.
func runSpans(s *result.Saved) []document.Span {
	names := map[result.PhaseName]string{result.PhaseWarmup: "warm-up",
		result.PhaseDrain: "drain"}
	var out []document.Span
	for _, p := range s.Run.Phases {
		if p.Name != result.PhaseMeasure && p.EndNs > p.StartNs && len(out) < maxSpans {
			out = append(out, document.Span{From: float64(p.StartNs) / 1e9,
				To: float64(p.EndNs) / 1e9, Words: names[p.Name]})
		}
	}
	if b := s.Run.Backlog; b != nil {
		if during, read := b.Stretch(result.During); read {
			out = append(out, document.Span{From: float64(during.StartNs) / 1e9,
				To: float64(during.EndNs) / 1e9, Words: "catching up"})
		}
	}
	out = append(out, faultSpans(s, 0)...)
	for _, e := range s.Events {
		if e.Kind != "phase" && e.Kind != "fault" && len(out) < maxSpans {
			at := float64(e.AtNs) / 1e9
			out = append(out, document.Span{From: at, To: at, Tone: document.Unsure})
		}
	}
	return out
}

// faultSpans are the faults of a run until they were healed, in seconds since a moment of it.
// A run that ended early has only its events.
func faultSpans(s *result.Saved, since float64) []document.Span {
	var out []document.Span
	add := func(fromNs, toNs int64, words string) {
		if from := float64(fromNs)/1e9 - since; len(out) < maxSpans {
			out = append(out, document.Span{From: from, To: max(float64(toNs)/1e9-since, from),
				Tone: document.Bad, Words: cut(words, 120)})
		}
	}
	for _, f := range s.Run.Faults {
		add(f.StartNs, f.HealedNs, faultTitle(f))
	}
	for _, e := range s.Events {
		if e.Kind == "fault" && len(s.Run.Faults) == 0 {
			add(e.AtNs, e.AtNs, clean(e.Sentence))
		}
	}
	return out
}

// lasted is the start and the end of the time with figures, in seconds.
func lasted(s *result.Saved) (from, to float64) {
	first, last := int64(math.MaxInt64), int64(0)
	see := func(start, end int64) { first, last = min(first, start), max(last, end) }
	for _, i := range s.Intervals {
		see(i.StartNs, i.EndNs)
	}
	for _, l := range s.Latency {
		see(l.StartNs, l.EndNs)
	}
	for _, r := range s.Resources {
		see(r.StartNs, r.EndNs)
	}
	return float64(max(min(first, last), 0)) / 1e9, float64(last) / 1e9
}
