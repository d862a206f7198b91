package sweeps

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

// In the small charts of a sweep a bound has an arrow.
func TestSmallChartsMarkBounds(t *testing.T) {
	s := fixture.Bounded(t)
	plan := &sweep.Plan{Record: experiment.Record{Name: "s"},
		Axes: []sweep.Axis{{Key: "rate", Values: []string{"1"}}},
		Cells: []sweep.Cell{{Values: []string{"1"},
			Cell: experiment.Cell{State: experiment.Done}}}}
	rows, _ := chart.Sweep(plan, []*result.Saved{s})
	for i, want := range []struct {
		above bool
		text  string
	}{{false, "/s"}, {true, "≥ 30s"}, {true, "not reached"}} {
		got := rows[0].Charts[i].Series[0].Marks[0]
		if got.Above != want.above || !strings.Contains(got.Tip, want.text) {
			t.Errorf("chart %d: %+v, want %+v", i, got, want)
		}
	}
	var b bytes.Buffer
	r := Report(plan, []*result.Saved{s}, nil)
	if err := r.Write(&b, "table", document.Layout{Width: 120}); err != nil ||
		!strings.Contains(b.String(), " not reached ") {
		t.Errorf("the table: %v\n%s", err, b.String())
	}
}
