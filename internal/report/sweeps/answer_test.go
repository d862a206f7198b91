package sweeps

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

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
