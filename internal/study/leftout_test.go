package study

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// knee returns the measured table knee of the rounded study. spoil may change the measurements of
// the system that is the slower one.
func knee(t *testing.T, spoil func(c *Cell, m *Measured)) (results, *Table) {
	t.Helper()
	s, p := roundedPlan(t, Smoke)
	measured := make([]Measured, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		if c.Measure == MeasurePeak {
			c.State, measured[i] = experiment.Done, free(2000)
		}
		if c.Table != "knee" {
			continue
		}
		c.State, measured[i] = experiment.Done, ran(1000, int64(1000+i))
		if strings.HasPrefix(c.At, "one") {
			measured[i] = ran(1000, int64(9000+i))
			spoil(c, &measured[i])
		}
	}
	return results{s, p, measured}, s.Table("knee")
}

// A load that is a share of a rate which is not the system's peak has no rank.
func TestAShareOfWhatIsNoPeakHasNoRank(t *testing.T) {
	r, table := knee(t, func(*Cell, *Measured) {})
	for i, c := range r.plan.Cells {
		if c.Measure == MeasurePeak && strings.HasPrefix(c.At, "one") && c.Round == 2 {
			r.measured[i] = searched(2000, 2040, verdict.SideGenerator)
		}
	}
	rows := r.standing(table, figureOf("e2e.p99")).Rows
	one, other := rows[0].Places[0], rows[2].Places[0]
	if one.First != 0 || other.First != 0 || one.Remark !=
		"not ranked: a round had a load that is a share of a rate which is not its peak" {
		t.Errorf("%+v\n%+v", one, other)
	}
}

// A round in which servers were still changing gives no figure, and the others keep their rank.
func TestRoundsOfChangingServersAreLeftOut(t *testing.T) {
	r, table := knee(t, func(c *Cell, m *Measured) {
		if c.Round == 1 {
			*m = ran(1000, 1) // what a cold server must not show
			m.Run.Run.Verdicts = []result.Verdict{{Name: verdict.Steady,
				Outcome: result.Broken, Sentence: "cold: end-to-end p99 fell"}}
		}
	})
	f := figureOf("e2e.p99")
	one := r.standing(table, f).Rows[0].Places[0]
	if one.Rounds != 2 || one.LeftOut != 1 || one.Low < 9000 || one.First != 2 ||
		one.Remark != "1 round is left out, because its servers were cold" {
		t.Errorf("%+v", one)
	}
	// So it is in a table beside published figures.
	row := r.outcome(table, f, 0).Rows[0]
	if row.Rounds != 2 || row.Low < 9000 || row.Remark != one.Remark {
		t.Errorf("%+v", row)
	}
}

// A round that plimsoll limited is left out of the figures that it limited, and the others keep
// their rank; it counts for the others.
func TestARoundThatPlimsollLimitedIsLeftOut(t *testing.T) {
	r, table := knee(t, func(c *Cell, m *Measured) {
		if c.Round == 1 {
			*m = beside(*m, 3e6)
		}
	})
	latency := r.standing(table, figureOf("e2e.p99")).Rows[0].Places[0]
	if latency.Rounds != 2 || latency.LeftOut != 1 || latency.Unranked || latency.First != 2 ||
		latency.Remark != "1 round, which plimsoll limited, is left out" {
		t.Errorf("%+v", latency)
	}
	rate := r.standing(table, figureOf("rate")).Rows[0].Places[0]
	if rate.Rounds != 3 || rate.LeftOut != 0 || rate.Unranked {
		t.Errorf("%+v", rate)
	}
}

// A side whose servers drifted in one round, or whose search went on beyond the limits of the
// others, is doubtful, unless the answer could only be surer.
func TestRoundsThatAreLeftOutMayChangeTheAnswer(t *testing.T) {
	drifting := func() Measured {
		m := ran(1000, 4e6)
		m.Run.Run.Verdicts = []result.Verdict{{Name: verdict.Steady, Outcome: result.Broken,
			Sentence: "drifting: publish p50 rose"}}
		return m
	}
	q := &question{results: results{study: &Study{}, plan: &Plan{}}, figure: figureOf("e2e.p99")}
	of := func(f Figure, all ...Measured) *side {
		s := &side{figure: f, at: "kafka", rounds: asRounds(all...)}
		for i := range s.rounds {
			s.rounds[i].State = experiment.Done
		}
		return s
	}
	s := of(q.figure, ran(1000, 1e6), drifting(), ran(1000, 2e6))
	if _, has := q.keep(s); !has || len(s.rounds) != 2 || s.failed == nil ||
		!strings.Contains(s.failed.Why, "kafka was drifting (in 1 of 3 rounds)") {
		t.Errorf("%+v", s)
	}
	peaks := figureOf("peak")
	for open, doubtful := range map[float64]bool{80_000: true, 50_500: false} {
		s := of(peaks, searched(50_000, 51_000, shared), searched(open, 0, verdict.NoneSeen),
			searched(52_000, 53_000, shared))
		if _, has := q.keep(s); !has || len(s.rounds) != 2 || (s.beyond != nil) != doubtful {
			t.Errorf("%v: %+v", open, s)
		}
	}
}

// A search that was interrupted is no round, whatever it had found.
func TestInterruptedSearchesAreNoRounds(t *testing.T) {
	r, _ := knee(t, func(*Cell, *Measured) {})
	at, all := "", 0
	for i := range r.plan.Cells {
		if c := &r.plan.Cells[i]; c.Measure == MeasurePeak && (at == "" || c.At == at) {
			at = c.At
			if all++; all == 1 {
				c.State = experiment.Pending
			}
		}
	}
	table := r.study.Table("peak")
	if got := r.stand(table, figureOf("peak"), at); got.Rounds != all-1 || got.Low == 0 {
		t.Errorf("%d rounds of %d, one of them interrupted: %+v", got.Rounds, all, got)
	}
}
