package sweeps

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
)

func TestSweepGolden(t *testing.T) {
	p, runs := fixture.Swept(t, 3, 2)
	var table, page bytes.Buffer
	if err := Report(p, runs, nil).Write(&table, "table", document.Layout{Width: 110}); err != nil {
		t.Fatal(err)
	}
	fixture.Golden(t, "sweep.table", table.Bytes())
	if err := Report(p, runs, nil).Page(&page); err != nil {
		t.Fatal(err)
	}
	// Its style and script are held by nothing but eyes.
	_, body, begins := bytes.Cut(fixture.WithoutParts(page.Bytes()), []byte("<main>"))
	body, _, ends := bytes.Cut(body, []byte("</main>"))
	if !begins || !ends {
		t.Fatal("the page has no main part")
	}
	fixture.Golden(t, "sweep.html", body)
}

// The page shows all values of every axis, refers to nothing but the cells' runs, and no text from
// outside becomes markup.
func TestSweepPagesOfAnyShape(t *testing.T) {
	for _, counts := range [][]int{{1}, {9}, {2, 2}, {3, 2, 2}, {2, 7, 3}, {2, 2, 2, 7}, {1, 1}} {
		p, runs := fixture.Swept(t, counts...)
		var page bytes.Buffer
		if err := Report(p, runs, nil).Page(&page); err != nil {
			t.Fatal(err)
		}
		text := page.String()
		for _, bad := range []string{"<producers>", "<full>", "\x1b", "NaN", "Inf", "http:",
			"https:", "ZgotmplZ"} {
			if strings.Contains(text, bad) {
				t.Errorf("%v: the page holds %q", counts, bad)
			}
		}
		points, drawn := 0, 0
		for _, s := range runs {
			if s != nil {
				points += len(chart.SweepFigures)
			}
		}
		charts, left := chart.Sweep(p, runs)
		for _, row := range charts {
			for _, c := range row.Charts {
				for _, s := range c.Series {
					drawn += len(s.Marks)
				}
			}
		}
		if drawn != points && left == 0 {
			t.Errorf("%v: %d points, want %d", counts, drawn, points)
		}
		if rows := len(cellTable(p, runs).Rows); rows != len(p.Cells) {
			t.Errorf("%v: %d rows of %d cells", counts, rows, len(p.Cells))
		}
	}
}
