package compare

import (
	"errors"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
)

// Primary names the default primary figures.
const Primary = "publish.p99,e2e.p99"

// compared names the figures of every comparison, including the default primary figures. There
// are eight on purpose: with five runs on each side the least possible p is 2/252, which is low
// enough for six other figures at 5% and too high for more.
var compared = []string{"publish.p50", "publish.p99", "publish.p99.9", "e2e.p50", "e2e.p99",
	figure.Rate, figure.Received, "cpu"}

// FindPrimary returns the primary figures of a list of names with commas between. A count cannot
// be primary.
func FindPrimary(names string) ([]figure.Figure, error) {
	out, err := figure.List(names)
	for _, f := range out {
		switch {
		case f.OfSearch():
			return nil, errors.New(f.Name + " is a figure of searches, and the others are of runs")
		case f.Unit == figure.Messages:
			return nil, errors.New(f.Name + " is a count and has no spread: check it with " +
				"--fail-if '" + f.Name + " > 0'")
		}
	}
	return out, err
}
