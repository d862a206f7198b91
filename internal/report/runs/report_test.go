package runs

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/overview"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

func render(t *testing.T, format string, runs ...*result.Saved) []byte {
	t.Helper()
	return fixture.Written(t, Report(runs), format)
}

// says reports an error for each text that a report on runs lacks in one of some formats.
func says(t *testing.T, formats string, runs []*result.Saved, texts ...string) {
	t.Helper()
	for format := range strings.FieldsSeq(formats) {
		fixture.Says(t, format, render(t, format, runs...), texts...)
	}
}

// hasBars reports whether a row has a bar.
func hasBars(r document.Row) bool {
	return slices.ContainsFunc(r.Values, func(c document.Cell) bool { return c.Bar > 0 })
}

func TestGolden(t *testing.T) {
	one := fixture.Small.Load(t)
	lossy := fixture.Small
	lossy.Name, lossy.System, lossy.MedianU, lossy.StallAt, lossy.Lost = "sim-lossy", "sim", 900, 0,
		3
	kafka, inside := fixture.KafkaThree.Load(t), fixture.NatsInside.Load(t)
	limited := fixture.KafkaThree
	limited.Name, limited.Level = "kafka-at-a-lower-level-on-a-machine-too-slow-to-offer-the-load",
		2
	unranked := limited.Load(t)
	unranked.Run.Summary.Generator.Limited, unranked.Run.Summary.Generator.OwnLagP99Ns = true, 9e9
	bounded, old, imported := fixture.Bounded(t), earlier(t), fromOMB(t)
	for _, c := range []struct {
		name, formats string
		runs          []*result.Saved
	}{
		{"one", "table md csv intervals resources json benchfmt html", []*result.Saved{one}},
		{"two", "table md csv benchfmt html", []*result.Saved{one, lossy.Load(t)}},
		{"three", "html", []*result.Saved{kafka, inside, one}},
		{"none", "html", nil},
		{"crashed", "table md csv benchfmt html", []*result.Saved{fixture.Crashed(t)}},
		{"cost", "table md csv resources json benchfmt", []*result.Saved{kafka, inside}},
		{"cost", "html", []*result.Saved{kafka}},
		{"unranked", "table md", []*result.Saved{kafka, unranked, one}},
		{"bounded", "table md csv json benchfmt html", []*result.Saved{bounded}},
		{"earlier", "table md csv json benchfmt html", []*result.Saved{old}},
		{"bounded-two", "table md", []*result.Saved{bounded, old}},
		{"closed", "table md csv benchfmt", []*result.Saved{closedLoop(t, "loop")}},
		{"imported", "table md csv benchfmt html", imported},
		{"imported-one", "html", imported[:1]},
		{"faults", "table md html", []*result.Saved{fixture.Faulted(t)}},
		{"backlog", "table", []*result.Saved{withBacklog(t, "replay", result.BacklogCaughtUp)}},
		{"backlog", "md", []*result.Saved{withBacklog(t, "drain", result.BacklogNever)}},
	} {
		for format := range strings.FieldsSeq(c.formats) {
			fixture.Golden(t, c.name+"."+format, render(t, format, c.runs...))
		}
	}
}

func TestARunIsAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *result.Run)
		want   []string
	}{
		"sound": {func(*result.Run) {}, []string{"quick carried 19.98k/s; lost 0 of ",
			"; publish p99 "}},
		"lossy": {func(r *result.Run) { r.Ledger.Subscriptions[0].Lost = 3 },
			[]string{"; lost 3 of "}},
		"unanswered": {func(r *result.Run) { r.Counters.Unknown = 7 }, []string{", 7 unanswered"}},
		"limited": {func(r *result.Run) { r.Summary.Generator.Limited = true },
			[]string{"Not to be ranked: limited by plimsoll itself; lower the rate"}},
		"limited by others": {func(r *result.Run) {
			r.Summary.Generator.Limited = true
			r.Warnings = append(r.Warnings, result.Warning{Code: verdict.NoisyMachine})
		}, []string{"limited by plimsoll itself; other programs used the machine: measure again"}},
		"cold": {func(r *result.Run) {
			r.Verdicts = append(r.Verdicts, result.Verdict{Name: verdict.Steady,
				Outcome: result.Broken, Sentence: "cold: its p50 fell"})
		}, []string{"Not to be ranked: cold; measure longer"}},
		"behind": {func(r *result.Run) { r.Summary.OfferedRate = 40_000 },
			[]string{" of 40k/s offered; "}},
		"nothing": {func(r *result.Run) {
			r.State, r.StateReason, r.Summary = result.Failed, "no route", result.Summary{}
		}, []string{"quick: nothing was measured; the run is failed: no route."}},
	} {
		s := fixture.Steady(t, "quick", 300)
		c.change(&s.Run)
		fixture.Says(t, name, runAnswer(s, latency.NewWithin(s)), c.want...)
	}
}

// The brief report of a run fits a terminal of 80 x 24 in 15 lines, that of several in 7 and two
// for each. The most that can be said of a run leaves room for the lines after it.
func TestBriefReportsFitAScreen(t *testing.T) {
	lossy := fixture.Small
	lossy.Name, lossy.Lost = "lossy", 3
	three := []*result.Saved{fixture.Small.Load(t), lossy.Load(t), fixture.Steady(t, "quick", 300)}
	worst := lossy.Load(t)
	worst.Run.Load.Producers, worst.Run.Load.Consumers, worst.Run.Connections = 8000, 8, 66
	worst.Run.Summary.Generator.Limited = true
	worst.Run.Ledger.Subscriptions[0].Sharing = &result.Sharing{Consumers: 8, Idle: 4,
		Fairness: 0.49}
	for i := range worst.Run.Verdicts {
		v := &worst.Run.Verdicts[i]
		v.Outcome, v.Sentence = result.Broken, strings.Repeat("what is wrong, in many words; ", 9)
		worst.Run.Warnings = append(worst.Run.Warnings, result.Warning{Code: v.Name,
			Sentence: v.Sentence})
	}
	worst.Run.Warnings = append(worst.Run.Warnings, result.Warning{Code: verdict.CodeIdle,
		Sentence: "4 of 8 consumers received nothing"})
	for name, c := range map[string]struct {
		runs []*result.Saved
		most int
	}{"one": {three[:1], 15}, "lossy": {three[1:2], 15}, "kafka": {[]*result.Saved{
		fixture.KafkaThree.Load(t)}, 15}, "three": {three, 7 + 2*3},
		"worst": {[]*result.Saved{worst}, 18}} {
		var b bytes.Buffer
		if err := Report(c.runs).Write(&b, "table", document.Layout{Width: 80,
			Brief: true}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		if len(lines) > c.most {
			t.Errorf("%s has %d lines, at most %d:\n%s", name, len(lines), c.most, b.String())
		}
		for _, l := range lines {
			if utf8.RuneCountInString(l) > 80 {
				t.Errorf("%s: too wide: %s", name, l)
			}
		}
		fixture.Golden(t, "brief-"+name+".txt", b.Bytes())
	}
}

// A producer is not the same thing on every system: the forms for people say on how many
// connections the clients are.
func TestConnectionsAreCounted(t *testing.T) {
	s := fixture.Small.Load(t)
	s.Run.Load.Producers, s.Run.Load.Consumers, s.Run.Connections = 8000, 2, 66
	says(t, "table html md", []*result.Saved{s},
		"8,000 producers, 2 consumers on 66 connections to the servers")
	says(t, "json", []*result.Saved{s}, `"connections": 66`)
	other := fixture.Small.Load(t)
	other.Run.Connections = 24_000
	says(t, "md", []*result.Saved{s, other},
		"| connections of producers and consumers | 66 | 24,000 |")
}

// An overloaded run says so wherever runs are compared, and its bars are those of its rates only.
func TestOverloadedRunsAreRankedByTheirRatesOnly(t *testing.T) {
	fine, over := fixture.Small.Load(t), fixture.Small.Load(t)
	over.Run.Summary.OfferedRate, over.Run.Summary.AchievedRate = 20_000, 17_040
	over.Run.Verdicts = []result.Verdict{{Name: verdict.Rate, Outcome: result.Broken,
		Sentence: "20k/s was offered and 17.04k/s acknowledged in time (85.2%)"}}
	both := []*result.Saved{fine, over}
	for _, r := range row.Figures(both) {
		switch {
		case r.Name == "acknowledged" && !hasBars(r):
			t.Error("the rates have no bars")
		case r.Section == "Publish latency" && hasBars(r):
			t.Errorf("%s has bars: %v", r.Name, r.Values)
		}
	}
	says(t, "table md html post benchfmt", both,
		"overloaded (it acknowledged 85.2% of the offered rate)")
	fixture.Says(t, "the post", Poster(both).Post(), "(not ranked) |")
	fixture.SaysNot(t, "the post", Poster(both).Post(), "17.04k/s (not ranked) |")
	fixture.Says(t, "the last sentence", overview.Closing(both),
		"the offered rate was not reached: 20k/s was offered")
}

// Every format shows the intervals of a long run's percentiles.
func TestPercentilesHaveIntervals(t *testing.T) {
	long := fixture.Small
	long.Seconds, long.StallAt = 60, 0
	s := long.Load(t)
	fixture.Says(t, "a run of a minute", latency.NewWithin(s).Sentence(), "publish p50 6",
		"publish p99 1.", "end-to-end p99 ", "another run may differ by more")
	says(t, "table md html", []*result.Saved{s}, "from the variation within this run")
	if got := latency.NewWithin(fixture.Small.Load(t)).Sentence(); got != "" {
		t.Errorf("a run of %d s says %q", fixture.Small.Seconds, got)
	}
}
