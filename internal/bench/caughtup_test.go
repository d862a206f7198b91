package bench

import "testing"

func TestALateReadingStandsForThoseItMissed(t *testing.T) {
	for _, c := range []struct{ due, came, want int64 }{
		{100, 90, 100},  // cut short
		{100, 100, 100}, // in time
		{100, 199, 100}, // late, and no reading missed
		{100, 200, 200},
		{100, 1_750, 1_700},
	} {
		if got := nextReading(c.due, c.came, 100); got != c.want {
			t.Errorf("due at %d, came at %d: the next is counted from %d, not %d", c.due, c.came,
				got, c.want)
		}
	}
}
