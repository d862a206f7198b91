package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

func stretchOf(name result.StretchName, p99 int64) result.Stretch {
	return result.Stretch{Name: name, Latency: []result.Latency{{
		Series: result.Publish, Count: 10_000, Percentiles: []result.Percentile{
			{Percentile: 99, LatencyNs: p99}},
	}}}
}

func TestCatchUpVerdicts(t *testing.T) {
	for _, c := range []struct {
		end     result.BacklogEnd
		outcome string
		says    string
		sound   bool
	}{
		{result.BacklogCaughtUp, result.Holds, "caught up with 1,000 messages (1MB) in 4s", true},
		{result.BacklogNever, result.Broken,
			"never catch up at this rate: they read 500/s and 400/s are published", false},
		{result.BacklogTooLong, result.Broken, "did not catch up within the limit", false},
		{result.BacklogNotBuilt, result.Unknown, "lower the rate", true},
		{result.BacklogBuilding, result.Unknown, "ended before the backlog was built", true},
		{result.BacklogReading, result.Unknown, "ended before the backlog was read", true},
	} {
		r := &result.Run{State: result.Complete, Backlog: &result.Backlog{
			End: c.end, Messages: 1000, Bytes: 1 << 20, ReadRate: 500, PublishedRate: 400,
			FirstNs: 1e9, CaughtUpNs: 5e9,
		}}
		verdict.Judge(r)
		v := r.Verdicts[len(r.Verdicts)-1]
		if v.Name != verdict.CatchUp || v.Outcome != c.outcome ||
			!strings.Contains(v.Sentence, c.says) || verdict.Sound(r) != c.sound {
			t.Errorf("%s: %+v, sound %v", c.end, v, verdict.Sound(r))
		}
	}
}

// Messages unread by readers that were given up are not lost; messages that others did not receive
// are.
func TestUnreadIsNotLost(t *testing.T) {
	r := &result.Run{State: result.Complete,
		Ledger: result.Ledger{Accounted: true, Subscriptions: []result.SubscriptionLedger{
			{Acked: 100, Received: 100}, {Acked: 100, Received: 40, Unread: 60},
		}}}
	loss := func() result.Verdict {
		verdict.Judge(r)
		return r.Verdicts[slices.IndexFunc(r.Verdicts,
			func(v result.Verdict) bool { return v.Name == verdict.Loss })]
	}
	if v := loss(); v.Outcome != result.Unknown ||
		!strings.HasSuffix(v.Sentence, "had not read 60 acknowledged messages when the run ended") {
		t.Errorf("%+v", v)
	}
	r.Ledger.Subscriptions[0].Lost = 1
	if v := loss(); v.Outcome != result.Broken {
		t.Errorf("%+v", v)
	}
}

func TestUnsteadyBeforeTheBacklog(t *testing.T) {
	for during, want := range map[int64]bool{5e6: true, 9e6: false, 20e6: false} {
		r := &result.Run{Backlog: &result.Backlog{
			Stretches: []result.Stretch{stretchOf(result.Before, 10e6),
				stretchOf(result.During, during)}}}
		verdict.Judge(r)
		if got := slices.ContainsFunc(r.Warnings,
			func(w result.Warning) bool { return w.Code == "backlog_unsteady" }); got != want {
			t.Errorf("p99 of 10ms before and %d ns meanwhile: warned %v", during, got)
		}
	}
}
