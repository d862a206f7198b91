package report

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// withinSentence says how sure the percentiles of a run are by what varied
// within it; empty where the run is too short to tell.
func withinSentence(s *result.Saved) string {
	var said []string
	for _, name := range []string{"publish.p50", "publish.p99", "e2e.p50", "e2e.p99"} {
		f, err := compare.Find(name)
		if err != nil {
			continue
		}
		value, known := f.Value(&s.Run)
		within, sure := compare.Of(s, f)
		if !known || !sure {
			continue
		}
		low, high := within.Interval(value, 0.025)
		said = append(said, fmt.Sprintf("%s %s to %s", strings.ReplaceAll(strings.Replace(name, "e2e", "end-to-end", 1), ".p", " p"),
			quantity.Duration(int64(low)), quantity.Duration(int64(high))))
	}
	if len(said) == 0 {
		return ""
	}
	return strings.Join(said, ", ") + ": intervals of 95% by what varied within this run; another run may differ by more"
}
