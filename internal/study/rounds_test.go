package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

const rounded = `
name: rounded
title: Three rounds
question: Which?
source: made up
rounds: 3
scales: [{name: smoke, warmup: 100ms, window: 2s, search: 7s}]
targets: [{name: one, system: sim}, {name: other, system: sim, settings: {service_time: 5ms}}]
workloads: [{name: load}]
rates: [{name: half, share: 50%, table: peak, own: true}]
axes: [{name: system, values: [{name: one, target: one}, {name: other, target: other}]}]
tables:
  - name: peak
    measure: peak
    workload: load
    figures: [peak]
    axes: [{name: system}, {name: level, values: [{name: 2, set: {durability: 2}}, {name: 4, set: {durability: 4}}]}]
  - name: knee
    measure: run
    workload: load
    figures: [e2e.p99, lost]
    axes:
      - {name: system}
      - {name: level, values: [{name: 2, set: {durability: 2}}, {name: 4, set: {durability: 4}}]}
      - {name: load, values: [{name: half, rate: half}]}
  - name: broken
    measure: run
    workload: load
    figures: [unavailable]
    once: true
    axes: [{name: system, values: [{name: one, target: one, set: {duration: 5s, faults: "[{do: kill, at: 1s, for: 1s}]"}}]}]
`

func roundedPlan(t *testing.T, scale string) (*Study, *Plan) {
	t.Helper()
	s := parsed(t, rounded)
	return s, planOf(t, s, scale)
}

func TestAStudyHasLengthsOfItsOwn(t *testing.T) {
	s, _ := roundedPlan(t, Smoke)
	scale, err := s.Scale(Smoke)
	plain, _ := (&Study{}).Scale(Smoke)
	if err != nil || scale.Search != 7*second || scale.Window != 2*second ||
		scale.Drain != plain.Drain {
		t.Errorf("%+v, %v", scale, err)
	}
}

// Every round has every cell, with its own seed. At the smallest scale a cluster's rounds follow
// one another; at the others all clusters have a round before the next one begins. A cluster's
// faults come last.
func TestOrderOfRounds(t *testing.T) {
	for _, scale := range Scales() {
		s, p := roundedPlan(t, scale)
		if len(p.Cells) != 4*3+4*3+1 {
			t.Fatalf("%d cells", len(p.Cells))
		}
		seen := map[string]bool{}
		for _, c := range p.Cells {
			seen[c.identity().Workload+c.identity().Target+string(c.Measure)+c.Rate] = true
		}
		if len(seen) != len(p.Cells) {
			t.Errorf("%d of %d measurements differ", len(seen), len(p.Cells))
		}
		all := order(s, p)
		if len(all) != len(p.Cells) {
			t.Errorf("%s: %d of %d cells", scale, len(all), len(p.Cells))
		}
		if diff := gocmp.Diff(all, order(s, p)); diff != "" {
			t.Error("the order changes:", diff)
		}
		checkOrder(t, p, all)
	}
}

// A search leaves servers work to do, so loads of known rates come before it.
func TestKnownRatesComeBeforeSearches(t *testing.T) {
	s := parsed(t, strings.Replace(rounded, "{name: half, rate: half}",
		"{name: half, rate: half}, {name: known, set: {load.rate: 100/s}}", 1))
	p := planOf(t, s, Small)
	searched := map[string]bool{}
	for _, i := range order(s, p) {
		c := &p.Cells[i]
		on := c.grouped() + fmt.Sprint(c.Round)
		if c.Measure == MeasurePeak {
			searched[on] = true
		} else if strings.HasSuffix(c.At, "known") && searched[on] {
			t.Errorf("%s after its search", c.Name())
		}
	}
	if len(searched) != 4*3 {
		t.Errorf("%d searches", len(searched))
	}
}

func checkOrder(t *testing.T, p *Plan, all []int) {
	t.Helper()
	clusters := map[string]bool{}
	last, starts, round := "", 0, 0
	peaks := map[[2]any]bool{}
	for _, i := range all {
		c := &p.Cells[i]
		key := c.grouped()
		if key != last {
			starts, last = starts+1, key
		}
		clusters[key] = true
		if p.Scale != Smoke && c.Round < round {
			t.Errorf("%s: %s in round %d after round %d", p.Scale, c.Name(), c.Round, round)
		}
		round = c.Round
		if c.Measure == MeasurePeak {
			peaks[[2]any{c.At, c.Round}] = true
		} else if at := strings.TrimSuffix(c.At, ", half"); c.Rate != "" &&
			!peaks[[2]any{at, c.Round}] {
			t.Errorf("%s: %s before its peak", p.Scale, c.Name())
		}
	}
	if p.Scale == Smoke && starts != len(clusters) {
		t.Errorf("%d starts of %d clusters", starts, len(clusters))
	}
	if c := p.Cells[all[len(all)-1]]; p.Scale == Smoke &&
		slices.ContainsFunc(all, func(i int) bool {
			return p.Cells[i].Table == "broken" && p.Cells[i].grouped() == c.grouped()
		}) && c.Table != "broken" {
		t.Errorf("%s comes after the faults of its servers", c.Name())
	}
}

func TestOwnPeaks(t *testing.T) {
	s, p := roundedPlan(t, Full)
	for i := range p.Cells {
		c := &p.Cells[i]
		if c.Rate == "" {
			continue
		}
		if got := s.peaksOf(p, c); !slices.Equal(got, []string{strings.TrimSuffix(c.At, ", half")}) {
			t.Errorf("%s: %v", c.Name(), got)
		}
		if strings.Contains(c.Workload, "rate: 2k/s") == (c.Table == "broken") {
			t.Errorf("%s has a rate before its peak is known:\n%s", c.Name(), c.Workload)
		}
	}
	// A part of the study includes the peaks of its rates, in every round.
	part := planOf(t, s, Smoke, "knee", "one")
	peaks := 0
	for _, c := range part.Cells {
		if c.Measure == MeasurePeak {
			peaks++
		}
	}
	if peaks != 6 || len(part.Cells) != 12 {
		t.Errorf("%d peaks of %d cells", peaks, len(part.Cells))
	}
}

// carried returns a plan with only the table peak, and its results: the rate of each place in each
// round. A rate below 0 means a search that met no limit.
func carried(t *testing.T, rates map[string][]float64, side string) Standing {
	t.Helper()
	s, p := roundedPlan(t, Smoke)
	var measured []Measured
	for i := range p.Cells {
		c := &p.Cells[i]
		m := Measured{}
		if all := rates[c.At]; c.Measure == MeasurePeak && c.Round <= len(all) {
			c.Set(experiment.Done, c.At+"-run", "")
			rate := all[c.Round-1]
			m.Search = &peak.Saved{Bracket: peak.Bracket{StableRate: math.Abs(rate),
				UnstableRate: max(0, rate*1.05)}}
			if side != "" {
				m.Search.Side = &verdict.Side{Name: side}
			}
		}
		measured = append(measured, m)
	}
	o, err := Assess(s, p, measured)
	if err != nil || len(o.Standings) != 4 || len(o.Tables) != 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	return o.Standings[0]
}

func TestStandings(t *testing.T) {
	got := carried(t, map[string][]float64{"one, 2": {1000, 1020, 1010},
		"other, 2": {505, 500}, "one, 4": {1000, 3000, 1001}, "other, 4": {2000, 2010, 2020}}, "")
	if !slices.Equal(got.Columns, []string{"2", "4"}) || len(got.Rows) != 2 {
		t.Fatalf("%+v", got)
	}
	one, other := got.Rows[0].Places, got.Rows[1].Places
	if one[0].First != 1 || one[0].Last != 1 || other[0].First != 2 || other[0].Last != 2 {
		t.Errorf("told apart: %+v, %+v", one[0], other[0])
	}
	// The rounds of one scatter too much for a rank.
	if one[1].First != 1 || one[1].Last != 2 || other[1].First != 1 || other[1].Last != 2 {
		t.Errorf("not told apart: %+v, %+v", one[1], other[1])
	}
	// The rates 1000, 1020 and 1010 were stable, and those 5% above them unstable.
	if s := one[0]; s.Value != 1020 || s.Low != 1020 || s.High != 1050 || s.Rounds != 3 ||
		s.Level != 2 || s.Run == "" {
		t.Errorf("%+v", s)
	}
	// Two rounds a side lie apart by chance too often.
	two := carried(t, map[string][]float64{"one, 2": {1000, 1010}, "other, 2": {500, 505}}, "")
	if s := two.Rows[0].Places[0]; s.First != 1 || s.Last != 2 {
		t.Errorf("%+v", s)
	}
	unmet := carried(t, map[string][]float64{"one, 2": {-8000, -9000, -8500},
		"other, 2": {500, 505, 505}}, "").Rows
	if s := unmet[0].Places[0]; !s.AtLeast || s.Value != 9000 || s.First != 1 || s.Last != 1 ||
		s.Remark == "" {
		t.Errorf("no limit: %+v", s)
	}
	if s := unmet[1].Places[0]; s.First != 2 || s.Last != 2 {
		t.Errorf("behind one without a limit: %+v", s)
	}
	// What limited the load says nothing about the system, which may carry more.
	load := carried(t, map[string][]float64{"one, 2": {1000, 1010, 1010},
		"other, 2": {500, 505, 500}}, verdict.SideGenerator).Rows[0].Places[0]
	if !load.AtLeast || load.Value != 1010 || load.High != 0 || load.Last != 2 {
		t.Errorf("%+v", load)
	}
}

// The searches of all rounds leave one bracket.
func TestBracketOfAllRounds(t *testing.T) {
	for _, c := range []struct {
		all       []reading
		low, high float64
	}{
		{[]reading{{value: 7, unstable: 14}}, 7, 14},
		{[]reading{{value: 7}, {value: 14}, {unstable: 28}}, 14, 28},
		{[]reading{{value: 7}, {value: 8}}, 8, 0},
		{[]reading{{unstable: 4}, {unstable: 8}}, 0, 0},
		// The rounds scatter.
		{[]reading{{value: 7, unstable: 14}, {value: 10, unstable: 12}, {value: 13}}, 10, 14},
		{[]reading{{value: 7, unstable: 14}, {unstable: 5}}, 5, 14},
	} {
		slices.SortFunc(c.all, func(a, b reading) int { return cmp.Compare(a.value, b.value) })
		s := Stand{Rounds: len(c.all)}
		s.bracket(c.all)
		if s.Low != c.low || s.High != c.high || s.Value != c.low ||
			s.AtLeast != (c.low > 0 && c.high == 0) || (s.Rounds == 0) != (c.low == 0) {
			t.Errorf("%+v: %+v", c.all, s)
		}
	}
}

// A later round continues where an earlier one ended.
func TestWhereALaterSearchBegins(t *testing.T) {
	tried := []peak.Trial{{TargetRate: 700}, {TargetRate: 400}}
	for want, s := range map[float64]peak.Saved{
		1000: {}, 200: {Trials: tried, Bracket: peak.Bracket{UnstableRate: 400}},
		16_000: {Trials: tried, Bracket: peak.Bracket{StableRate: 8000}},
		270:    {Trials: tried, Bracket: peak.Bracket{StableRate: 300, UnstableRate: 450}},
		600:    {Trials: tried, Bracket: peak.Bracket{StableRate: 300, UnstableRate: 1200}},
	} {
		if got, near := onward(1000, &s); got != want || near != (want == 270) {
			t.Errorf("%+v: begins at %v, near: %t, want %v", s.Bracket, got, near, want)
		}
	}
}

// For latencies and costs, less is better.
func TestLessLatencyIsAhead(t *testing.T) {
	f := figureOf("e2e.p99")
	stand := func(low, high float64) *Stand { return &Stand{Low: low, High: high, Rounds: 3} }
	quick, slow := stand(1, 2), stand(3, 4)
	if !f.ahead(quick, slow) || f.ahead(slow, quick) || f.ahead(quick, stand(2, 3)) {
		t.Error("the order of latencies")
	}
	if !figureOf("lost").Zero {
		t.Error("no message is lost, and that is no figure")
	}
	var none Stand
	none.sum([]reading{{}, {value: 3}})
	if none.Value != 3 || none.Low != 0 {
		t.Errorf("%+v", none)
	}
}

func TestFiguresOfWhatServersSpent(t *testing.T) {
	syncs, bytes := int64(50), int64(0)
	run := result.Run{Load: result.Load{MessageBytes: 1000}, Observation: result.Observation{
		WindowNs: 1e9, Servers: []string{"n1", "n2"}, MsgsPerCoreSecond: 1e6,
		WriteAmplification: 3, Processes: []result.ProcessUse{
			{Name: result.Self, RSSBytes: 1 << 40, Syncs: &syncs, MapSyncs: &bytes},
			{Name: "n1", RSSBytes: 1 << 20, Syncs: &syncs, MapSyncs: &bytes},
			{Name: "n2", RSSBytes: 2 << 20, Syncs: &syncs, MapSyncs: &bytes}}}}
	run.Summary.AchievedRate = 200
	run.Faults = []result.Fault{{Effect: result.Effect{UnavailableNs: 5}},
		{Effect: result.Effect{UnavailableNs: 7}}}
	for name, want := range map[string]float64{"servers_cpu": 1000, "written": 3000, "syncs": 0.5,
		"memory": 3 << 20, "unavailable": 7} {
		v, known := figureOf(name).Value(Measured{Run: &result.Saved{Run: run}})
		if v != want || !known {
			t.Errorf("%s is %v, %v", name, v, known)
		}
	}
	run.Observation.Processes = run.Observation.Processes[:2]
	if v, known := figureOf("memory").Value(Measured{Run: &result.Saved{Run: run}}); known {
		t.Errorf("memory without n2 is %v", v)
	}
}

// A latency of an overloaded round has no rank, nor has a figure of a round that plimsoll limited.
func TestOverloadedRoundsHaveNoRankOfLatency(t *testing.T) {
	for name, spoil := range map[string]func(*result.Run){
		"": func(*result.Run) {},
		"not ranked: a round was overloaded (it acknowledged 85.2% of the offered rate)": func(
			r *result.Run) {
			r.Summary.AchievedRate = 852
			r.Verdicts = []result.Verdict{{Name: verdict.Rate, Outcome: result.Broken}}
		},
		"not ranked: a round was limited by plimsoll itself": func(r *result.Run) {
			*r = beside(Measured{Run: &result.Saved{Run: *r}}, 3e6).Run.Run
		},
	} {
		r, table := knee(t, func(_ *Cell, m *Measured) { spoil(&m.Run.Run) })
		f := figureOf("e2e.p99")
		got := r.standing(table, f)
		one, other := got.Rows[0].Places[0], got.Rows[2].Places[0]
		if name == "" {
			if one.First != 2 || other.First != 1 || one.Remark != "" {
				t.Errorf("%+v\n%+v", one, other)
			}
			continue
		}
		if one.First != 0 || other.First != 0 || !one.Unranked ||
			!strings.HasPrefix(one.Remark, name) || one.Value == 0 {
			t.Errorf("%s: %+v\n%+v", name, one, other)
		}
		of := ran(1000, 9000)
		if spoil(&of.Run.Run); f.unfit(of) == nil || f.unfit(ran(1000, 1000)) != nil {
			t.Errorf("%s: a claim has an answer", name)
		}
	}
}

// Servers are warmed up once for all of their cells, so for a peak if any cell seeks one.
func TestServersAreWarmedUpForThePeakThatFollows(t *testing.T) {
	_, p := roundedPlan(t, Small)
	r := &runner{plan: p}
	find := func(table, at string, round int) int {
		return slices.IndexFunc(p.Cells, func(c Cell) bool {
			return c.Table == table && c.At == at && c.Round == round
		})
	}
	c := &p.Cells[find("knee", "one, 2, half", 1)]
	for at, want := range map[int]bool{
		find("peak", "one, 2", 1): true, find("peak", "one, 4", 1): false,
		find("peak", "other, 2", 1): false, find("peak", "one, 2", 2): false,
		find("knee", "other, 2, half", 1): false} {
		if r.left = []int{at}; r.seeksPeak(c) != want {
			t.Errorf("before %s at %s: %v", p.Cells[at].Table, p.Cells[at].Name(), !want)
		}
	}
}

// A plan that was continued by another part has its cells in another order than its table.
func TestRowsAreInTheOrderOfTheTable(t *testing.T) {
	s, p := roundedPlan(t, Smoke)
	slices.Reverse(p.Cells)
	var rows, places []string
	for _, row := range (results{s, p, make([]Measured, len(p.Cells))}).outcome(s.Table("knee"),
		figureOf("e2e.p99"), 0).Rows {
		rows = append(rows, row.At)
	}
	for _, at := range s.Table("knee").places() {
		places = append(places, at.name())
	}
	if !slices.Equal(rows, places) {
		t.Errorf("%q, want %q", rows, places)
	}
}

// A row of several rounds says what limited most of them, as its claims do, and of a remark of
// fewer in how many rounds it holds.
func TestRowsSayWhatHoldsForMostRounds(t *testing.T) {
	t.Parallel()
	cpu := remark{kind: "cpu", words: "the CPU was the limit"}
	own := remark{kind: "generator", words: "plimsoll itself was the limit", ofLoad: true}
	behind := func(words string) remark { return remark{kind: "behind", words: words} }
	for _, c := range []struct {
		rounds []remark
		words  string
		ofLoad bool
	}{
		{[]remark{own, cpu, cpu}, "the CPU was the limit", false},
		{[]remark{{}, own, own}, "plimsoll itself was the limit", true},
		{[]remark{own, {}, {}}, "in 1 of 3 rounds: plimsoll itself was the limit", false},
		{[]remark{cpu, own}, "in 1 of 2 rounds: the CPU was the limit", false},
		{[]remark{behind("97% of it"), behind("95% of it")}, "97% of it", false},
		{[]remark{{}, {}}, "", false},
		{nil, "", false},
	} {
		got := usual(c.rounds)
		if got.words != c.words || got.ofLoad != c.ofLoad {
			t.Errorf("%v: %q, of the load: %t; want %q, %t", c.rounds, got.words, got.ofLoad, c.words,
				c.ofLoad)
		}
	}
}
