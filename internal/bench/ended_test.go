package bench

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
)

// A server's end is a fault's doing only if the fault hit that server, at that time.
func TestUnaskedEnds(t *testing.T) {
	const second = int64(1e9)
	faults := []result.Fault{
		{Nodes: []string{"n1"}, StartNs: 10 * second, HealedNs: 20 * second},
		{Nodes: nil, StartNs: 60 * second, HealedNs: 61 * second}, // it failed
		{Nodes: []string{"n2"}, StartNs: 100 * second},            // it was never healed
		{Do: "scale-out", Nodes: []string{"n4"}, StartNs: 200 * second, HealedNs: 201 * second},
		{Do: "scale-in", StartNs: 300 * second}, // its server has not left yet
		{Do: "scale-in", Nodes: []string{"n5"}, StartNs: 400 * second, HealedNs: 401 * second},
	}
	for _, c := range []struct {
		node string
		at   int64
		kept bool
	}{
		{"n1", 9, true}, {"n1", 11, false}, {"n2", 11, true}, {"n1", 25, false}, {"n1", 31, true},
		{"n3", 62, false}, {"n2", 500, false}, {"n3", 500, true},
		{"n4", 202, true}, {"n1", 302, true}, {"n5", 401, false}, {"n4", 401, true},
	} {
		e := result.ServerEnd{Node: c.node, AtNs: c.at * second}
		if got := unasked([]result.ServerEnd{e}, faults); slices.Contains(got, e) != c.kept {
			t.Errorf("%s at %d s: %v, want kept %t", c.node, c.at, got, c.kept)
		}
	}
}

// A change of the cluster's size ends with the server that it concerns, and says so. It goes on when
// another server ends, and when its own has left.
func TestAChangeEndsWithItsServer(t *testing.T) {
	for name, c := range map[string]struct {
		now  system.Node // after a second; its zero value: the server is no member
		want string
	}{
		"ended":   {system.Node{Name: "n4", Ended: true}, "n4 has ended"},
		"another": {system.Node{Name: "n1", Ended: true}, ""},
		"runs":    {system.Node{Name: "n4"}, ""},
		"left":    {system.Node{}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ctx, stop := whileAlive(t.Context(), []system.Node{{Name: "n4"}}, func() []system.Node {
				if time.Since(began) < time.Second {
					return []system.Node{{Name: "n4"}}
				}
				return []system.Node{c.now}
			})
			time.Sleep(3 * time.Second)
			said := ""
			if cause := context.Cause(ctx); cause != nil {
				said = cause.Error()
			}
			if stop(); said != c.want || ctx.Err() == nil {
				t.Errorf("%s: %q, want %q", name, said, c.want)
			}
		})
	}
}
