package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/poster"
	"github.com/plimsoll-bench/plimsoll/internal/report/runs"
	"github.com/plimsoll-bench/plimsoll/internal/report/searches"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Experiments of two kinds are refused without a word of runs, which there are none of.
func TestKindsAreNotMixed(t *testing.T) {
	read := folders("sweeps", func(dir string) bool { return dir == "sweep" },
		func(string) (form.Report, error) { return form.Report{}, nil },
		func(all []form.Report) form.Report { return all[0] })
	_, _, err := read([]string{"sweep", "study"})
	if err == nil || !strings.HasPrefix(err.Error(), "sweeps and other results cannot be") {
		t.Errorf("a sweep and a study: %v", err)
	}
}

// Every form that names the durability says that there is a single copy.
func TestSingleCopyIsNamed(t *testing.T) {
	one, other := fixture.Single(t, "redis-1"), fixture.Single(t, "kafka-1")
	several := fixture.Small.Load(t)
	for _, side := range [][]*result.Saved{{one}, {one, other}, {one, several}} {
		for _, format := range fixture.Texts(export.Formats()) {
			if slices.Contains([]string{"intervals", "resources", "omb"}, format) {
				continue // figures of each second, and another tool's fields
			}
			out := fixture.Written(t, runs.Report(side), format)
			if format == "csv" {
				rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
				at := slices.Index(rows[0], "durability_copies")
				if err != nil || at < 0 || rows[1][at] != "1" {
					t.Errorf("csv has no column with a single copy: %s, %v", out, err)
				}
				continue
			}
			fixture.Says(t, fmt.Sprintf("%s of %d runs", format, len(side)), out,
				result.SingleCopy)
		}
	}
	fixture.Says(t, "the table", fixture.Written(t, runs.Report([]*result.Saved{one, several}),
		"table"), "not comparable: some keep a single copy of each message")
	found := fixture.Searched("redis-1")
	found.Durability = one.Run.Durability
	fixture.Says(t, "a search", fixture.Written(t, searches.Report([]*peak.Saved{found}), "table"),
		result.SingleCopy)
	if names := export.Formats(); !slices.Contains(names, "card") || !slices.Contains(names,
		"post") {
		t.Errorf("the formats are %v", names)
	}
}

func TestPostersSayWhatLimitsThem(t *testing.T) {
	one, kafka := fixture.Small.Load(t), fixture.KafkaThree.Load(t)
	single := runs.Poster([]*result.Saved{one})
	if single.Question != "How does nats carry 20k/s of 1KB messages?" || single.Chart == nil ||
		len(single.Figures) < 3 || single.Command == "" {
		t.Errorf("one run: %+v", single)
	}
	one.Run.Asked.Command = []string{"/bin/plimsoll", "run", "--warm", "auto 1m", "--runs", "here"}
	if got := runs.Poster([]*result.Saved{one}).Command; got != "plimsoll run --warm 'auto 1m'" {
		t.Errorf("the command is %s", got)
	}
	one.Run.Summary.Generator.Limited = true
	if p := runs.Poster([]*result.Saved{one}); !strings.Contains(p.Limits, "limited by plimsoll") {
		t.Errorf("a run that plimsoll limited: %q", p.Limits)
	}
	p := runs.Poster([]*result.Saved{kafka, one})
	if !strings.Contains(p.Limits, "not comparable") {
		t.Errorf("runs at different levels: %q", p.Limits)
	}
	for _, f := range p.Figures {
		if len(f.Values) != len(p.Systems) {
			t.Errorf("%s has %d values of %d systems", f.Name, len(f.Values), len(p.Systems))
		}
	}
	search := fixture.Searched("sim")
	peaks := searches.Poster([]*peak.Saved{search})
	if got := peaks.Figures[0].Values[0]; got != phrase.Rate(search.Bracket.StableRate) {
		t.Errorf("the peak is %s", got)
	}
	if peaks.Chart.ID != "knee-publish" || peaks.Limits == "" {
		t.Errorf("the poster of a peak: %s, %q", peaks.Chart.ID, peaks.Limits)
	}
	for _, empty := range []*document.Poster{runs.Poster(nil), searches.Poster(nil)} {
		if empty.SVG() == "" || empty.Post() == "" {
			t.Error("no poster of nothing")
		}
	}
}

// Runs without a warning may be of many machines: a run beside its servers has one.
func TestPicturesDoNotCountMachines(t *testing.T) {
	if got := poster.Gravest(nil); got != "Measured once: other machines, or another day, may "+
		"differ." {
		t.Error(got)
	}
	if got := poster.Gravest([]result.Warning{{Sentence: "état inconnu"}}); got != "État inconnu." {
		t.Error(got)
	}
}

// Whatever a picture or a post shows, it shows the messages that were lost, duplicate, unanswered,
// refused or never sent, and says the gravest thing first, whichever run it is of.
func TestPicturesHideNoLoss(t *testing.T) {
	noisy, lossy := fixture.Small.Load(t), fixture.Small.Load(t)
	noisy.Run.Warnings = []result.Warning{{Code: verdict.NoisyMachine, Sentence: "a noisy machine"}}
	noisy.Run.Counters.Unknown, noisy.Run.Counters.Failed, noisy.Run.Counters.Unsent = 0, 0, 0
	lossy.Run.Name = "lossy"
	lossy.Run.Ledger.Subscriptions[0].Lost, lossy.Run.Ledger.Subscriptions[0].Duplicate = 20, 31
	lossy.Run.Counters.Unknown, lossy.Run.Counters.Failed, lossy.Run.Counters.Unsent = 42, 53, 64
	lossy.Run.Warnings = []result.Warning{
		{Code: verdict.NoisyMachine, Sentence: "a noisy machine"},
		{Code: verdict.Loss, Sentence: "20 acknowledged messages never arrived"}}
	for name, shown := range map[string][]*result.Saved{
		"one": {lossy}, "two": {noisy, lossy}, "many": {noisy, noisy, noisy, lossy}} {
		p := runs.Poster(shown)
		if !strings.Contains(p.Limits, "20 acknowledged messages never arrived") {
			t.Errorf("%s: the caption is %q", name, p.Limits)
		}
		for of, out := range map[string]string{" as a picture": p.SVG(), " as a post": p.Post()} {
			fixture.Says(t, name+of, out, "Lost", "Duplicate", "Unanswered", "Refused",
				"Never sent", "20", "31", "42", "53", "64")
		}
	}
	if p := runs.Poster([]*result.Saved{noisy}); len(p.Faults) > 0 ||
		!strings.Contains(p.Post(), "| Lost | 0 |") {
		t.Errorf("nothing was lost: %+v\n%s", p.Faults, p.Post())
	}
	// What is not known is no zero, and corrupt messages are no detail.
	unread, corrupt, broken := fixture.Small.Load(t), fixture.Small.Load(t), fixture.Crashed(t)
	unread.Run.Ledger.Subscriptions[0].Unread = 5
	corrupt.Run.Ledger.Subscriptions[0].Corrupt = 6
	fixture.Says(t, "a post", runs.Poster([]*result.Saved{unread, corrupt, broken}).Post(),
		"| Lost | unknown | 0 | unknown |", "| Corrupt | 0 | 6 | 0 |", "| Unread | 5 | 0 | 0 |")
	search := fixture.Searched("sim")
	search.Trials[1].Lost = 7
	fixture.Says(t, "a post", searches.Poster([]*peak.Saved{search}).Post(),
		"| Lost, all trials | 7 |", "What limits this: 7 acknowledged messages never arrived")
}
