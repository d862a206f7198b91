package report

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Whatever a picture or a post shows, it shows lost, duplicate and unanswered messages, and says
// the gravest thing first, whichever run it is of.
func TestPicturesHideNoLoss(t *testing.T) {
	noisy, lossy := small.load(t), small.load(t)
	noisy.Run.Warnings = []result.Warning{{Code: verdict.NoisyMachine, Sentence: "a noisy machine"}}
	noisy.Run.Counters.Unknown, lossy.Run.Name = 0, "lossy"
	lossy.Run.Ledger.Subscriptions[0].Lost, lossy.Run.Ledger.Subscriptions[0].Duplicate = 20, 31
	lossy.Run.Counters.Unknown = 42
	lossy.Run.Warnings = []result.Warning{
		{Code: verdict.NoisyMachine, Sentence: "a noisy machine"},
		{Code: verdict.Loss, Sentence: "20 acknowledged messages never arrived"}}
	for name, shown := range map[string][]*result.Saved{
		"one": {lossy}, "two": {noisy, lossy}, "many": {noisy, noisy, noisy, lossy}} {
		p := RunsPoster(shown)
		if !strings.Contains(p.Limits, "20 acknowledged messages never arrived") {
			t.Errorf("%s: the caption is %q", name, p.Limits)
		}
		picture, post := p.SVG(), p.Post()
		for _, want := range []string{"Lost", "Duplicate", "Unanswered", "20", "31", "42"} {
			if !strings.Contains(picture, want) || !strings.Contains(post, want) {
				t.Errorf("%s: no %s:\n%s", name, want, post)
			}
		}
	}
	if p := RunsPoster([]*result.Saved{noisy}); len(p.Faults) > 0 ||
		!strings.Contains(p.Post(), "| Lost | 0 |") {
		t.Errorf("nothing was lost: %+v\n%s", p.Faults, p.Post())
	}
	// What is not known is no zero, and corrupt messages are no detail.
	unread, corrupt, broken := small.load(t), small.load(t), crashed(t)
	unread.Run.Ledger.Subscriptions[0].Unread = 5
	corrupt.Run.Ledger.Subscriptions[0].Corrupt = 6
	post := RunsPoster([]*result.Saved{unread, corrupt, broken}).Post()
	for _, want := range []string{"| Lost | unknown | 0 | unknown |", "| Corrupt | 0 | 6 | 0 |",
		"| Unread | 5 | 0 | 0 |"} {
		if !strings.Contains(post, want) {
			t.Errorf("no %q in\n%s", want, post)
		}
	}
	search := searched("sim")
	search.Trials[1].Lost = 7
	post = SearchesPoster([]*peak.Saved{search}).Post()
	if !strings.Contains(post, "| Lost, all trials | 7 |") ||
		!strings.Contains(post, "What limits this: 7 acknowledged messages never arrived") {
		t.Error(post)
	}
}

// An overloaded run says so wherever runs are compared, and its bars are those of its rates only.
func TestOverloadedRunsAreRankedByTheirRatesOnly(t *testing.T) {
	fine, over := small.load(t), small.load(t)
	over.Run.Summary.OfferedRate, over.Run.Summary.AchievedRate = 20_000, 17_040
	over.Run.Verdicts = []result.Verdict{{Name: verdict.Rate, Outcome: result.Broken,
		Sentence: "20k/s was offered and 17.04k/s acknowledged in time (85.2%)"}}
	for _, r := range figureRows([]*result.Saved{fine, over}) {
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
	if post := RunsPoster([]*result.Saved{fine, over}).Post(); strings.Contains(post,
		"17.04k/s (not ranked) |") || !strings.Contains(post, "(not ranked) |") {
		t.Errorf("the post does not mark the latencies alone:\n%s", post)
	}
	if got := Closing([]*result.Saved{fine, over}); !strings.Contains(got,
		"the offered rate was not reached: 20k/s was offered") {
		t.Errorf("the last sentence is %q", got)
	}
}
