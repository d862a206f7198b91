package runs

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/overview"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// An overloaded run says so wherever runs are compared, and its bars are those of its rates only.
func TestOverloadedRunsAreRankedByTheirRatesOnly(t *testing.T) {
	fine, over := fixture.Small.Load(t), fixture.Small.Load(t)
	over.Run.Summary.OfferedRate, over.Run.Summary.AchievedRate = 20_000, 17_040
	over.Run.Verdicts = []result.Verdict{{Name: verdict.Rate, Outcome: result.Broken,
		Sentence: "20k/s was offered and 17.04k/s acknowledged in time (85.2%)"}}
	for _, r := range row.Figures([]*result.Saved{fine, over}) {
		switch {
		case r.Name == "acknowledged" && len(r.Bars) == 0:
			t.Error("the rates have no bars")
		case r.Section == "Publish latency" && r.Bars != nil:
			t.Errorf("%s has bars: %v", r.Name, r.Bars)
		}
	}
	for _, format := range []string{"table", "md", "html", "post", "benchfmt"} {
		got := string(render(t, format, fine, over))
		if !strings.Contains(strings.Join(strings.Fields(got), " "),
			"overloaded (it acknowledged 85.2% of the offered rate)") {
			t.Errorf("%s does not say that a run was overloaded:\n%s", format, got)
		}
	}
	if post := Poster([]*result.Saved{fine, over}).Post(); strings.Contains(post,
		"17.04k/s (not ranked) |") || !strings.Contains(post, "(not ranked) |") {
		t.Errorf("the post does not mark the latencies alone:\n%s", post)
	}
	if got := overview.Closing([]*result.Saved{fine, over}); !strings.Contains(got,
		"the offered rate was not reached: 20k/s was offered") {
		t.Errorf("the last sentence is %q", got)
	}
}
