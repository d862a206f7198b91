package runs

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/result"
)

// spoil replaces every figure of a run's cost by NaN, an infinity or an absurd value.
func spoil(s *result.Saved) {
	o := &s.Run.Observation
	o.MsgsPerCoreSecond, o.WriteAmplification = math.NaN(), math.Inf(1)
	o.Host.CPUSeconds, o.Host.IOWaitSeconds, o.Host.StealSeconds = math.NaN(), math.Inf(-1), -1
	o.Host.PressureCPU, o.Host.PageCacheBytes = new(math.NaN()), -1
	o.Disks[0].Utilization, o.Disks[0].WriteBytes = math.Inf(1), math.MaxInt64
	for i := range o.Processes {
		p := &o.Processes[i]
		p.CPUSeconds, p.RSSBytes, p.WriteBytes = math.Inf(1), math.MinInt64, new(int64(-5))
	}
	o.Shares = []result.Share{{Resource: "disk", Used: math.NaN(), Limit: math.Inf(1),
		Unit: "bytes_per_s", Share: math.NaN()}, {Unit: "cores"}}
	o.Limits.SequentialWriteBytes, o.Limits.LoopbackBytes = math.NaN(), -1
	for i := range s.Resources {
		s.Resources[i].Host.CPUSeconds = math.NaN()
		s.Resources[i].Disks[0].Utilization = math.Inf(1)
		s.Resources[i].Processes[0].CPUSeconds = math.Inf(-1)
	}
}

// costMarkup is the part of a page on the cost of a run.
func costMarkup(t *testing.T, s *result.Saved) string {
	t.Helper()
	var b bytes.Buffer
	if err := document.HTML(&b, document.Document{Blocks: costBlocks(s)}); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(b.String(), "<main>")
	return body
}

// A figure that one server lacks is unknown for the system. An unknown figure has no row and no
// chart, but a sentence.
func TestWhatIsNotKnownIsLeftOut(t *testing.T) {
	sh := fixture.KafkaThree
	sh.Spends.Uncounted, sh.Spends.Limits = true, false
	s := sh.Load(t)
	c := figure.NewCost(&s.Run)
	if _, ok := c.PerMessage(figure.Syncs); ok {
		t.Error("fsyncs that nobody counted are known")
	}
	fixture.Says(t, "the page", costMarkup(t, s),
		"No chart, because unknown: fsync and fdatasync; msync; Network, sent", "takes root",
		"not calibrated", "No chart, because zero throughout: Read from disk")
	charts, _, _ := chart.Usage(s)
	for _, chart := range charts {
		if strings.Contains(chart.Title, "sync") || strings.Contains(chart.Title, "Network") {
			t.Errorf("there is a chart of %s", chart.Title)
		}
	}
	for _, r := range row.Figures([]*result.Saved{s}) {
		if strings.Contains(r.Name, "fsync") {
			t.Errorf("there is a row %s", r.Name)
		}
	}
	one := s.Run.Observation
	one.Processes[0].Syncs, one.Processes[2].Syncs = new(int64(4)), new(int64(4))
	if _, ok := figure.NewCost(&s.Run).Sum(figure.Syncs); ok {
		t.Error("the fsyncs of two of three servers are taken for those of all")
	}
}

func TestServersInsidePlimsollAreNotToldApart(t *testing.T) {
	s := fixture.NatsInside.Load(t)
	c := figure.NewCost(&s.Run)
	all, ok := c.AllCPU()
	if !c.Embedded || !ok || all <= 0 {
		t.Fatalf("embedded %v, CPU %v", c.Embedded, all)
	}
	if _, ok := c.OwnCPU(); ok {
		t.Error("plimsoll's own CPU is known apart")
	}
	says(t, "html", []*result.Saved{s}, "includes the load generator")
	// Three nodes share the process: what it synced is divided among them.
	if per, _ := c.PerSecond(figure.Syncs); math.Abs(per/c.Nodes()*3-per) > 1e-9 {
		t.Errorf("fsyncs are divided among %v nodes", c.Nodes())
	}
}

func TestRunsThatWereCutShortShowTheirLines(t *testing.T) {
	s := fixture.KafkaThree.Load(t)
	s.Run.State, s.Run.Observation, s.Run.Summary = result.Incomplete, result.Observation{},
		result.Summary{}
	fixture.Says(t, "a page with lines", costMarkup(t, s), "<svg", "no figures")
	fixture.SaysNot(t, "a page without figures", costMarkup(t, s), `class="card`)
	for _, format := range fixture.Texts(export.Formats()) {
		render(t, format, s)
	}
	unobserved := costMarkup(t, fixture.Small.Load(t))
	fixture.Says(t, "a run of which nothing was observed", unobserved, "was not observed")
	fixture.SaysNot(t, "a run of which nothing was observed", unobserved, "<figure")
}

func TestResourcesHaveARowForEachProcessAndSecond(t *testing.T) {
	s := fixture.KafkaThree.Load(t)
	rows, err := csv.NewReader(bytes.NewReader(render(t, "resources", s))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := 1
	for _, r := range s.Resources {
		want += len(r.Processes) + 1 + len(r.Disks)
	}
	if len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
}

// Bars rank, so runs that are not comparable have none, nor has a run that plimsoll itself
// limited.
func TestBarsAreOfRunsThatMayBeRanked(t *testing.T) {
	load := func(change func(*fixture.Shape)) *result.Saved {
		sh := fixture.KafkaThree
		change(&sh)
		return sh.Load(t)
	}
	same, other := load(func(*fixture.Shape) {}), load(func(sh *fixture.Shape) { sh.MedianU = 900 })
	limited := load(func(*fixture.Shape) {})
	limited.Run.Summary.Generator.Limited = true
	publish := func(runs ...*result.Saved) document.Row {
		all := row.Figures(runs)
		return all[slices.IndexFunc(all,
			func(r document.Row) bool { return r.Name == "publish p50" })]
	}
	if v := publish(same, other, limited).Values; v[0].Bar != 100 || v[1].Bar <= 0 ||
		v[1].Bar >= 100 || v[2].Bar > 0 {
		t.Errorf("bars %v", v)
	}
	if r := publish(same, load(func(sh *fixture.Shape) { sh.Level = 2 })); hasBars(r) {
		t.Errorf("runs of two levels have bars %v", r.Values)
	}
	says(t, "html", []*result.Saved{same, limited,
		load(func(sh *fixture.Shape) { sh.Rate = 10_000 })}, "Not to be ranked against one another",
		"workloads differ in rate", "not ranked: limited by plimsoll itself")
}

// The answer comes first, and settings that differ before every figure but those of the overview.
func TestTheAnswerAndWhatDiffersComeFirst(t *testing.T) {
	runs := []*result.Saved{fixture.KafkaThree.Load(t), fixture.NatsInside.Load(t)}
	for format, figures := range map[string]string{"table": "p99.9", "md": "end-to-end p99.9",
		"html": "end-to-end p99.9"} {
		out, before := string(render(t, format, runs...)), -1
		for _, words := range []string{"nats publishes 1.74x (", "min.insync.replicas",
			figures} {
			at := strings.Index(out, words)
			if at <= before {
				t.Errorf("%s: %q at %d, after %d", format, words, at, before)
			}
			before = at
		}
	}
}

func TestPagesOfLongObservedRunsAreBounded(t *testing.T) {
	s := fixture.Long(1500)
	costly := fixture.KafkaThree.Load(t)
	s.Run.Observation = costly.Run.Observation
	for k := range 1500 {
		r := costly.Resources[k%10]
		r.StartNs, r.EndNs = int64(k)*1e9, int64(k+1)*1e9
		s.Resources = append(s.Resources, r)
	}
	if size := len(render(t, "html", s)); size > 1_000_000 {
		t.Errorf("the page has %d bytes", size)
	}
}
