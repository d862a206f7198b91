package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
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
	s := fixture.Small.Load(t)
	all := Run(s, latency.NewWithin(s))
	if got := seriesNames(theChart(t, all, "throughput")); got != "due, acknowledged, received" {
		t.Errorf("throughput shows %s", got)
	}
	curve := theChart(t, all, "curve")
	publish := s.Total(result.Publish)
	if line := curve.Series[0]; line.Y[len(line.Y)-1] != float64(publish.Max()) {
		t.Errorf("the curve ends at %v, the greatest latency is %d", line.Y[len(line.Y)-1],
			publish.Max())
	}
	if theChart(t, all, "heat-publish").Heat == nil {
		t.Error("there is no heat map")
	}
	for _, c := range all {
		if c.Empty == "" && c.SVG() == "" || c.Label == "" {
			t.Errorf("%s has no drawing or no words", c.ID)
		}
	}
}

func TestChartsOfRunsWithoutIntervalsSayWhy(t *testing.T) {
	s := fixture.Small.Load(t)
	s.Intervals, s.Latency, s.Resources = nil, nil, nil
	for _, c := range Run(s, latency.Within{}) {
		if c.Empty == "" || !strings.Contains(c.SVG(), "No ") {
			t.Errorf("%s: %s", c.ID, c.SVG())
		}
	}
	if charts, _, _ := Usage(s); charts != nil {
		t.Errorf("%d charts of nothing", len(charts))
	}
}

func TestHostileTextStaysTextInCharts(t *testing.T) {
	s := fixture.Hostile(t)
	all := Run(s, latency.Within{})
	more, _, _ := Usage(s)
	all = append(append(all, more...), Comparison([]*result.Saved{s, fixture.Small.Load(t)})...)
	search := fixture.Searched("</script><script>alert(1)</script>")
	all = append(append(all, Peak(search)...), Knees([]*peak.Saved{search, search})...)
	for _, c := range all {
		for _, wrong := range []string{"<script", "<img", "\x1b"} {
			if strings.Contains(c.SVG(), wrong) {
				t.Errorf("%s holds %q", c.ID, wrong)
			}
		}
	}
}

// The line of a knee connects the stable trials, one for each rate; unstable ones are crosses.
func TestTheKneeTellsStableFromBeyond(t *testing.T) {
	search := fixture.Searched("sim")
	all := Knees([]*peak.Saved{search})
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
	for i := range search.Trials {
		if v := &search.Trials[i].Verdict; !v.Stable {
			v.Clauses = []verdict.Clause{{Name: verdict.ClauseGenerator, Outcome: result.Broken}}
		}
	}
	if got := seriesNames(Knees([]*peak.Saved{search})[0]); got != "p99" {
		t.Errorf("where plimsoll was the limit, the knee shows %s", got)
	}
}

// A drain that is much longer than the window takes a quarter of the time axis at most. Words say
// so, and the table below each chart has the rest.
func TestALongDrainLeavesRoomForTheWindow(t *testing.T) {
	s := fixture.Small.Load(t)
	if _, _, long := longDrain(s); long || *timeAxis(s).To != 12 || Sentence(s) != "" {
		t.Errorf("a short drain is cut at %v: %s", *timeAxis(s).To, Sentence(s))
	}
	last := s.Intervals[len(s.Intervals)-1]
	for last.EndNs < 71e9 {
		last.StartNs, last.EndNs = last.EndNs, last.EndNs+1e9
		s.Intervals = append(s.Intervals, last)
	}
	s.Run.Phases[len(s.Run.Phases)-1].EndNs = last.EndNs
	overlaid := Comparison([]*result.Saved{s, fixture.Small.Load(t)})
	for _, test := range []struct {
		chart *document.Chart
		to    float64
	}{{theChart(t, Run(s, latency.Within{}), "throughput"), 11 * 4.0 / 3},
		{theChart(t, overlaid, "compare-throughput"), 11*4.0/3 - 3}} {
		if to := *test.chart.X.To; to != test.to {
			t.Errorf("%s ends at %v, want %v", test.chart.ID, to, test.to)
		}
		rows := test.chart.Table().Rows
		if name := rows[len(rows)-1].Name; !strings.Contains(name, "1m") {
			t.Errorf("the table of %s ends at %s", test.chart.ID, name)
		}
	}
	if got := Sentence(s); !strings.Contains(got, "The drain lasted 1m") ||
		!strings.Contains(got, "end 3.7s after its start") {
		t.Errorf("the page says %q", got)
	}
	if note := theChart(t, overlaid, "compare-throughput").Note; !strings.Contains(note,
		"the beginning of a long drain") {
		t.Errorf("the comparison says %q", note)
	}
}

// Charts draw no bound as a point.
func TestChartsLeaveBoundsOut(t *testing.T) {
	s := fixture.Bounded(t)
	c := curveOf(s, result.Publish)
	if c.count != 400_000+6015 {
		t.Errorf("the curve is of %d messages", c.count)
	}
	// 1.5% have no latency: the curve ends near 1/(1-q) = 66.
	if last := math.Pow(10, float64(len(c.y)-1)/curveSteps); last > 67.6 || last < 55 {
		t.Errorf("the curve ends at 1/(1-q) = %v", last)
	}
	for _, v := range c.y {
		if v >= 29e9 {
			t.Errorf("the curve has a point of %v ns", v)
		}
	}
	i := result.Interval{StartNs: 0, EndNs: 1e9, Latency: s.Run.Summary.Latency}
	for name, l := range map[string]line{"p50": percentileLine(result.Publish, 50),
		"p99": percentileLine(result.Publish, 99), "max": maxLine(result.Publish)} {
		if v := l(i, 1); math.IsNaN(v) != (name != "p50") {
			t.Errorf("%s is drawn at %v", name, v)
		}
	}
	if text := latency.Uncorrected(&s.Run); strings.Contains(text, "At p99 ") {
		t.Errorf("bounds are compared: %s", text)
	}
}

func TestHeatCountsEachMessageOnce(t *testing.T) {
	s := fixture.Small.Load(t)
	for _, intervals := range []int{0, 400} {
		if intervals > 0 {
			s = fixture.Long(intervals)
		}
		m, want := newHeat(s, result.Publish), int64(0)
		for _, l := range s.Latency {
			if l.Series == result.Publish {
				want += l.Histogram.TotalCount()
			}
		}
		got := int64(0)
		for _, column := range m.Counts {
			for _, n := range column {
				got += n
			}
		}
		if got != want || len(m.Counts) > heatColumns || len(m.X) != len(m.Counts)+1 {
			t.Errorf("%d of %d messages in %d columns", got, want, len(m.Counts))
		}
	}
}

func TestSweepPlaces(t *testing.T) {
	axes := func(counts ...int) (out []sweep.Axis) {
		for _, n := range counts {
			out = append(out, sweep.Axis{Values: make([]string, n)})
		}
		return out
	}
	for _, c := range []struct {
		counts []int
		want   string
	}{{[]int{3}, "0 -1 []"}, {[]int{2, 5}, "1 0 []"}, {[]int{7, 8}, "1 -1 [0]"},
		{[]int{2, 9, 3}, "1 2 [0]"}, {[]int{3, 3}, "0 1 []"}} {
		p := placesOf(axes(c.counts...))
		if got := fmt.Sprint(p.along, p.line, p.panels); got != c.want {
			t.Errorf("%v: %s, want %s", c.counts, got, c.want)
		}
	}
}

func TestPagesOfLongRunsSayThatLinesAreThinned(t *testing.T) {
	if got := Sentence(fixture.Long(3600)); !strings.Contains(got, "3,600 intervals") ||
		!strings.Contains(got, "12s") {
		t.Errorf("the page says of its thinning: %q", got)
	}
}

func TestManyProcessesAreSummedUp(t *testing.T) {
	s := fixture.KafkaThree.Load(t)
	for k := range s.Resources {
		r := &s.Resources[k]
		r.Processes = nil
		for i := range 40 {
			r.Processes = append(r.Processes,
				result.ProcessUse{Name: strings.Repeat("n", i+1), CPUSeconds: 1})
		}
		r.Processes = append(r.Processes, result.ProcessUse{Name: result.Self, CPUSeconds: 0.5})
	}
	s.Run.Observation.Servers = nil
	charts, _, _ := Usage(s)
	lines := charts[0].Series
	if len(lines) != maxMembers+1 || lines[maxMembers-1].Name != "32 others, summed" ||
		lines[maxMembers].Name != "plimsoll" {
		t.Fatalf("lines %s", seriesNames(charts[0]))
	}
	if got := lines[maxMembers-1].Y[0]; got != 32 {
		t.Errorf("32 processes of one core used %v cores", got)
	}
}

// plimsoll's own processes on hosts are one line, beside the servers'.
func TestHostsAreOneLine(t *testing.T) {
	s := fixture.KafkaThree.Load(t)
	for i, host := range []string{"a", "b", "c"} {
		s.Run.System.Hosts = append(s.Run.System.Hosts, result.Host{Name: host})
		for k := range s.Resources {
			r := &s.Resources[k]
			r.Processes = append(r.Processes, result.ProcessUse{Name: result.HostProcess(host),
				CPUSeconds: float64(i + 1)})
		}
	}
	charts, _, _ := Usage(s)
	lines := charts[0].Series
	at := len(lines) - 2
	if len(lines) != 5 || lines[at].Name != "plimsoll on the hosts, summed" {
		t.Fatalf("lines %s", seriesNames(charts[0]))
	}
	seconds := float64(s.Resources[0].EndNs-s.Resources[0].StartNs) / 1e9
	if got, want := lines[at].Y[0], 6/seconds; got != want {
		t.Errorf("three hosts used %v cores, want %v", got, want)
	}
}
