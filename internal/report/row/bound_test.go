package row

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestBarsLeaveBoundsOut(t *testing.T) {
	s := fixture.Bounded(t)
	for _, f := range latencyFigures(ofPublish, result.Publish) {
		if f.number == nil {
			continue
		}
		_, ok := f.number(&s.Run)
		if exact := strings.HasSuffix(f.name, "p50"); ok != exact {
			t.Errorf("%s has a bar: %v", f.name, ok)
		}
	}
}
