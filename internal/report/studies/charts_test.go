package studies

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/study"
)

// A chart has the cells as published, along the axis of numbers, and a line for each colour.
// Figures that are not known are not drawn.
func TestChartsOfATable(t *testing.T) {
	table := study.TableOutcome{Table: "peak", Figure: "rate", Axes: []string{"system", "senders"}}
	for i := range document.Colors + 1 {
		for k, senders := range []string{"1", "5", "25"} {
			table.Rows = append(table.Rows, study.Row{Ours: float64(100 * (i + 1) * (k + 1)),
				Theirs: 50, At: fmt.Sprintf("s%d, %s", i, senders),
				Labels: []string{fmt.Sprintf("s%d", i), senders}})
		}
	}
	table.Rows[1].Ours = 0
	equal := table.Rows[0] // at an equal level, with the same labels
	equal.At, equal.Ours = "s0, 1 at level 1", 7
	table.Rows = append(table.Rows, equal)
	all := tableCharts(table)
	if len(all) != 2 || len(all[0].Series) != 2*document.Colors || len(all[1].Series) != 2 {
		t.Fatalf("%d charts: %+v", len(all), all)
	}
	ours := all[0].Series[0]
	if !slices.Equal(ours.X, document.Values{0, 1, 2}) || ours.Y[0] != 1 ||
		!math.IsNaN(ours.Y[1]) || ours.Y[2] != 3 || !math.IsNaN(ours.Low[0]) {
		t.Errorf("ours: %+v", ours)
	}
	table.Axes[1], table.Rows[1].Labels[1] = "names", "many"
	if got := tableCharts(table); got != nil {
		t.Errorf("an axis of names: %+v", got)
	}
}
