package table

import (
	"math"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestGaugeTable(t *testing.T) {
	var r result.Run
	if len(Gauges(&r).Rows) > 0 {
		t.Error("a table without figures")
	}
	r.Observation.Gauges = []result.GaugeUse{
		{Name: "dead rows", First: 1, Last: 2, Greatest: 3},
		{Name: "tables", Unit: "bytes", First: 1 << 20, Last: 1 << 20, Greatest: 2 << 20},
		{Name: "oldest", Unit: "s", First: 1, Last: math.NaN(), Greatest: 2},
	}
	got := Gauges(&r)
	if len(got.Rows) != 3 {
		t.Fatalf("got %v", got)
	}
	for i, want := range [][]string{{"1", "2", "3"}, {"1MB", "1MB", "2MB"}, {"1 s", document.None,
		"2 s"}} {
		if !slices.Equal(got.Rows[i].Values, document.Cells(want...)) {
			t.Errorf("row %d: %v, want %q", i, got.Rows[i].Values, want)
		}
	}
}
