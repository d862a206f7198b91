package load

import (
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// The longest gap of a partition includes the time since its last arrival, so a partition that
// stands still does not look as if it had been read all the time.
func TestPartitionsThatStandStill(t *testing.T) {
	const s = int64(time.Second)
	g := make(gaps, 3)
	// Nothing arrives from partition 2.
	for _, at := range []int64{10 * s, 11 * s, 13 * s, 14 * s} {
		g.arrived(0, at)
	}
	g.arrived(1, 13*s)
	for _, c := range []struct {
		what string
		ns   int64
		want []gap
	}{
		{"a gap that ended, and one that has not", 15 * s,
			[]gap{{ns: 2 * s}, {2 * s, result.AtLeast}, {}}},
		{"gaps that go on", 20 * s, []gap{{6 * s, result.AtLeast}, {7 * s, result.AtLeast}, {}}},
	} {
		if got := g.take(c.ns); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	g.arrived(0, 22*s)
	if got, want := g.take(23*s), []gap{{ns: 8 * s}, {10 * s, result.AtLeast}, {}}; !slices.Equal(
		got, want) {
		t.Errorf("a gap is not cut where it is read: %v, want %v", got, want)
	}
}
