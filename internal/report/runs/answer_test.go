package runs

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

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
		got := runAnswer(s, latency.NewWithin(s))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
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
