package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// swept is a sweep with the given number of values on each axis. Of every seven cells one failed,
// one lost messages and one was limited by plimsoll.
func swept(t *testing.T, counts ...int) (*sweep.Plan, []*result.Saved) {
	t.Helper()
	p := &sweep.Plan{Record: experiment.Record{
		Name: "orders", StartedAt: time.Date(2026, 11, 21, 10, 15, 2, 0, time.UTC),
		Asked: result.Asked{Command: []string{"plimsoll", "sweep", "<b>"}}}}
	cells := [][]string{nil}
	for k, n := range counts {
		a := sweep.Axis{Key: []string{"partitions", "message.size", "<producers>", "load.rate"}[k]}
		var longer [][]string
		for i := range n {
			a.Values = append(a.Values, fmt.Sprint(math.Pow10(i)))
		}
		for _, c := range cells {
			for _, v := range a.Values {
				longer = append(longer, append(append([]string{}, c...), v))
			}
		}
		cells, p.Axes = longer, append(p.Axes, a)
	}
	base := small.load(t)
	var runs []*result.Saved
	for i, values := range cells {
		c, run := sweep.Cell{Values: values, Cell: experiment.Cell{
			State: experiment.Done, Run: fmt.Sprintf("run-%d", i)}}, *base
		run.Run.Summary.AchievedRate = 1000 * float64(i+1)
		run.Run.Ledger.Subscriptions = []result.SubscriptionLedger{base.Run.Ledger.Subscriptions[0]}
		shown := &run
		switch i % 7 {
		case 2:
			c.State, c.Run, c.Reason, shown = experiment.Failed, "", "the disk\x1b is <full>", nil
		case 4:
			run.Run.Ledger.Subscriptions[0].Lost = 12
		case 5:
			run.Run.Summary.Generator.OwnLagP99Ns = 9e9
		}
		verdict.JudgeSaved(&run)
		p.Cells, runs = append(p.Cells, c), append(runs, shown)
	}
	return p, runs
}

func TestSweepGolden(t *testing.T) {
	p, runs := swept(t, 3, 2)
	var table, page bytes.Buffer
	if err := Sweep(p, runs, nil).Write(&table, "table", document.Layout{Width: 110}); err != nil {
		t.Fatal(err)
	}
	golden(t, "sweep.table", table.Bytes())
	if err := Sweep(p, runs, nil).Page(&page); err != nil {
		t.Fatal(err)
	}
	// Its style and script are held by nothing but eyes.
	_, body, begins := bytes.Cut(withoutParts(page.Bytes()), []byte("<main>"))
	body, _, ends := bytes.Cut(body, []byte("</main>"))
	if !begins || !ends {
		t.Fatal("the page has no main part")
	}
	golden(t, "sweep.html", body)
}

// The page shows all values of every axis, refers to nothing but the cells' runs, and no text from
// outside becomes markup.
func TestSweepPagesOfAnyShape(t *testing.T) {
	for _, counts := range [][]int{{1}, {9}, {2, 2}, {3, 2, 2}, {2, 7, 3}, {2, 2, 2, 7}, {1, 1}} {
		p, runs := swept(t, counts...)
		var page bytes.Buffer
		if err := Sweep(p, runs, nil).Page(&page); err != nil {
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
				points += len(sweepFigures)
			}
		}
		charts, left := sweepCharts(p, runs)
		for _, row := range charts {
			for _, c := range row.charts {
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

func TestSweepPlaces(t *testing.T) {
	axes := func(counts ...int) (out []sweep.Axis) {
		for _, n := range counts {
			out = append(out, sweep.Axis{Values: make([]string, n)})
		}
		return out
	}
	for _, c := range []struct {
		counts []int
		want   string
	}{{[]int{3}, "0 -1 []"}, {[]int{2, 5}, "1 0 []"}, {[]int{7, 8}, "1 -1 [0]"},
		{[]int{2, 9, 3}, "1 2 [0]"}, {[]int{3, 3}, "0 1 []"}} {
		p := placesOf(axes(c.counts...))
		if got := fmt.Sprint(p.along, p.line, p.panels); got != c.want {
			t.Errorf("%v: %s, want %s", c.counts, got, c.want)
		}
	}
}
