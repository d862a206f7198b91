package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/result"
)

func theChart(t *testing.T, all []*document.Chart, id string) *document.Chart {
	t.Helper()
	at := slices.IndexFunc(all, func(c *document.Chart) bool { return c.ID == id })
	if at < 0 {
		t.Fatalf("no chart %s", id)
	}
	return all[at]
}

// names of the series of a chart, in order.
func seriesNames(c *document.Chart) string {
	var out []string
	for _, s := range c.Series {
		out = append(out, s.Name)
	}
	return strings.Join(out, ", ")
}

func TestARunsChartsShowWhatItRecorded(t *testing.T) {
	s := small.load(t)
	all := runCharts(s, newWithin(s))
	if got := seriesNames(theChart(t, all, "throughput")); got != "due, acknowledged, received" {
		t.Errorf("throughput shows %s", got)
	}
	curve := theChart(t, all, "curve")
	publish := s.Total(result.Publish)
	if line := curve.Series[0]; line.Y[len(line.Y)-1] != float64(publish.Max()) {
		t.Errorf("the curve ends at %v, the greatest latency is %d", line.Y[len(line.Y)-1],
			publish.Max())
	}
	var counted int64
	for _, column := range theChart(t, all, "heat-publish").Heat.Counts {
		for _, n := range column {
			counted += n
		}
	}
	recorded := int64(0)
	for _, l := range s.Latency {
		if l.Series == result.Publish {
			recorded += l.Histogram.TotalCount()
		}
	}
	if counted != recorded {
		t.Errorf("the heat map counts %d messages, recorded were %d", counted, recorded)
	}
	for _, c := range all {
		if c.Empty == "" && c.SVG() == "" || c.Label == "" {
			t.Errorf("%s has no drawing or no words", c.ID)
		}
	}
}

func TestChartsOfRunsWithoutIntervalsSayWhy(t *testing.T) {
	s := small.load(t)
	s.Intervals, s.Latency, s.Resources = nil, nil, nil
	for _, c := range runCharts(s, within{}) {
		if c.Empty == "" || !strings.Contains(c.SVG(), "No ") {
			t.Errorf("%s: %s", c.ID, c.SVG())
		}
	}
	if charts, _, _ := usageCharts(s); charts != nil {
		t.Errorf("%d charts of nothing", len(charts))
	}
}

func TestHostileTextStaysTextInCharts(t *testing.T) {
	s := hostile(t)
	all := runCharts(s, within{})
	more, _, _ := usageCharts(s)
	all = append(append(all, more...), comparisonCharts([]*result.Saved{s, small.load(t)})...)
	search := searched("</script><script>alert(1)</script>")
	all = append(append(all, peakCharts(search)...), kneeCharts([]*peak.Saved{search, search})...)
	for _, c := range all {
		for _, markup := range []string{c.SVG(), c.Standalone()} {
			for _, wrong := range []string{"<script", "<img", "\x1b"} {
				if strings.Contains(markup, wrong) {
					t.Errorf("%s holds %q", c.ID, wrong)
				}
			}
		}
	}
}

// The line of a knee connects the stable trials, one for each rate; unstable ones are crosses.
func TestTheKneeTellsStableFromBeyond(t *testing.T) {
	search := searched("sim")
	all := kneeCharts([]*peak.Saved{search})
	if len(all) != 2 {
		t.Fatalf("%d charts", len(all))
	}
	knee := all[0]
	if got := seriesNames(knee); got != "p99, p99, unstable" {
		t.Errorf("the knee shows %s", got)
	}
	stable, beyond := knee.Series[0], knee.Series[1]
	if slices.Max(stable.X) != search.Bracket.StableRate ||
		slices.Min(beyond.X) != search.Bracket.UnstableRate {
		t.Errorf("stable up to %v, unstable from %v; the bracket is %+v", slices.Max(stable.X),
			slices.Min(beyond.X), search.Bracket)
	}
	if !slices.IsSorted(stable.X) || len(slices.Compact(slices.Clone(stable.X))) != len(stable.X) {
		t.Errorf("the line goes over %v", stable.X)
	}
	for _, m := range beyond.Marks {
		if !m.Cross {
			t.Errorf("a trial beyond the peak is no cross: %+v", m)
		}
	}
	if line := knee.Spans[0]; line.From != search.Bracket.StableRate ||
		*line.Color != stable.Color {
		t.Errorf("the line of the highest stable rate is %+v", line)
	}
}

func TestPostersSayWhatLimitsThem(t *testing.T) {
	one, kafka := small.load(t), kafkaThree.load(t)
	single := RunsPoster([]*result.Saved{one})
	if single.Question != "How does nats carry 20k/s of 1KB messages?" || single.Chart == nil ||
		len(single.Figures) < 3 || single.Command == "" {
		t.Errorf("one run: %+v", single)
	}
	one.Run.Asked.Command = []string{"/bin/plimsoll", "run", "--warm", "auto 1m", "--runs", "here"}
	if got := RunsPoster([]*result.Saved{one}).Command; got != "plimsoll run --warm 'auto 1m'" {
		t.Errorf("the command is %s", got)
	}
	one.Run.Summary.Generator.Limited = true
	if p := RunsPoster([]*result.Saved{one}); !strings.Contains(p.Limits, "limited by plimsoll") {
		t.Errorf("a run that plimsoll limited: %q", p.Limits)
	}
	p := RunsPoster([]*result.Saved{kafka, one})
	if !strings.Contains(p.Limits, "not comparable") {
		t.Errorf("runs at different levels: %q", p.Limits)
	}
	for _, f := range p.Figures {
		if len(f.Values) != len(p.Systems) {
			t.Errorf("%s has %d values of %d systems", f.Name, len(f.Values), len(p.Systems))
		}
	}
	search := searched("sim")
	peaks := SearchesPoster([]*peak.Saved{search})
	if got := peaks.Figures[0].Values[0]; got != rate(search.Bracket.StableRate) {
		t.Errorf("the peak is %s", got)
	}
	if peaks.Chart.ID != "knee-publish" || peaks.Limits == "" {
		t.Errorf("the poster of a peak: %s, %q", peaks.Chart.ID, peaks.Limits)
	}
	for _, empty := range []*document.Poster{RunsPoster(nil), SearchesPoster(nil)} {
		if empty.SVG() == "" || empty.Post() == "" {
			t.Error("no poster of nothing")
		}
	}
}

// A drain that is much longer than the window takes a quarter of the time axis at most. Words say
// so, and the table below each chart has the rest.
func TestALongDrainLeavesRoomForTheWindow(t *testing.T) {
	s := small.load(t)
	if _, _, long := longDrain(s); long || *timeAxis(s).To != 12 || chartsSentence(s) != "" {
		t.Errorf("a short drain is cut at %v: %s", *timeAxis(s).To, chartsSentence(s))
	}
	last := s.Intervals[len(s.Intervals)-1]
	for last.EndNs < 71e9 {
		last.StartNs, last.EndNs = last.EndNs, last.EndNs+1e9
		s.Intervals = append(s.Intervals, last)
	}
	s.Run.Phases[len(s.Run.Phases)-1].EndNs = last.EndNs
	overlaid := comparisonCharts([]*result.Saved{s, small.load(t)})
	for _, test := range []struct {
		chart *document.Chart
		to    float64
	}{{theChart(t, runCharts(s, within{}), "throughput"), 11 * 4.0 / 3},
		{theChart(t, overlaid, "compare-throughput"), 11*4.0/3 - 3}} {
		if to := *test.chart.X.To; to != test.to {
			t.Errorf("%s ends at %v, want %v", test.chart.ID, to, test.to)
		}
		rows := test.chart.Table().Rows
		if name := rows[len(rows)-1].Name; !strings.Contains(name, "1m") {
			t.Errorf("the table of %s ends at %s", test.chart.ID, name)
		}
	}
	if got := chartsSentence(s); !strings.Contains(got, "The drain lasted 1m") ||
		!strings.Contains(got, "end 3.7s after its start") {
		t.Errorf("the page says %q", got)
	}
	if note := theChart(t, overlaid, "compare-throughput").Note; !strings.Contains(note,
		"the beginning of a long drain") {
		t.Errorf("the comparison says %q", note)
	}
}
