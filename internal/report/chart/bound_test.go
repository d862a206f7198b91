package chart

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Charts draw no bound as a point.
func TestChartsLeaveBoundsOut(t *testing.T) {
	s := fixture.Bounded(t)
	c := curveOf(s, result.Publish)
	if c.Count != 400_000+6015 {
		t.Errorf("the curve is of %d messages", c.Count)
	}
	// 1.5% have no latency: the curve ends near 1/(1-q) = 66.
	if last := math.Pow(10, float64(len(c.Ns)-1)/curveSteps); last > 67.6 || last < 55 {
		t.Errorf("the curve ends at 1/(1-q) = %v", last)
	}
	for _, v := range c.Ns {
		if v >= 29e9 {
			t.Errorf("the curve has a point of %v ns", v)
		}
	}
	i := result.Interval{StartNs: 0, EndNs: 1e9, Latency: s.Run.Summary.Latency}
	for name, l := range map[string]line{"p50": percentileLine(result.Publish, 50),
		"p99": percentileLine(result.Publish, 99), "max": maxLine(result.Publish)} {
		if v := l(i, 1); math.IsNaN(v) != (name != "p50") {
			t.Errorf("%s is drawn at %v", name, v)
		}
	}
	if text := latency.Uncorrected(&s.Run); strings.Contains(text, "At p99 ") {
		t.Errorf("bounds are compared: %s", text)
	}
}
