package report

import (
	"math"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

func TestGaugeTable(t *testing.T) {
	var r result.Run
	if len(gaugeTable(&r).Rows) > 0 {
		t.Error("a table without figures")
	}
	r.Observation.Gauges = []result.GaugeUse{
		{Name: "dead rows", First: 1, Last: 2, Greatest: 3},
		{Name: "tables", Unit: "bytes", First: 1 << 20, Last: 1 << 20, Greatest: 2 << 20},
		{Name: "oldest", Unit: "s", First: 1, Last: math.NaN(), Greatest: 2},
	}
	got := gaugeTable(&r)
	if len(got.Rows) != 3 {
		t.Fatalf("got %v", got)
	}
	for i, want := range [][]string{{"1", "2", "3"}, {"1MB", "1MB", "2MB"}, {"1 s", none, "2 s"}} {
		if !slices.Equal(got.Rows[i].Values, values(want...)) {
			t.Errorf("row %d: %v, want %q", i, got.Rows[i].Values, want)
		}
	}
}
