package sweeps

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestSweepGolden(t *testing.T) {
	p, runs := fixture.Swept(t, 3, 2)
	var table bytes.Buffer
	if err := Report(p, runs, nil).Write(&table, "table", document.Layout{Width: 110}); err != nil {
		t.Fatal(err)
	}
	fixture.Golden(t, "sweep.table", table.Bytes())
	// Its style and script are held by nothing but eyes.
	page := fixture.Written(t, Report(p, runs, nil), "html")
	_, body, begins := bytes.Cut(page, []byte("<main>"))
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
		fixture.SaysNot(t, fmt.Sprint("the page of ", counts),
			fixture.Written(t, Report(p, runs, nil), "html"), "<producers>", "<full>", "\x1b", "NaN",
			"Inf", "http:", "https:", "ZgotmplZ")
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

// outcome is what a cell was offered and what it acknowledged, in thousands a second.
type outcome struct{ offered, acked float64 }

// along is a sweep along one axis.
func along(key string, values []string, all []outcome) (*sweep.Plan, []*result.Saved) {
	p := &sweep.Plan{Axes: []sweep.Axis{{Key: key, Values: values}}}
	var runs []*result.Saved
	for i, o := range all {
		s := &result.Saved{Run: result.Run{State: result.Complete}}
		s.Run.Summary.OfferedRate, s.Run.Summary.AchievedRate = 1e3*o.offered, 1e3*o.acked
		s.Run.Load.Model = result.OpenLoop
		if o.offered == 0 {
			s.Run.Load.Model, s.Run.Load.Closed = result.ClosedLoop, &result.Closed{}
		}
		if o.acked < o.offered {
			s.Run.Verdicts = []result.Verdict{{Name: verdict.Rate, Outcome: result.Broken}}
		}
		p.Cells = append(p.Cells, sweep.Cell{Values: values[i : i+1],
			Cell: experiment.Cell{State: experiment.Done}})
		runs = append(runs, s)
	}
	return p, runs
}

// The answer says no more than the cells show.
func TestSweepAnswers(t *testing.T) {
	grows := []outcome{{9, 5}, {9, 8}, {9, 8.1}}
	for _, one := range []struct {
		key    string
		values []string
		all    []outcome
		want   string
	}{
		{"partitions", []string{"1", "10", "100"}, grows,
			"throughput stops growing at partitions=10, where 8k/s were acknowledged."},
		{"message.size", []string{"100B", "1KB", "2KB"}, grows,
			"throughput stops growing at message.size=1KB, where 8k/s were acknowledged."},
		{"partitions", []string{"100", "10", "1"}, grows,
			"most was acknowledged at partitions=1: 8.1k/s."},
		{"target", []string{"kafka", "nats", "redis"}, grows,
			"most was acknowledged at target=redis: 8.1k/s."},
		{"partitions", []string{"1", "10", "100"}, []outcome{{0, 5}, {0, 8}, {0, 8.1}},
			"throughput stops growing at partitions=10, where 8k/s were acknowledged."},
		{"partitions", []string{"1", "10", "100"}, []outcome{{9, 5}, {9, 9}, {9, 9}},
			"most was acknowledged at partitions=10, 9k/s, which was what was offered there."},
		{"partitions", []string{"1", "10"}, []outcome{{9, 9}, {9, 9}},
			"every cell carried what was offered to it, 9k/s: a higher rate would find a limit."},
		{"load.rate", []string{"1k/s", "2k/s", "8k/s"}, []outcome{{1, 1}, {2, 2}, {8, 8}},
			"every cell carried what was offered to it, 1k/s to 8k/s: a higher rate would find a " +
				"limit."},
	} {
		if got := sweepAnswer(along(one.key, one.values, one.all)); got != one.want {
			t.Errorf("%s %v: %q, want %q", one.key, one.values, got, one.want)
		}
	}
}

// A cell whose servers were still changing is marked, says why, and is no candidate.
func TestCellsOfColdServersAreMarked(t *testing.T) {
	p, runs := along("partitions", []string{"1", "10"}, []outcome{{9, 9}, {20, 20}})
	runs[1].Run.Verdicts = []result.Verdict{{Name: verdict.Steady, Outcome: result.Broken,
		Sentence: "cold: publish p50 fell: a longer warm-up would show other figures"}}
	if got, want := sweepAnswer(p, runs), "every cell without a mark carried what was offered to "+
		"it, 9k/s: a higher rate would find a limit."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := cellReason(p.Cells[1], runs[1]), "must not be ranked: publish p50 fell: a "+
		"longer warm-up would show other figures"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	cells := cellTable(p, runs).Rows[1].Values
	if mark := cells[len(cells)-2].Words; mark != "cold" {
		t.Errorf("the mark is %q", mark)
	}
	p, runs = fixture.Swept(t, 2)
	if got := sweepAnswer(p, runs); got != "most was acknowledged at partitions=1: 1k/s." {
		t.Errorf("of a cold and an overloaded cell: %q", got)
	}
}

// A cell that is made again warns of nothing.
func TestInterruptedCellsWarnOfNothing(t *testing.T) {
	p, runs := along("partitions", []string{"1", "10"}, []outcome{{9, 9}, {20, 20}})
	runs[1].Run.State, p.Cells[1].State = result.Interrupted, experiment.Pending
	runs[1].Run.Summary.Latency = []result.Latency{{Series: result.Publish, Count: 10,
		Missing: result.Missing{Unanswered: 3}}}
	p.Further = []sweep.Further{{Of: 1, Round: 2, Cell: p.Cells[0].Cell}}
	if got := taken(p, runs, runs[:1]); len(got) != 2 || got[0] != runs[0] || got[1] != runs[0] {
		t.Errorf("%d of 2 runs warn", len(got))
	}
	if got := missingCells(p, runs); len(got) > 0 {
		t.Errorf("%q", got)
	}
	p.Cells[1].State = experiment.Done
	if got := missingCells(p, runs); len(got) == 0 {
		t.Error("a finished cell hides its unanswered messages")
	}
}

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
	fixture.Says(t, "the table",
		fixture.Written(t, Report(plan, []*result.Saved{s}, nil), "table"), " not reached ")
}
