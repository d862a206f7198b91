package bench

import (
	"slices"
	"testing"
	"time"
)

// Each subscription is judged by its own arrivals, up to the last look.
func TestArrivalsUntilTheLimit(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, c := range []struct {
		name            string
		lastMs, drainMs [2]int64 // the last arrival at each subscription; begin and end
		cut             []bool
	}{
		{"one goes on", [2]int64{29_900, 100}, [2]int64{0, 30_000}, []bool{true, false}},
		{"within a second", [2]int64{29_010, 28_990}, [2]int64{0, 30_000}, []bool{true, false}},
		{"within a quarter", [2]int64{1_260, 1_240}, [2]int64{1_000, 1_500},
			[]bool{false, false}},
		{"within a quarter, quiet at least", [2]int64{1_610, 1_590}, [2]int64{1_000, 1_800},
			[]bool{true, false}},
		{"nothing came", [2]int64{-1, -1}, [2]int64{0, 100}, []bool{false, false}},
	} {
		var a arrivals
		fresh := make([]int64, 2)
		for now := c.drainMs[0]; now <= c.drainMs[1]; now += 10 {
			a.look((now+1)*ms, fresh)
			for i, last := range c.lastMs {
				if now < last {
					fresh[i]++
				}
			}
		}
		a.limit((c.drainMs[0]+1)*ms, (c.drainMs[1]+1)*ms)
		if !slices.Equal(a.cut, c.cut) {
			t.Errorf("%s: %v, want %v", c.name, a.cut, c.cut)
		}
	}
}
