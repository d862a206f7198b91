package trial

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// A trial that plimsoll limited is no finding about the system, unless the system lost or refused
// messages.
func TestTrialsThatPlimsollLimitedAreNotUnstable(t *testing.T) {
	clause := func(name string) verdict.Clause {
		return verdict.Clause{Name: name, Outcome: result.Broken}
	}
	for _, c := range []struct {
		broken []verdict.Clause
		word   string
		tone   document.Tone
	}{
		{[]verdict.Clause{clause(verdict.ClauseGenerator)}, "limited by plimsoll", document.Unsure},
		{[]verdict.Clause{clause(verdict.ClauseBacklog), clause(verdict.ClauseGenerator)},
			"limited by plimsoll", document.Unsure},
		{[]verdict.Clause{clause(verdict.ClauseFailures), clause(verdict.ClauseGenerator)},
			"unstable", document.Bad},
		{[]verdict.Clause{clause(verdict.ClauseSLO)}, "unstable", document.Bad},
	} {
		p := &peak.Trial{Judged: true, Verdict: verdict.Stability{Clauses: c.broken}}
		if word, tone := Outcome(p); word != c.word || tone != c.tone {
			t.Errorf("%v: %s", c.broken, word)
		}
	}
}

// A search without confirmations says so.
func TestASearchWithoutConfirmations(t *testing.T) {
	s := &peak.Saved{Plan: peak.Plan{Confirmations: 2}, TrialSeconds: 10, ConfirmSeconds: 30,
		Bracket: peak.Bracket{Confirmed: 1}}
	if got := Asked(s); !strings.HasSuffix(got, "windows of 10s, confirmed by 2 runs of 30s") ||
		Confirmed(s) != "1 of 2" {
		t.Errorf("%s; %s", got, Confirmed(s))
	}
	s.Plan.Confirmations, s.Bracket.Confirmed = 0, 0
	if got := Asked(s); !strings.HasSuffix(got, "windows of 10s, not confirmed") ||
		Confirmed(s) != document.None {
		t.Errorf("%s; %s", got, Confirmed(s))
	}
}
