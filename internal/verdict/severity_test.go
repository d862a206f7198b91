package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// The gravest warning comes first, whatever found it first.
func TestTheGravestWarningComesFirst(t *testing.T) {
	r := observed()
	r.Observation.Host.CPUSeconds = 36 // noisy and full
	r.Summary.Generator.OwnLagP99Ns = 9e9
	r.Summary.AchievedRate = 810
	r.Counters = result.Counters{Scheduled: 10_000, Acked: 9_990, Unknown: 10, Received: 9_970}
	r.Ledger.Subscriptions[0] = result.SubscriptionLedger{Acked: 9_990, Received: 9_970, Lost: 20,
		Duplicate: 3}
	Judge(r)
	var got []string
	for _, w := range r.Warnings {
		got = append(got, w.Code)
	}
	got = slices.DeleteFunc(got, func(code string) bool { return code == Counts })
	want := []string{Loss, Failures, "censored", Rate, Generator, "duplicates_allowed",
		"machine_full", NoisyMachine, "shared_host"}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	r.Load.Delivery = "exactly_once"
	Judge(r)
	at := func(code string) int {
		return slices.IndexFunc(r.Warnings, func(w result.Warning) bool { return w.Code == code })
	}
	if at(Duplicates) < 0 || at(Duplicates) > at(Rate) || at(Duplicates) < at(Failures) {
		t.Errorf("%+v", r.Warnings)
	}
}

// The sentence of a share below its bound never reads like the bound.
func TestRoundingDoesNotContradictAVerdict(t *testing.T) {
	r := good()
	r.Summary.AchievedRate = 989.6
	v := rate(r)
	if v.Outcome != result.Broken || !strings.Contains(v.Sentence, "(98.96%)") {
		t.Errorf("%+v", v)
	}
	o := Objective{Series: result.Publish, Percentile: 99, BelowNs: 8e6 - 1}
	c := o.judge(&result.Saved{Run: *good()})
	if c.Outcome != result.Broken || !strings.HasSuffix(c.Sentence, "it was 8ms") {
		t.Errorf("%+v", c)
	}
	o.BelowNs = 8e6
	r = good()
	r.Summary.Latency[0].Percentiles[1].LatencyNs = 8_000_001
	c = o.judge(&result.Saved{Run: *r})
	if c.Outcome != result.Broken || !strings.HasSuffix(c.Sentence, "it was 8.000001ms") {
		t.Errorf("%+v", c)
	}
}

// An own error beyond its bound is never printed as the bound, at any of the percentiles.
func TestABoundIsPrintedAsFarAsItDiffers(t *testing.T) {
	late := func(change func(*result.Run)) string {
		r := heavyTail(5e4, 2e5, 3e5)
		change(r)
		Judge(r)
		return r.Verdicts[0].Outcome + ": " + r.Verdicts[0].Sentence
	}
	for want, got := range map[string]string{
		"own schedule lag p50 250.001us exceeds the bound of 250us": late(func(r *result.Run) {
			r.Summary.Generator.OwnErrors[0].OwnLagNs = 250_001
		}),
		"own schedule lag p99 1.228ms exceeds the bound of 1.227ms": late(func(r *result.Run) {
			g := &r.Summary.Generator
			g.OwnErrors, g.OwnLagP99Ns, g.LessOwnLagP99Ns = nil, 1_228_000, 2_454_000+1e5
		}),
		"at p50, beyond the bound of 500us": late(func(r *result.Run) {
			r.Summary.Instrument.Publish.Percentiles[0].LatencyNs = 500_001
		}),
		"500.001us later than its own schedule (p50), beyond the bound of 500us": late(
			func(r *result.Run) { r.Summary.Generator.OwnErrors[0].SimulatedLateNs = 500_001 }),
	} {
		if !strings.Contains(got, want) || !strings.HasPrefix(got, result.Broken) {
			t.Errorf("%s, want %q", got, want)
		}
	}
}

// A level that is only stated is not said to be read back, and lost messages stand beside what the
// servers say of their partitions.
func TestWordsOfWhatServersSay(t *testing.T) {
	for want, change := range map[string]func(*result.Run){
		"stated and not read back": func(r *result.Run) { r.Durability.Stated = true },
		"no longer have 2 of the partitions": func(r *result.Run) {
			r.Ledger.Subscriptions[0].Lost, r.Ledger.GonePartitions = 3, 2
		},
	} {
		r := good()
		Judge(r)
		before := fmt.Sprint(r.Verdicts)
		change(r)
		Judge(r)
		if after := fmt.Sprint(r.Verdicts); !strings.Contains(after, want) ||
			strings.Contains(before, want) {
			t.Errorf("%q: %s", want, after)
		}
	}
}

// An overloaded run is ranked by its rates only, and one that plimsoll limited not at all.
func TestRankings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*result.Run)
		want   Ranking
		why    string
	}{
		"good":       {func(*result.Run) {}, Ranked, ""},
		"overloaded": {func(r *result.Run) { r.Summary.AchievedRate = 810 }, RatesRanked, "81.0%"},
		"consumers": {func(r *result.Run) {
			r.Summary.ReceivedRate, r.Summary.EndBacklog = 500, 5_000
		}, RatesRanked, "consumers fell behind"},
		"limited": {func(r *result.Run) { r.Summary.Generator.OwnLagP99Ns = 9e9 }, Unranked,
			"limited by plimsoll itself"},
		"both": {func(r *result.Run) {
			r.Summary.Generator.OwnLagP99Ns, r.Summary.AchievedRate = 9e9, 810
		}, Unranked, "limited by plimsoll itself"},
		"lost": {func(r *result.Run) { r.Ledger.Subscriptions[0].Lost = 3 }, Unranked,
			"broke a promise: 3 acknowledged messages never arrived"},
		"a server ended": {func(r *result.Run) {
			r.Ended = []result.ServerEnd{{Node: "n3"}}
		}, Unranked, "broke a promise: "},
		"readers that did not catch up": {func(r *result.Run) {
			r.Backlog = &result.Backlog{BuiltNs: 1, End: result.BacklogNever}
		}, Ranked, ""},
		"stopped": {func(r *result.Run) { r.State = result.Interrupted }, Unranked, "interrupted"},
		"imported": {func(r *result.Run) { r.Imported = &result.Import{Tool: "x"} }, Unranked,
			ByAnother},
	} {
		r := good()
		c.change(r)
		Judge(r)
		if got, why := RankingOf(r); got != c.want || !strings.Contains(why.Sentence, c.why) {
			t.Errorf("%s: %v, %+v", name, got, why)
		}
	}
}
