package chart

import (
	"fmt"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/sweep"
)

func TestSweepPlaces(t *testing.T) {
	axes := func(counts ...int) (out []sweep.Axis) {
		for _, n := range counts {
			out = append(out, sweep.Axis{Values: make([]string, n)})
		}
		return out
	}
	for _, c := range []struct {
		counts []int
		want   string
	}{{[]int{3}, "0 -1 []"}, {[]int{2, 5}, "1 0 []"}, {[]int{7, 8}, "1 -1 [0]"},
		{[]int{2, 9, 3}, "1 2 [0]"}, {[]int{3, 3}, "0 1 []"}} {
		p := placesOf(axes(c.counts...))
		if got := fmt.Sprint(p.along, p.line, p.panels); got != c.want {
			t.Errorf("%v: %s, want %s", c.counts, got, c.want)
		}
	}
}
