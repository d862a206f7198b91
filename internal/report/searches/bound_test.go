package searches

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

// A trial whose p99 is a bound has an arrow in the drawing, and its messages without a
// latency are counted below the table. The search names its arrivals.
func TestSearchesMarkBounds(t *testing.T) {
	s := fixture.Searched("sim-20k")
	s.Load.Arrivals = "poisson"
	l := &s.Trials[3].Latency[0]
	l.Missing, l.Percentiles[0].Bound = result.Missing{Unsent: 700}, result.AtLeast
	for format, wants := range map[string][]string{
		"table": {"≥ 10s", "trial 4, publish: 700 messages never sent", "poisson arrivals"},
		"html":  {"≥ 10s", "trial 4, publish: 700 messages never sent", "poisson arrivals"},
	} {
		var b bytes.Buffer
		if err := Report([]*peak.Saved{s}).Write(&b, format, document.Layout{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(fixture.Words(b.Bytes()), want) {
				t.Errorf("%s lacks %q", format, want)
			}
		}
	}
}
