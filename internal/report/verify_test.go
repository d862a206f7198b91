package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
)

// verifiedRound is a round in which a fault was under way from 15 s to 20 s of
// the run, and which lost some messages.
func verifiedRound(number int, lost int64) verify.Round {
	const second = 1_000_000_000
	l := result.SubscriptionLedger{Subscription: "subscription-0", Acked: 35_000,
		Received: 35_000 - lost + 4, Lost: lost, Duplicate: 7, Unacked: 4}
	if lost > 0 {
		l.LostRanges = []result.Range{
			{Topic: "plimsoll-0a1b2c3d-0", Partition: 2, Producer: 1, First: 2101, Last: 2100 +
				lost,
				When: &result.Span{FirstDueNs: 14_980_000_000, LastDueNs: 14_997_000_000,
					FirstAckNs: 14_982_000_000, LastAckNs: 14_999_000_000}},
			{Topic: "plimsoll-0a1b2c3d-0", Partition: 0, Producer: 0, First: 2100, Last: 2100},
		}
	}
	stretch := func(p99 int64) result.Part {
		of := func(s result.Series, p99 int64) result.Latency {
			return result.Latency{Series: s, Count: 10_000, MaxNs: p99 * 2,
				Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: p99 / 3},
					{Percentile: 99, LatencyNs: p99}}}
		}
		return result.Part{LengthNs: 10 * second, Acked: 10_000, Publish: of(result.Publish, p99),
			EndToEnd: of(result.EndToEnd, p99*3/2)}
	}
	r := verify.Round{
		Number: number, Dir: "2026-11-21T101502-nats-verify", Seed: uint64(41 +
			number), State: result.Complete,
		Counters: result.Counters{Scheduled: 30_000, Acked: 29_990, Unknown: 10},
		Faults: []result.Fault{{Do: "power-cut", Target: "all", Nodes: []string{"n1", "n2", "n3"},
			StartNs: 15 * second, InjectedNs: 15_020_000_000,
			HealStartNs: 20_020_000_000, HealedNs: 20_400_000_000,
			Sentence: "cut the power of n1, n2, n3: what was not synced is gone",
			Effect: result.Effect{UnavailableNs: 6_100_000_000, ResolutionNs: 100_000_000,
				AckedAgainNs: 21_100_000_000, RecoveredNs: 22_500_000_000}}},
		Impact: &result.Impact{Rule: "recovered is as before", Before: stretch(3_000_000),
			During: stretch(5_000_000_000), After: stretch(3_100_000)},
		Ledger: []result.SubscriptionLedger{l},
	}
	return r
}

// verifiedAt is a verification of a level, with the given number of lost messages in its last
// round.
func verifiedAt(name string, level int, fault string, lost int64, promised bool) *verify.Saved {
	s := &verify.Saved{
		Record: experiment.Record{
			SchemaVersion: 1, ID: "2026-11-21T101502-verify-" + name, Name: name,
			State: result.Complete, StartedAt: time.Date(2026, 11, 21, 10, 15, 2, 0, time.UTC),
			Plimsoll: result.Build{Version: "0.1.0"},
			Asked: result.Asked{Target: "system: " + name + "\n",
				Command: []string{"plimsoll", "verify", "-t", name, "--fault", fault}},
		},
		Faults: []string{fault + " at 10s within 10s for 5s"},
		Seed:   42, Wanted: 2, QuietSeconds: 20, DrainSeconds: 120, System: result.System{
			Name: name},
		Load: result.Load{MessageBytes: 1024, TargetRate: 1000, WindowSeconds: 30,
			Delivery: "at_least_once"},
		Durability: result.Durability{Asked: level, Level: level, Meaning: "as it is",
			Evidence: []result.Fact{{Where: "n1", Name: "sync", Value: "always", Source: "varz"}}},
		Settings: []result.Setting{{Group: name, Name: "replicas", Value: "3"}},
		Rounds:   []verify.Round{verifiedRound(1, 0), verifiedRound(2, lost)},
	}
	outcome := result.Holds
	sentence := "holds in 2 of 2 rounds: none of 70,000; " + verify.FailureBound(2)
	if lost > 0 {
		outcome, sentence = result.Broken,
			"broken in 1 of 2 rounds; round 2: 3 of 35,000 acknowledged messages never arrived"
	}
	s.Guarantees = []verify.Guarantee{
		{Name: verify.NoLoss, Promised: promised, Why: "the level says so", Outcome: outcome,
			Sentence: sentence, Count: lost, Of: 70_000},
		{Name: verify.NoDuplicates, Why: "at_least_once delivery does not promise it",
			Outcome: result.Broken, Sentence: "broken in 2 of 2 rounds", Count: 14, Of: 70_000},
		{Name: verify.Order, Promised: true, Why: "it is", Outcome: result.Holds,
			Of: 70_000, Sentence: "holds in 2 of 2 rounds: none of 70,000; " +
				verify.FailureBound(2)},
	}
	return s
}

// unfinished is a verification that was stopped in its first round.
func unfinished() *verify.Saved {
	s := verifiedAt("kafka", 1, "partition leader", 0, true)
	s.State, s.StateReason, s.Rounds = result.Interrupted, "stopped on request", s.Rounds[:1]
	s.Rounds[0].State, s.Rounds[0].Faults[0].Error = result.Interrupted,
		"heal partition leader: no permission"
	for i := range s.Guarantees {
		s.Guarantees[i].Outcome, s.Guarantees[i].Sentence = result.Unknown,
			"unknown in 1 of 1 rounds; round 1: the round is interrupted (stopped on request)"
	}
	return s
}

func TestVerifyGolden(t *testing.T) {
	for name, all := range map[string][]*verify.Saved{
		"verify-one": {verifiedAt("nats", 1, "power-cut all", 3, true)},
		"verify-matrix": {
			verifiedAt("nats", 2, "power-cut all", 3, false), verifiedAt("nats", 1, "power-cut all",
				0, true),
			verifiedAt("nats", 1, "kill leader", 0, true), unfinished(), verifiedAt("kafka", 1,
				"kill leader", 3, true),
		},
		"verify-none": nil,
	} {
		for _, format := range []string{"table", "md", "html"} {
			var b bytes.Buffer
			if err := Verifications(all).Write(&b, format, document.Layout{}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+"."+format, withoutParts(b.Bytes()))
		}
	}
}

// Whatever a verification holds, no text of it is markup.
func TestVerifyHTMLStandsWhateverItHolds(t *testing.T) {
	const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(1)>` + "\x1b[2J"
	s := verifiedAt("nats", 1, "kill leader", 3, true)
	s.Name, s.Faults[0], s.Guarantees[0].Sentence, s.Rounds[0].Faults[0].Sentence = hostile,
		hostile, hostile, hostile
	s.Rounds[1].Ledger[0].LostRanges[0].Topic, s.Rounds[1].Dir, s.Asked.Command = hostile, hostile,
		[]string{hostile}
	for _, format := range texts(Verifications(nil).Formats()) {
		var b bytes.Buffer
		if err := Verifications([]*verify.Saved{s, {}}).Write(&b, format, document.Layout{}); err != nil {
			t.Fatal(err)
		}
		if format != "json" && strings.ContainsAny(b.String(), "\x1b") || format == "html" &&
			strings.Contains(b.String(), "<img") {
			t.Errorf("%s holds what it was given", format)
		}
	}
}

func TestVerifyRefusesOtherFormats(t *testing.T) {
	for format, says := range map[string]string{"csv": "table, html, md or json",
		"htlm": `did you mean "html"`} {
		err := Verifications(nil).Write(io.Discard, format, document.Layout{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// faulted is a run with a fault in it.
func faulted(t *testing.T) *result.Saved {
	t.Helper()
	s := small.load(t)
	round := verifiedRound(1, 0)
	f := round.Faults[0]
	f.StartNs, f.InjectedNs, f.HealStartNs, f.HealedNs = 5e9, 5_020_000_000, 7_020_000_000,
		7_500_000_000
	f.Effect.AckedAgainNs, f.Effect.RecoveredNs, f.Effect.UnavailableNs = 8e9, 9e9, 3e9
	failed := result.Fault{Do: "pause", Target: "n2", Nodes: []string{}, StartNs: 10e9,
		HealStartNs: 10e9, HealedNs: 10e9, Error: "inject pause n2: no such process"}
	s.Run.Faults, s.Run.Impact = []result.Fault{f, failed}, round.Impact
	return s
}

func TestFaultsOfARunAreShown(t *testing.T) {
	for _, format := range []string{"table", "md", "html"} {
		var b bytes.Buffer
		if err := Runs([]*result.Saved{faulted(t)}).Write(&b, format, document.Layout{}); err != nil {
			t.Fatal(err)
		}
		golden(t, "faults."+format, withoutParts(b.Bytes()))
	}
}

// TestMatrixTellsUnknownRounds: unknown rounds are counted apart from those that hold.
func TestMatrixTellsUnknownRounds(t *testing.T) {
	round := func(outcome string) verify.Round {
		return verify.Round{Guarantees: []verify.Guarantee{
			{Name: verify.NoLoss, Outcome: outcome, Promised: true},
			{Name: verify.Order, Outcome: result.Unknown},
		}}
	}
	s := &verify.Saved{Record: experiment.Record{State: result.Complete},
		Guarantees: []verify.Guarantee{
			{Name: verify.NoLoss, Outcome: result.Unknown, Promised: true, Of: 3_000}}}
	for want, rounds := range map[string][]verify.Round{
		"unknown in 1 round: 0 of 3,000 did not arrive, 3 rounds": {round(result.Holds),
			round(result.Unknown), round(result.Holds)},
		"unknown: 0 of 3,000 did not arrive, 2 rounds": {round(result.Unknown),
			round(result.Unknown)},
		"unknown: 0 of 3,000 did not arrive, 1 round": {round(result.Holds)},
	} {
		s.Rounds = rounds
		if got := matrixCell([]*verify.Saved{s}).Words; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
