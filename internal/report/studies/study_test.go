package studies

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/poster"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// studied is the result of the fixture's study.
func studied(t *testing.T) Result {
	t.Helper()
	r, err := New(fixture.MeasuredStudy(t))
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

func TestStudyGolden(t *testing.T) {
	r := studied(t)
	all := Report([]Result{r})
	for _, format := range all.Formats() {
		if format == "card.png" {
			continue // the card, drawn by a browser
		}
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
		fixture.Golden(t, "study."+format, got)
		for _, bad := range []string{"<b>compared", "<full>", "\x1b", "NaN", "Inf", "ZgotmplZ"} {
			if format != "json" && format != "table" && strings.Contains(string(got), bad) {
				t.Errorf("%s holds %q", format, bad)
			}
		}
	}
	var plan bytes.Buffer
	if err := document.Terminal(&plan, Plan(r), document.Layout{Width: 110}); err != nil {
		t.Fatal(err)
	}
	fixture.Golden(t, "study.plan", plan.Bytes())
	if err := all.Write(&plan, "csv", document.Layout{}); err == nil ||
		!strings.Contains(err.Error(), "table, html, md, json, card, card.png, post or charts") {
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
// the gravest first, each kind once.
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
			Sentence: fmt.Sprintf("a noisy machine: others used %d%% of its CPU", 20+runs)},
			{Code: verdict.Steady, Sentence: fmt.Sprintf("cold: publish p%d fell", 49+runs)}}
		if runs == 1 {
			m.Run.Run.Warnings[1].Sentence = "cold: the servers compiled their own code"
		}
		if runs == 2 {
			m.Run.Run.Warnings = append(m.Run.Run.Warnings, result.Warning{Code: verdict.Loss,
				Sentence: "3 acknowledged messages never arrived"})
		}
	}
	const noisy = "a noisy machine: others used 21% of its CPU"
	all := Report([]Result{r})
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
		if format == "json" && strings.Count(text, `"differ": true`) != 2 {
			t.Errorf("the two kinds whose sentences differ are not marked: %s", text)
		}
		if format == "md" && (!strings.Contains(text, "1 of 4 runs and searches: 3 acknowledged") ||
			!strings.Contains(text, "2 of 4 runs and searches, for example: "+noisy) ||
			!strings.Contains(text, "2 of 4 runs and searches, for example: cold: the servers ")) {
			t.Error(text)
		}
	}
	if got := poster.Gravest(studyLimits(r, nil)); !strings.HasPrefix(got,
		"1 of 4 runs and searches: 3") {
		t.Error(got)
	}
	for i := range r.Plan.Cells { // interrupted: their runs are made again
		r.Plan.Cells[i].State = experiment.Pending
	}
	if got, of := r.warnings(); len(got) > 0 || of > 0 {
		t.Errorf("%d runs of cells that wait: %+v", of, got)
	}
}

// Every form of a study says which targets were clusters of the user's.
func TestStudiesNameTheClustersOfTheUser(t *testing.T) {
	r := studied(t)
	r.Plan.Own = []study.Own{{Target: "quick", File: "mine.yaml",
		YAML: "system: kafka\nendpoints: [\"broker-1:9092\"]\n"}}
	all := Report([]Result{r})
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
	if err := document.Terminal(&plan, Plan(r), document.Layout{Width: 110}); err != nil ||
		!strings.Contains(plan.String(), "quick: servers at broker-1:9092 (mine.yaml)") {
		t.Errorf("%v\n%s", err, plan.String())
	}
}

// A page names the software of each system's servers once, whatever their addresses.
func TestAPageNamesTheServers(t *testing.T) {
	of := func(system string, servers ...string) *result.Run {
		return &result.Run{System: result.System{Name: system, Servers: servers}}
	}
	pulsar := "broker 127.1.2.%d:8080 runs Pulsar 4.0.6"
	r := Result{Measured: []study.Measured{
		{Run: &result.Saved{Run: *of("pulsar", fmt.Sprintf(pulsar, 1), fmt.Sprintf(pulsar, 2))}},
		{Run: &result.Saved{Run: *of("pulsar", fmt.Sprintf(pulsar, 3))}},
		{Trials: []*result.Run{of("kafka", "broker 1 Kafka 4.3, by its protocol"), of("kafka")}},
		{},
	}}
	var got []string
	for _, f := range r.servers() {
		got = append(got, f.Value)
	}
	want := []string{"kafka: broker 1 Kafka 4.3, by its protocol",
		"pulsar: broker runs Pulsar 4.0.6"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
