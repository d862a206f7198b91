package verify

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Rounds without a failure prove little about the next round. The judgement gives the bound
// that they prove.
func TestTogetherBoundsTheChanceOfAFailure(t *testing.T) {
	for rounds, want := range map[int]string{1: "at 95% (", 3: "at 63% (", 10: "at 26% (",
		59: "at 5% ("} {
		var all []Round
		for i := range rounds {
			held := Guarantee{Name: NoLoss, Promised: true, Outcome: result.Holds, Of: 1000}
			all = append(all, Round{Number: i + 1, Guarantees: []Guarantee{held}})
		}
		g := together(all)[0]
		if g.Outcome != result.Holds || !strings.Contains(g.Sentence, want) {
			t.Errorf("%d rounds: %s", rounds, g.Sentence)
		}
	}
}
