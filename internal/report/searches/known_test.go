package searches

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
)

// The searches of peaks that are known say how well, and the last one has it as JSON.
func TestHowWellPeaksAreKnown(t *testing.T) {
	figure := figure.Figure{Name: figure.Peak, Unit: figure.PerSecond}
	judged := compare.Judge(0.1, 5, 1e9, []compare.Rounds{{Target: "a", Figure: figure,
		Values: map[int]float64{1: 1000, 2: 1010, 3: 990, 4: 1000, 5: 1005}}})
	var table, machine bytes.Buffer
	r := ReportUntil([]*peak.Saved{fixture.Searched("a"), fixture.Searched("a")}, judged)
	if err := r.Write(&table, "table", document.Layout{Width: 120}); err != nil ||
		!strings.Contains(table.String(), "known after 5 rounds") ||
		!strings.Contains(table.String(), "1.001k/s") {
		t.Errorf("%v\n%s", err, table.String())
	}
	var read []struct{ Known *known.JSON }
	if err := r.Write(&machine, "json", document.Layout{}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(machine.Bytes(), &read); err != nil || len(read) != 2 ||
		read[0].Known != nil || read[1].Known == nil || !read[1].Known.Precise {
		t.Errorf("%v: %s", err, machine.String())
	}
}
