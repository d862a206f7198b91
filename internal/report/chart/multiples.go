package chart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// maxPanels bounds the panels of a sweep's chart; the table has every cell.
const maxPanels = 24

// SweepFigures are the titles and names of the figures of the small charts, a column each.
var SweepFigures = [][2]string{{"Acknowledged", figure.Rate},
	{"Publish latency, p99", "publish.p99"}, {"End-to-end latency, p99", "e2e.p99"}}

// places are the axes by their roles: along a chart, as its lines, and as panels, one for each
// combination. line is -1 when no axis is drawn as lines.
type places struct {
	along, line int
	panels      []int
}

// placesOf puts the longest axis along the charts. The longest remaining axis for which there
// are enough colours becomes the lines.
func placesOf(axes []sweep.Axis) places {
	order := make([]int, len(axes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return len(axes[b].Values) - len(axes[a].Values) })
	p := places{along: order[0], line: -1}
	for _, i := range order[1:] {
		if p.line < 0 && len(axes[i].Values) <= document.Colors {
			p.line = i
			continue
		}
		p.panels = append(p.panels, i)
	}
	slices.Sort(p.panels)
	return p
}

// Varied names the axes and their values.
func Varied(axes []sweep.Axis) string {
	parts := make([]string, len(axes))
	for i, a := range axes {
		parts[i] = fmt.Sprintf("%s (%s)", a.Key, strings.Join(a.Values, ", "))
	}
	return strings.Join(parts, " × ")
}

// PanelsLeft says how many panels the chart leaves out.
func PanelsLeft(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s more are in the table only.", quantity.Count(int64(n)))
}
