package history

import (
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
)

// FindFigures returns the figures of a list of names with commas between: of runs, or the peak of
// searches, the confirmed stable end of their brackets.
func FindFigures(names string) ([]figure.Figure, error) {
	out, err := figure.List(names)
	for _, f := range out {
		switch {
		case f.OfSearch() && f.Name != figure.Peak:
			return nil, fmt.Errorf("%s has no history: name %s", f.Name, figure.Peak)
		case f.OfSearch() && len(out) > 1:
			return nil, errors.New("peak is a figure of searches and the others are of runs: " +
				"name the one or the others")
		}
	}
	return out, err
}
