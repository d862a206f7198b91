package verifications

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
)

// unfinished is a verification that was stopped in its first round.
func unfinished() *verify.Saved {
	s := fixture.VerifiedAt("kafka", 1, "partition leader", 0, true)
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
		"verify-one": {fixture.VerifiedAt("nats", 1, "power-cut all", 3, true)},
		"verify-matrix": {
			fixture.VerifiedAt("nats", 2, "power-cut all", 3, false), fixture.VerifiedAt("nats", 1,
				"power-cut all", 0, true),
			fixture.VerifiedAt("nats", 1, "kill leader", 0, true), unfinished(),
			fixture.VerifiedAt("kafka", 1, "kill leader", 3, true),
		},
		"verify-none": nil,
	} {
		for _, format := range []string{"table", "md", "html"} {
			fixture.Golden(t, name+"."+format, fixture.Written(t, Report(all), format))
		}
	}
}

// Whatever a verification holds, no text of it is markup.
func TestVerifyHTMLStandsWhateverItHolds(t *testing.T) {
	const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(1)>` + "\x1b[2J"
	s := fixture.VerifiedAt("nats", 1, "kill leader", 3, true)
	s.Name, s.Faults[0], s.Guarantees[0].Sentence, s.Rounds[0].Faults[0].Sentence = hostile,
		hostile, hostile, hostile
	s.Rounds[1].Ledger[0].LostRanges[0].Topic, s.Rounds[1].Dir, s.Asked.Command = hostile, hostile,
		[]string{hostile}
	for _, format := range fixture.Texts(Report(nil).Formats()) {
		out := string(fixture.Written(t, Report([]*verify.Saved{s, {}}), format))
		if format != "json" && strings.Contains(out, "\x1b") || format == "html" &&
			strings.Contains(out, "<img") {
			t.Errorf("%s holds what it was given", format)
		}
		if strings.Contains(out, "<summary></summary>") {
			t.Errorf("%s folds a verification without a round under no words", format)
		}
	}
}

func TestVerifyRefusesOtherFormats(t *testing.T) {
	for format, says := range map[string]string{"csv": "table, html, md or json",
		"htlm": `did you mean "html"`} {
		err := Report(nil).Write(io.Discard, format, document.Layout{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// A server that ended by itself makes the command fail, so the report names it.
func TestWarningsNameServersThatEnded(t *testing.T) {
	s := fixture.VerifiedAt("nats", 1, "kill leader", 0, true)
	s.Rounds[1].Ended = []result.ServerEnd{{Node: "n3"}}
	const want = "round 2: n3 ended without a fault: see the servers' logs"
	if got := verifyWarnings(s); s.Kept() || len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
}

// A broken promise is bad where nothing promised that no message is lost, or that is not known.
func TestABrokenPromiseIsBadInAnyCase(t *testing.T) {
	for _, loss := range []verify.Guarantee{
		{Name: verify.NoLoss, Outcome: result.Holds, Of: 10},
		{Name: verify.NoLoss, Outcome: result.Unknown, Of: 10},
	} {
		s := fixture.VerifiedAt("nats", 1, "kill leader", 0, true)
		s.Guarantees = []verify.Guarantee{loss, {Name: verify.Order, Promised: true,
			Outcome: result.Broken, Count: 5, Of: 10}}
		got := outcome([]*verify.Saved{s})
		if got.Tone != document.Bad || !strings.Contains(got.Words, "reordered 5") {
			t.Errorf("%+v", got)
		}
	}
}

// Exactly-once delivery promises more than the others, and each of its promises has words.
func TestEachBrokenPromiseHasWords(t *testing.T) {
	s := fixture.VerifiedAt("nats", 1, "kill leader", 0, true)
	s.Guarantees = nil
	for i, p := range verify.Promises {
		s.Guarantees = append(s.Guarantees, verify.Guarantee{Name: p.Name, Promised: true,
			Outcome: result.Broken, Count: int64(i + 1), Of: 10})
	}
	if got, want := outcome([]*verify.Saved{s}).Words, "lost 1 of 10, twice 2, reordered 3, "+
		"aborted 4, partial 5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	text := string(fixture.Written(t, Report([]*verify.Saved{s}), "md"))
	for _, want := range []string{"no refused or aborted message is received",
		"no transaction is received in part"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

// The rounds have a column for each count that some promise is about, where it is not 0.
func TestRoundsCountDamage(t *testing.T) {
	s := fixture.VerifiedAt("nats", 1, "kill leader", 0, true)
	l := &s.Rounds[1].Ledger[0]
	l.Corrupt, l.Misplaced, l.PartialTransactions = 71, 72, 73
	rounds := roundTable(s)
	for name, want := range map[string]string{"corrupt": "71", "misplaced": "72",
		"transactions in part": "73"} {
		at := slices.IndexFunc(rounds.Head,
			func(c document.Column) bool { return c.Name == name })
		if at < 0 || rounds.Rows[1].Values[at].Words != want {
			t.Errorf("%s: %+v", name, rounds)
		}
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
	for _, c := range []struct {
		in     string
		rounds []verify.Round
	}{
		{" in 1 round", []verify.Round{round(result.Holds), round(result.Unknown),
			round(result.Holds)}},
		{"", []verify.Round{round(result.Unknown), round(result.Unknown)}},
		{"", []verify.Round{round(result.Holds)}},
	} {
		s.Rounds = c.rounds
		want := "unknown" + c.in + ": 0 of 3,000 did not arrive"
		if got := outcome([]*verify.Saved{s}).Words; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
