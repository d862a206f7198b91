package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// MaxCells bounds the cells of a grid.
const MaxCells = 1_000

// Combine returns all combinations of one value of each axis. The last axis changes fastest. Of
// more than MaxCells there are none, and an error.
func Combine[V any](axes [][]V) ([][]V, error) {
	out := [][]V{nil}
	for _, values := range axes {
		if len(out)*len(values) > MaxCells {
			return nil, fmt.Errorf("there are more than %s combinations of values: vary less",
				quantity.Count(MaxCells))
		}
		var longer [][]V
		for _, one := range out {
			for _, v := range values {
				longer = append(longer, append(slices.Clone(one), v))
			}
		}
		out = longer
	}
	return out, nil
}

// Divide divides what a cell changes into settings of its target, whose keys begin with settings.,
// and keys of its workload.
func Divide(changes strict.Pairs) (settings, keys strict.Pairs) {
	for _, p := range changes {
		if name, is := strings.CutPrefix(p.Name, "settings."); is {
			p.Name = name
			settings = append(settings, p)
			continue
		}
		keys = append(keys, p)
	}
	return settings, keys
}
