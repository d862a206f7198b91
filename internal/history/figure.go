package history

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
)

// Default is the figure that is shown when none is named.
const Default = "publish.p99"

// FindFigures returns the figures of a list of names with commas between: of runs, or the peak of
// searches, the confirmed stable end of their brackets.
func FindFigures(names string) ([]figure.Figure, error) {
	var out []figure.Figure
	seen := map[string]bool{}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if seen[name] {
			return nil, fmt.Errorf("%s is named twice", name)
		}
		seen[name] = true
		f, err := figure.Find(name)
		switch {
		case err != nil:
			return nil, err
		case f.OfSearch() && name != figure.Peak:
			return nil, fmt.Errorf("%s has no history: name %s", name, figure.Peak)
		}
		out = append(out, f)
	}
	if seen[figure.Peak] && len(out) > 1 {
		return nil, errors.New(
			"peak is a figure of searches and the others are of runs: name the one or the others")
	}
	return out, nil
}
