package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const fixtureStudy = `
name: fixture-2020
title: "Two systems, <b>compared</b>"
question: Which of the two carries more | is quicker?
source: a fixture, 2020
testbed: [machines of their own]
missing: [all of it shares one machine]
targets:
  - {name: quick, system: kafka}
  - {name: slow, system: pulsar}
  - {name: gone, system: elsewhere, unavailable: there is no driver for it}
workloads:
  - name: load
    set: {partitions: 100}
    smoke: {partitions: 12}
    rate: 10k
rates: [{name: 10k, published: 10k/s, share: 50%, table: peak, at: [quick, slow]}]
tables:
  - name: peak
    title: Peak stable throughput
    from: table 1
    measure: peak
    workload: load
    figures: [peak_bytes]
    axes: [{name: system, values: [{name: quick, label: Quick, target: quick}, {name: slow, target: slow, set: {durability: 1}}, {name: gone, target: gone}]}]
    published: {quick: 605MB/s, slow: 300MB/s, gone: ~107MB/s}
  - name: latency
    title: Latency by partitions
    from: figure 2
    measure: run
    workload: load
    figures: [e2e.p99, e2e.max]
    axes:
      - {name: partitions, values: [{name: 100}, {name: 5000, set: {partitions: 5000}, smoke: {partitions: 60}}, {name: 10000, set: {partitions: 10000}, leave_out: [smoke]}]}
      - {name: system, values: [{name: quick, label: Quick, target: quick}, {name: slow, target: slow}]}
    published: {"100, quick": 5ms / 90ms, "100, slow": ~25ms / -, "5000, quick": 79236ms / -}
claims:
  - {says: the quick one carries more, table: peak, figure: peak_bytes, of: quick, to: slow, at_least: 1.5}
  - {says: its p99 is half of the slow one's, table: latency, figure: e2e.p99, of: "100, quick", to: "100, slow", at_most: 0.5}
  - {id: F3, says: its p99 grows with partitions, table: latency, figure: e2e.p99, of: "5000, quick", to: "100, quick", at_least: 10}
  - {id: F3, says: and more than the slow one's, table: latency, figure: e2e.p99, of: "5000, quick", to: "5000, slow", at_least: 1}
  - {id: F4, says: it is cheap, not_asked: nothing has a price; it takes one}
qualities:
  - {name: ordering, probes: [order in a partition, global order]}
  - {name: scaling out}
`

// measuredStudy is a study and its measurements: the shared CPU limited its peaks; one of its runs
// was kept, one failed and one is missing.
func measuredStudy(t *testing.T) (*study.Study, *study.Plan, []study.Measured) {
	t.Helper()
	s, err := study.Parse("fixture.yaml", []byte(fixtureStudy))
	if err != nil {
		t.Fatal(err)
	}
	scale, _ := study.FindScale(study.Smoke)
	p, err := study.NewPlan(s, scale, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := study.Prepare(s, p, described, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	p.StartedAt = time.Date(2026, 11, 21, 10, 15, 2, 0, time.UTC)
	p.Asked.Command = []string{"plimsoll", "study", "run", "<b>"}
	measured := make([]study.Measured, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		switch c.Table + " " + c.At {
		case "peak quick":
			measured[i].Search = searched("quick")
			measured[i].Trials = perCore(120_000, 122_000, 118_000)
			if c.Equal > 0 { // what the first system costs at the level of the second
				measured[i].Trials = perCore(14_000, 14_500, 14_100)
				measured[i].Search.Bracket.StableRate /= 8
				measured[i].Search.Bracket.UnstableRate /= 8
			}
			c.State, c.Run = experiment.Done, "2026-11-21T101502-peak-quick"
		case "peak slow":
			measured[i].Search = searched("slow")
			measured[i].Trials = perCore(30_000, 29_500, 30_500)
			measured[i].Search.Bracket.StableRate /= 4
			measured[i].Search.Bracket.UnstableRate /= 4
			c.State, c.Run = experiment.Done, "2026-11-21T101602-peak-slow"
		case "latency 100, quick", "latency 100, slow":
			run := *small.load(t)
			verdict.JudgeSaved(&run)
			measured[i].Run = &run
			c.State, c.Run = experiment.Done, "run-of-"+strings.TrimPrefix(c.At, "100, ")
		case "latency 5000, quick":
			c.State, c.Reason = experiment.Failed, "the disk\x1b is <full>"
		}
	}
	return s, p, measured
}

// studied is the result of the fixture's study.
func studied(t *testing.T) StudyResult {
	t.Helper()
	r, err := NewStudyResult(measuredStudy(t))
	if err != nil {
		t.Fatal(err)
	}
	// The results of the last probes change with every make probes.
	r.Outcome.Columns = []string{"kafka", "pulsar"}
	for i := range r.Outcome.Qualities {
		if r.Outcome.Qualities[i].Probe != "" {
			r.Outcome.Qualities[i].Answers = []string{"yes", "conditional"}
		}
	}
	return r
}

// described makes jobs that nothing is asked of but their descriptions.
func described(w *workload.Workload, t *target.Target, runs string) (*bench.Job, error) {
	s, err := systems.Registry().Get(t.System)
	if err != nil {
		return nil, err
	}
	settings, err := system.Resolve(s.Describe().Settings, t.Settings)
	return &bench.Job{Workload: w, Target: t, System: s, Settings: settings, Runs: runs}, err
}

// perCore are trials that carried so many messages per second of the servers' CPU time.
func perCore(all ...float64) (out []*result.Run) {
	for _, per := range all {
		r := &result.Run{Load: result.Load{MessageBytes: 1024}}
		r.Summary.AchievedRate, r.Observation.MsgsPerCoreSecond = 1_000, per
		out = append(out, r)
	}
	return out
}

func TestStudyGolden(t *testing.T) {
	r := studied(t)
	all := Studies([]StudyResult{r})
	for _, format := range all.Formats() {
		var b bytes.Buffer
		if err := all.Write(&b, format, document.Layout{}); err != nil {
			t.Fatal(err)
		}
		got := b.Bytes()
		if format == "html" {
			// Its style and script are held by nothing but eyes.
			_, body, begins := bytes.Cut(got, []byte("<main>"))
			body, _, ends := bytes.Cut(body, []byte("</main>"))
			if !begins || !ends {
				t.Fatal("the page has no main part")
			}
			got = body
		}
		golden(t, "study."+format, got)
		for _, bad := range []string{"<b>compared", "<full>", "\x1b", "NaN", "Inf", "ZgotmplZ"} {
			if format != "json" && format != "table" && strings.Contains(string(got), bad) {
				t.Errorf("%s holds %q", format, bad)
			}
		}
	}
	var plan bytes.Buffer
	if err := document.Terminal(&plan, StudyPlan(r), document.Layout{Width: 110}); err != nil {
		t.Fatal(err)
	}
	golden(t, "study.plan", plan.Bytes())
	if err := all.Write(&plan, "csv", document.Layout{}); err == nil ||
		!strings.Contains(err.Error(), "table, html, md or json") {
		t.Error(err)
	}
	if err := all.Write(&plan, "htlm", document.Layout{}); err == nil ||
		!strings.Contains(err.Error(), `did you mean "html"?`) {
		t.Error(err)
	}
	if r.Measured[0].Search.Side.Resource != result.ResourceCPU {
		t.Error("the first peak is not limited by cores")
	}
}

// The warnings of the runs and searches below a study are on its page, in its picture and its JSON,
// the gravest first, each once.
func TestStudiesHaveTheWarningsOfTheirRuns(t *testing.T) {
	r := studied(t)
	runs := 0
	for i := range r.Measured {
		m := &r.Measured[i]
		if m.Run == nil {
			continue
		}
		runs++
		m.Run.Run.Warnings = []result.Warning{{Code: verdict.NoisyMachine,
			Sentence: fmt.Sprintf("a noisy machine: others used %d%% of its CPU", 20+runs)}}
		if runs == 2 {
			m.Run.Run.Warnings = append(m.Run.Run.Warnings, result.Warning{Code: verdict.Loss,
				Sentence: "3 acknowledged messages never arrived"})
		}
	}
	const noisy = "a noisy machine: others used 21% of its CPU"
	all := Studies([]StudyResult{r})
	for _, format := range []string{"md", "html", "json", "table"} {
		var b bytes.Buffer
		if err := all.Write(&b, format, document.Layout{Width: 1000}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		lost := strings.Index(text, "3 acknowledged messages never arrived")
		at := strings.Index(text, noisy)
		if lost < 0 || at < lost || strings.Contains(text, "used 22%") {
			t.Errorf("%s: loss at %d, noise at %d", format, lost, at)
		}
		if format == "md" && (!strings.Contains(text, "1 of 4 runs and searches: 3 acknowledged") ||
			!strings.Contains(text, "2 of 4 runs and searches: "+noisy)) {
			t.Error(text)
		}
	}
	if got := gravest(studyLimits(r, nil)); !strings.HasPrefix(got, "1 of 4 runs and searches: 3") {
		t.Error(got)
	}
}

// Every form of a study says which targets were clusters of the user's.
func TestStudiesNameTheClustersOfTheUser(t *testing.T) {
	r := studied(t)
	r.Plan.Own = []study.Own{{Target: "quick", File: "mine.yaml",
		YAML: "system: kafka\nendpoints: [\"broker-1:9092\"]\n"}}
	all := Studies([]StudyResult{r})
	for _, format := range []string{"md", "html", "json", "table"} {
		var b bytes.Buffer
		if err := all.Write(&b, format, document.Layout{Width: 1000}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"broker-1:9092", "mine.yaml"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %s", format, want)
			}
		}
		if format != "json" && !strings.Contains(b.String(),
			"quick: servers that plimsoll did not start") {
			t.Errorf("%s lacks the caution", format)
		}
	}
	var plan bytes.Buffer
	if err := document.Terminal(&plan, StudyPlan(r), document.Layout{Width: 110}); err != nil ||
		!strings.Contains(plan.String(), "quick: servers at broker-1:9092 (mine.yaml)") {
		t.Errorf("%v\n%s", err, plan.String())
	}
}
