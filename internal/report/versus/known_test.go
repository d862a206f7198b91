package versus

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
)

// A comparison of such sets names its method, and no other.
func TestMethodOfSequentialSets(t *testing.T) {
	runs := fixture.UntilKnown(6, 0.01, 1000, 1500)
	var a, b compare.Side
	for i, s := range runs {
		side := []*compare.Side{&a, &b}[i%2]
		side.Runs = append(side.Runs, s)
	}
	figure, err := figure.Find("publish.p99")
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.New(a, b, figure)
	if err != nil {
		t.Fatal(err)
	}
	got := Comparison{Comparison: c}.method()
	if !strings.Contains(got, "B / A that of the ratios of each round") ||
		!strings.Contains(got, "a confidence sequence") || strings.Contains(got, "Mann-Whitney") {
		t.Error(got)
	}
}
