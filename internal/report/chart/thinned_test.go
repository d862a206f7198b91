package chart

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
)

func TestPagesOfLongRunsSayThatLinesAreThinned(t *testing.T) {
	if got := Sentence(fixture.Long(3600)); !strings.Contains(got, "3,600 intervals") ||
		!strings.Contains(got, "12s") {
		t.Errorf("the page says of its thinning: %q", got)
	}
}
