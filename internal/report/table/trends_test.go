package table

import (
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestTrendTable(t *testing.T) {
	var r result.Run
	if len(Trends(&r).Rows) > 0 {
		t.Error("a table without trends")
	}
	r.Trends = &result.Trends{Blocks: 60, BlockNs: 120e9, Figures: []result.Trend{
		{Name: "memory of n1", Unit: result.UnitBytes, Level: 60 << 20, PerHour: 3 << 20,
			PerHourLow: 2 << 20, PerHourHigh: 4 << 20, Course: result.Grows, SecondHalf: true},
		{Name: "live rows", Level: 10, PerHour: 720_000, PerHourLow: 7e5, PerHourHigh: 73e4,
			Course: result.WithMessages, PerSent: 1},
	}}
	got := Trends(&r)
	for i, want := range [][]string{
		{"grows (second half)", "60MB", "3MB", "2MB", "4MB", document.None},
		{"grows with the messages sent", "10", "720,000", "700,000", "730,000", "1"},
	} {
		if !slices.Equal(got.Rows[i].Values, document.Cells(want...)) {
			t.Errorf("row %d: %v, want %q", i, got.Rows[i].Values, want)
		}
	}
	r.Trends.Why = "faults were injected"
	if len(Trends(&r).Rows) > 0 {
		t.Error("a table of trends that were not judged")
	}
}
