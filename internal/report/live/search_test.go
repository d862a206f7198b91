package live

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
)

// The picture of a search fits into any width, and is complete.
func TestLiveSearch(t *testing.T) {
	s, b := fixture.Searched("sim-20k"), strings.Builder{}
	s.Trials, s.Bracket = s.Trials[:4], peak.Bracket{StableRate: 10_000, UnstableRate: 40_000}
	step := peak.Step{Kind: peak.Guess, Rate: 19_850}
	for _, width := range []int{119, 79, 39} {
		p := progress{plan: livePlan, search: &picture{s, step}}
		fmt.Fprintf(&b, "%d columns\n", width)
		for _, l := range p.panel(width) {
			if l.columns() > width {
				t.Errorf("a line of %d columns: %q", l.columns(), l.text(false))
			}
			b.WriteString("|" + l.text(false) + "\n")
		}
	}
	fixture.Golden(t, "live.search", []byte(b.String()))
}

// On a terminal each trial replaces the one before, and the last goes away; elsewhere each is a
// line.
func TestLiveSearchLines(t *testing.T) {
	s := fixture.Searched("sim-20k")
	for _, isTerminal := range []bool{true, false} {
		var b bytes.Buffer
		l := New(&b, isTerminal, nil)
		l.Trial(livePlan, s, peak.Step{Kind: peak.Ramp, Rate: 5_000})
		l.TrialEnded(s)
		l.Trial(livePlan, s, peak.Step{Kind: peak.Ramp, Rate: 10_000})
		l.Close()
		out := b.String()
		if erased := strings.Count(out, "\x1b[J"); isTerminal && erased != 3 || !isTerminal &&
			erased != 0 {
			t.Errorf("terminal %v: erased %d times: %q", isTerminal, erased, out)
		}
		if !isTerminal && strings.Count(out, "\n") != 3 {
			t.Errorf("%q", out)
		}
	}
}
