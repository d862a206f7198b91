package runs

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
)

// Every format shows the intervals of a long run's percentiles.
func TestPercentilesHaveIntervals(t *testing.T) {
	long := fixture.Small
	long.Seconds, long.StallAt = 60, 0
	s := long.Load(t)
	began := time.Now()
	sentence := latency.NewWithin(s).Sentence()
	t.Logf("took %v: %s", time.Since(began), sentence)
	for _, want := range []string{"publish p50 6", "publish p99 1.", "end-to-end p99 ",
		"another run may differ by more"} {
		if !strings.Contains(sentence, want) {
			t.Errorf("%q lacks %q", sentence, want)
		}
	}
	for _, format := range []string{"table", "md", "html"} {
		if out := strings.Join(strings.Fields(string(render(t, format, s))),
			" "); !strings.Contains(out, "from the variation within this run") {
			t.Errorf("%s does not say how sure its percentiles are", format)
		}
	}
	if got := latency.NewWithin(fixture.Small.Load(t)).Sentence(); got != "" {
		t.Errorf("a run of %d s says %q", fixture.Small.Seconds, got)
	}
}
