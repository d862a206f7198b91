package runs

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// underWay is a run that is being written, so many seconds after its warm-up began; before that,
// the cluster is not connected yet.
func underWay(t *testing.T, second int) *result.Saved {
	t.Helper()
	run := fixture.Small.Run()
	run.Verdicts, run.Warnings = []result.Verdict{}, []result.Warning{}
	for _, p := range fixture.Small.Phases() {
		if p.StartNs <= int64(second)*1e9 {
			p.EndNs = min(p.EndNs, int64(second)*1e9)
			run.Phases = append(run.Phases, p)
		}
	}
	if second < 0 {
		run.Durability.Level, run.Durability.Evidence = 0, []result.Fact{}
	}
	w, err := result.Create(t.TempDir(), &run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(&run) })
	seed := fixture.Noise(1)
	for k := range second {
		phase := run.Phases[slices.IndexFunc(run.Phases, func(p result.Phase) bool {
			return int64(k)*1e9 < p.EndNs
		})].Name
		var all []*hdr.Histogram
		for s, h := range fixture.Small.Record(&seed, false) {
			h.SetTag(map[bool]string{true: result.WarmupPrefix}[phase == result.PhaseWarmup] +
				string(s))
			h.SetStartTimeMs(run.StartedAt.UnixMilli() + int64(k)*1000)
			h.SetEndTimeMs(run.StartedAt.UnixMilli() + int64(k+1)*1000)
			all = append(all, h)
		}
		if err := w.Interval(fixture.Small.Interval(k, phase, fixture.Small.Record(&seed, false),
			&seed), result.LoggedOf(all)); err != nil {
			t.Fatal(err)
		}
	}
	for {
		s, err := verdict.Read(w.Dir())
		if err != nil || s.Run.State != result.Running {
			t.Fatalf("%+v, %v", s, err)
		}
		if len(s.Intervals) >= second { // readings do not wait for the disk
			return s
		}
		time.Sleep(time.Millisecond)
	}
}

// Of a run without an account, under way or killed, no format counts the messages that are not
// answered.
func TestRefusalsOfARunWithoutAnAccount(t *testing.T) {
	for _, state := range []result.State{result.Running, result.Incomplete} {
		s := underWay(t, 7)
		s.Run.State, s.Run.Counters.Failed = state, 12
		verdict.JudgeSaved(s)
		for _, format := range []string{"html", "md", "table", "benchfmt"} {
			fixture.SaysNot(t, fmt.Sprintf("%s of a run that is %s", format, state),
				render(t, format, s), "never sent", "never answered", "0 unknown", "0 unsent",
				" 0 unknown-msgs", " 0 unsent-msgs")
		}
		says(t, "html md table", []*result.Saved{s}, "12 messages refused")
		rows, err := csv.NewReader(bytes.NewReader(render(t, "csv", s))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if row := rows[1]; row[17] != "12" || row[18]+row[19] != "" {
			t.Errorf("%s: failed, unknown and unsent are %q", state, row[17:20])
		}
	}
}

// A run under way says first how far it is, and nothing that it cannot know yet.
func TestRunUnderWaySaysOnlyWhatIsKnown(t *testing.T) {
	for _, c := range []struct {
		second int
		first  string
		knows  []string // on its page
	}{
		{-1, "The run is starting.", []string{"not read back from the cluster yet"}},
		{2, "Warming up: 2s of 3s.", []string{"Messages per second"}},
		{7, "Measuring: 4s of 8s.", []string{"Publish, p99", "End-to-end, p99",
			"of 20k/s offered", "percentile"}},
		{12, "The load has ended; waiting for outstanding messages for 1s.", nil},
	} {
		for _, format := range []string{"html", "md", "table"} {
			page := string(render(t, format, underWay(t, c.second)))
			text := fixture.Words(page)
			fixture.SaysNot(t, fmt.Sprintf("%s at %d s", format, c.second), page, "did not finish",
				"ended before", "still running", "not accounted", "Nothing was", "nothing was",
				"no message was", "was not asked", ">?</span>", "? unknown", "**unknown**",
				"unknown:", "not observed", "0 unknown", `class="number">–`)
			at := strings.Index(text, c.first)
			if at < 0 {
				t.Errorf("%s at %d s lacks %q:\n%.800s", format, c.second, c.first, text)
			}
			for _, later := range []string{`class="cards"`, `class="warnings`, "on nats", "p99"} {
				if i := strings.Index(text, "<main"); at > 0 && strings.Contains(
					text[max(i, 0):at], later) {
					t.Errorf("%s at %d s: %q comes before the progress", format, c.second, later)
				}
			}
			lead := strings.Index(page, `class="lead"`)
			if chart := strings.Index(page, "<figure"); format == "html" && chart > lead {
				t.Errorf("the page at %d s has its circumstances before its charts", c.second)
			}
			if format == "html" {
				fixture.Says(t, fmt.Sprintf("the page at %d s", c.second), page, c.knows...)
			}
		}
	}
}
