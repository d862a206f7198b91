package bench

import (
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// A server's end is a fault's doing only if the fault hit that server, at that time.
func TestUnaskedEnds(t *testing.T) {
	const second = int64(1e9)
	faults := []result.Fault{
		{Nodes: []string{"n1"}, StartNs: 10 * second, HealedNs: 20 * second},
		{Nodes: nil, StartNs: 60 * second, HealedNs: 61 * second}, // it failed
		{Nodes: []string{"n2"}, StartNs: 100 * second},            // it was never healed
	}
	for _, c := range []struct {
		node string
		at   int64
		kept bool
	}{
		{"n1", 9, true}, {"n1", 11, false}, {"n2", 11, true}, {"n1", 25, false}, {"n1", 31, true},
		{"n3", 62, false}, {"n2", 500, false}, {"n3", 500, true},
	} {
		e := result.ServerEnd{Node: c.node, AtNs: c.at * second}
		if got := unasked([]result.ServerEnd{e}, faults); slices.Contains(got, e) != c.kept {
			t.Errorf("%s at %d s: %v, want kept %t", c.node, c.at, got, c.kept)
		}
	}
}
