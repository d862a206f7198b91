package chart

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestHeatCountsEachMessageOnce(t *testing.T) {
	s := fixture.Small.Load(t)
	for _, intervals := range []int{0, 400} {
		if intervals > 0 {
			s = fixture.Long(intervals)
		}
		m, want := newHeat(s, result.Publish), int64(0)
		for _, l := range s.Latency {
			if l.Series == result.Publish {
				want += l.Histogram.TotalCount()
			}
		}
		got := int64(0)
		for _, column := range m.Counts {
			for _, n := range column {
				got += n
			}
		}
		if got != want || len(m.Counts) > heatColumns || len(m.X) != len(m.Counts)+1 {
			t.Errorf("%d of %d messages in %d columns", got, want, len(m.Counts))
		}
	}
}
