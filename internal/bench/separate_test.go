package bench

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/result"
)

func TestCPUsAreSplitByWholeCores(t *testing.T) {
	single := func(cpu int) int { return cpu }
	pairs := func(of int) func(int) int { return func(cpu int) int { return cpu % of } }
	for name, c := range map[string]struct {
		cpus []int
		core func(int) int
		want result.Apart
	}{
		"one":   {[]int{3}, single, result.Apart{Why: "plimsoll may use only one CPU"}},
		"two":   {[]int{0, 1}, single, result.Apart{Servers: []int{0}, Load: []int{1}}},
		"three": {[]int{0, 1, 2}, single, result.Apart{Servers: []int{0, 1}, Load: []int{2}}},
		"two threads of one core": {[]int{0, 1}, pairs(1),
			result.Apart{Servers: []int{0}, Load: []int{1}}},
		"two cores of two threads": {[]int{0, 1, 2, 3}, pairs(2),
			result.Apart{Servers: []int{0, 2}, Load: []int{1, 3}}},
		"three cores of two threads": {[]int{0, 1, 2, 3, 4, 5}, pairs(3),
			result.Apart{Servers: []int{0, 3, 1, 4}, Load: []int{2, 5}}},
		"a part of a machine": {[]int{4, 6, 7}, single,
			result.Apart{Servers: []int{4, 6}, Load: []int{7}}},
	} {
		if diff := cmp.Diff(&c.want, split(c.cpus, c.core)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
