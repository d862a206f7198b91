package report

import (
	"strings"
	"testing"
	"time"
)

// A run long enough says how sure its percentiles are, everywhere, and at a cost
// that nobody waits for.
func TestPercentilesHaveIntervals(t *testing.T) {
	long := small
	long.seconds, long.stallAt = 60, 0
	s := long.load(t)
	began := time.Now()
	sentence := newWithin(s).sentence()
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
	if got := newWithin(small.load(t)).sentence(); got != "" {
		t.Errorf("a run of %d s says %q", small.seconds, got)
	}
}
