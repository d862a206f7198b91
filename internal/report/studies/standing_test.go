package studies

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

const fixtureRounds = `
name: fixture-rounds
title: "<b>Equal</b> footing"
question: Which carries more at the same level?
source: a fixture
missing: [all of it shares one machine]
rounds: 3
targets:
  - {name: quick, system: kafka}
  - {name: slow, system: pulsar}
  - {name: bounded, system: nats}
  - {name: gone, system: elsewhere, unavailable: there is no driver for it}
workloads: [{name: load}]
tables:
  - name: peak
    title: How much it carries
    measure: peak
    workload: load
    figures: [peak]
    axes:
      - {name: system, values: [{name: quick, label: Quick, target: quick}, {name: slow, target: slow}, {name: bounded, target: bounded}, {name: gone, target: gone}]}
      - {name: level, values: [{name: level 1, set: {durability: 1}}, {name: level 4, set: {durability: 4}}]}
  - name: killed
    title: The leader killed
    measure: run
    workload: load
    figures: [lost]
    once: true
    axes: [{name: system, values: [{name: quick, label: Quick, target: quick}, {name: slow, target: slow}]}, {name: level, values: [{name: level 1}]}]
`

// A study with rounds shows medians with their ranges and ranks, says why a place has none, and
// names no published figures.
func TestStandingGolden(t *testing.T) {
	s, err := study.Parse("rounds.yaml", []byte(fixtureRounds))
	if err != nil {
		t.Fatal(err)
	}
	scale, _ := s.Scale(study.Smoke)
	p, err := study.NewPlan(s, scale, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.StartedAt = time.Date(2026, 11, 21, 10, 15, 2, 0, time.UTC)
	p.Asked.Command = []string{"plimsoll", "study", "run", "equal-footing"}
	measured := make([]study.Measured, len(p.Cells))
	for i := range p.Cells {
		measured[i] = stood(&p.Cells[i])
	}
	r, err := New(s, p, measured)
	if err != nil {
		t.Fatal(err)
	}
	all := Report([]Result{r})
	for _, format := range []string{"table", "md"} {
		var b bytes.Buffer
		if err := all.Write(&b, format, document.Layout{Width: 100}); err != nil {
			t.Fatal(err)
		}
		fixture.Golden(t, "standing."+format, b.Bytes())
		if strings.Contains(b.String(), "theirs") {
			t.Errorf("%s names published figures", format)
		}
	}
}

// A page with a study that ranks systems does not call its studies published.
func TestOurOwnStudiesAreNotPublished(t *testing.T) {
	s, err := study.Parse("rounds.yaml", []byte(fixtureRounds))
	if err != nil {
		t.Fatal(err)
	}
	own, published := Result{Study: s}, studied(t)
	for want, all := range map[string][]Result{
		"The published studies, run again": {published, published},
		"Studies, run here":                {published, own},
	} {
		if got := titleOf(all); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// stood is a cell's measurement.
func stood(c *study.Cell) (m study.Measured) {
	rate := map[string]float64{"quick, level 1": 10_000, "quick, level 4": 30_000,
		"slow, level 1": 5_000, "slow, level 4": 29_000, "bounded, level 1": 70_000}[c.At]
	if c.Absent || c.Table == "peak" && rate == 0 {
		return m
	}
	c.State, c.Run = experiment.Done, "run-of-"+strings.ReplaceAll(c.Name(), " ", "-")
	if c.Table == "killed" {
		run := &result.Run{State: result.Complete}
		run.Ledger.Accounted = true
		run.Ledger.Subscriptions = []result.SubscriptionLedger{{Lost: 12}}
		if strings.HasPrefix(c.At, "slow") {
			run.Ledger.Subscriptions[0].Lost = 0
		}
		m.Run = &result.Saved{Run: *run}
		return m
	}
	rate *= 1 + 0.02*float64(c.Round)
	m.Search = &peak.Saved{Record: experiment.Record{State: result.Complete},
		Bracket: peak.Bracket{StableRate: rate, UnstableRate: rate * 1.01}}
	if strings.HasPrefix(c.At, "bounded") {
		m.Search.Side = &verdict.Side{Name: verdict.SideGenerator}
	}
	return m
}

// Columns of parts that were not measured are left out, and the picture of a study of one level has
// the figures that answer.
func TestThePictureOfOneLevel(t *testing.T) {
	row := func(system string, rounds ...int) study.StandingRow {
		out := study.StandingRow{Labels: []string{system}}
		for _, n := range rounds {
			out.Places = append(out.Places, study.Stand{Rounds: n})
		}
		return out
	}
	title := func(name string) string { return figure.Named(name).Title }
	all := []study.Standing{
		{Title: "How much", Figure: title("peak"), Columns: []string{"level 1", "level 2"},
			Rows: []study.StandingRow{row("quick", 5, 0), row("slow", 3, 0)}},
		{Figure: title("syncs"), Columns: []string{"1k/s"},
			Rows: []study.StandingRow{row("quick", 5)}},
		{Figure: title("publish.p50"), Columns: []string{"1k/s", "5k/s"},
			Rows: []study.StandingRow{row("quick", 5, 5), row("slow", 0, 5)}},
	}
	var titles []string
	columns := posterColumns(all)
	for _, c := range columns {
		titles = append(titles, c.title)
	}
	if got := strings.Join(titles, "; "); got != "peak; publish p50, 1k/s; publish p50, 5k/s" ||
		columns[0].of != "level 1" {
		t.Errorf("%s, of %s", got, columns[0].of)
	}
	if _, is := columns[1].place("slow"); is {
		t.Error("slow was not measured at 1k/s")
	}
	if at, is := columns[2].place("slow"); !is || at.Rounds != 5 {
		t.Errorf("slow at 5k/s: %+v, %t", at, is)
	}
	all[0].Rows[0].Places[1].Rounds = 5
	if columns = posterColumns(all); len(columns) != 2 || columns[1].title != "level 2" ||
		columns[1].of != "How much: "+title("peak") {
		t.Errorf("two levels: %+v", columns)
	}
}
