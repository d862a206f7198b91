package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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
	var out []figure.Figure
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		f, err := figure.Find(name)
		switch {
		case err != nil:
			return nil, err
		case f.OfSearch():
			return nil, errors.New(name + " is a figure of searches, and the others are of runs")
		case f.Unit == figure.Messages:
			return nil, errors.New(name + " is a count and has no spread: check it with " +
				"--fail-if '" + name + " > 0'")
		case slices.ContainsFunc(out, func(have figure.Figure) bool { return have.Name == name }):
			return nil, fmt.Errorf("%s is named twice", name)
		}
		out = append(out, f)
	}
	return out, nil
}
