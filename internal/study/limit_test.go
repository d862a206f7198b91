package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Sides with other limits are compared in what they wrote of a message, and in nothing
// else.
func TestALimitBoundsNoBytesOfAMessage(t *testing.T) {
	for _, name := range []string{"written", "memory", "servers_cpu", "sent", "e2e.p99"} {
		f := figureOf(name)
		limited := func(by string) side {
			return side{figure: f, rounds: asRounds(searched(1000, 1020, by))}
		}
		doubt := f.unlike(limited(shared), limited(disk))
		if (doubt == nil) != (name == "written") {
			t.Errorf("%s: %+v", name, doubt)
		}
		if doubt := f.unlike(limited(disk), limited(disk)); doubt != nil {
			t.Errorf("%s: %+v", name, doubt)
		}
	}
}

// The interval of a ratio is of the rounds that it is of.
func TestIntervalsAreOfTheRatiosRounds(t *testing.T) {
	q := &question{results: results{study: &Study{}, plan: &Plan{}}, figure: figureOf("peak")}
	found := func(rates ...float64) side {
		var all []Measured
		for _, rate := range rates {
			all = append(all, Measured{Search: &peak.Saved{Bracket: peak.Bracket{
				StableRate: rate, UnstableRate: rate * 1.1}}})
		}
		return side{rounds: asRounds(all...)}
	}
	for _, c := range []struct {
		of, to    []float64
		low, high float64
	}{
		{[]float64{1000}, []float64{500}, 1000. / 550, 1100. / 500},
		{[]float64{1000, 100, 100}, []float64{500}, 0, 0},
		{[]float64{1000}, []float64{500, 5000, 5000}, 0, 0},
	} {
		var r Reply
		q.compare(&r, found(c.of...), found(c.to...))
		if math.Abs(r.Low-c.low) > 1e-9 || math.Abs(r.High-c.high) > 1e-9 ||
			r.Low > 0 && (r.Ours < r.Low || r.Ours > r.High) {
			t.Errorf("%v to %v: %g (%g to %g)", c.of, c.to, r.Ours, r.Low, r.High)
		}
	}
}

// Of two equal peaks, known to brackets in three rounds, at most 5 in 100 are called different,
// wherever in a bracket a peak lies, and if it lies at the same place in each round. The interval is
// narrower than if the brackets' errors were always the greatest.
func TestPeaksLieInTheirBrackets(t *testing.T) {
	const studies = 1000
	q := &question{results: results{study: &Study{}, plan: &Plan{}}, figure: figureOf("peak")}
	for _, c := range []struct {
		sd, width float64 // of logarithms
		alike     bool
	}{{0.01, 0.7, true}, {0.01, 0.7, false}, {0.2, 0.7, true}, {0.2, 0.7, false}, {0.2, 0.05, true}} {
		random, missed := rand.New(rand.NewPCG(1, 2)), 0
		draw := func() side {
			var all []Measured
			place := random.Float64()
			for range 3 {
				if !c.alike {
					place = random.Float64()
				}
				stable := 1000 * math.Exp(c.sd*random.NormFloat64()-c.width*place)
				all = append(all, searched(stable, stable*math.Exp(c.width), verdict.NoneSeen))
			}
			return side{rounds: asRounds(all...)}
		}
		for range studies {
			var r Reply
			q.compare(&r, draw(), draw())
			if r.Low > 1 || r.High < 1 {
				missed++
			}
		}
		t.Logf("%+v: wrong in %d of %d", c, missed, studies)
		if missed > studies/20 {
			t.Errorf("%+v: wrong in %d of %d", c, missed, studies)
		}
	}
	found := func(width float64) side {
		var all []Measured
		for _, stable := range []float64{900, 1000, 1100} {
			all = append(all, searched(stable, stable*width, verdict.NoneSeen))
		}
		return side{rounds: asRounds(all...)}
	}
	reach := func(width float64) float64 {
		var r Reply
		q.compare(&r, found(width), found(width))
		return r.High
	}
	if still, wide := reach(1), reach(1.2); wide < 1.2 || wide < still || wide > 0.95*still*1.2 {
		t.Errorf("brackets of 20%% reach to %g, of 0%% to %g", wide, still)
	}
}

// The bracket of a peak in bytes is that of its messages by their size.
func TestBracketsOfUnlikeSizes(t *testing.T) {
	small, large := free(50_000), free(20_000)
	small.Search.Load.MessageBytes, large.Search.Load.MessageBytes = 100, 1000
	low, high := figureOf("peak_bytes").interval(small, large)
	if math.Abs(low-0.25/1.02) > 1e-9 || math.Abs(high-0.25*1.02) > 1e-9 {
		t.Errorf("%g to %g, want 0.25 within 2%%", low, high)
	}
}

// Rounds with unlike limits, or without observation, do not show that a side has no limit.
func TestUnlimitedSidesAreObserved(t *testing.T) {
	none, full := free(1000), searched(1000, 1020, disk)
	unknown := searched(1000, 1020, verdict.NotKnown)
	for _, c := range []struct {
		rounds    []Measured
		limit     string
		unlimited bool
	}{
		{[]Measured{none, none, full}, "", true},
		{[]Measured{searched(1000, 1020, shared), full, none}, several, false},
		{[]Measured{unknown, unknown, none}, "", false},
		{[]Measured{{}}, "", false},
		{[]Measured{full, none}, "", false},
		{[]Measured{full, full, none}, disk, false},
	} {
		s := side{rounds: asRounds(c.rounds...)}
		if s.limit() != c.limit || s.unlimited() != c.unlimited {
			t.Errorf("limit %q, unlimited %t, want %q and %t", s.limit(), s.unlimited(), c.limit,
				c.unlimited)
		}
	}
}

// More of a resource raises a rate and shortens a latency; of other figures nothing follows.
func TestOneSidedLimitsAreOfRatesAndLatencies(t *testing.T) {
	limited := side{at: "kafka", rounds: asRounds(searched(60_000, 61_000, shared))}
	other := side{at: "pulsar", rounds: asRounds(free(20_000))}
	for name, want := range map[string]string{figure.Peak: "greater", figure.PerCore: "",
		"written": "", "publish.p99": ""} {
		q := &question{figure: figureOf(name), claim: Claim{AtLeast: 1.5}}
		several := side{at: "kafka", rounds: asRounds(searched(60_000, 61_000, shared),
			searched(60_000, 61_000, disk))}
		if got := q.oneSided(3, several, other); got != "" {
			t.Errorf("%s: rounds of unlike limits: %q", name, got)
		}
		if got := q.oneSided(3, limited, other); want == "" && got != "" ||
			!strings.HasSuffix(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A rate is related to a resource except in rounds that another one limited, and a peak never to
// that of a run. An interval that reaches farther than any bound decides nothing, and is not shown.
func TestRatesPerUseAreOfLimitedRounds(t *testing.T) {
	f := figureOf("peak")
	q := &question{results: results{study: &Study{}, plan: &Plan{}}, figure: f}
	in := func(all ...Measured) side { return side{rounds: asRounds(all...)} }
	core := searched(20_000, 20_400, shared, 30_000)
	var r Reply
	q.limited(&r, shared, in(core.times(2), core.times(2), searched(1, 2, disk, 1)),
		in(core, core, core))
	if r.Rounds != 2 || math.Abs(r.Ours-2) > 1e-9 {
		t.Errorf("%+v", r)
	}
	below := searched(20_000, 20_400, verdict.NoneSeen, 30_000)
	q.limited(&r, shared, in(core.times(2), core.times(2), below.times(2)), in(core, core, core))
	if r.Rounds != 3 || math.Abs(r.Ours-2) > 1e-9 {
		t.Errorf("a round without a limit: %+v", r)
	}
	run := &result.Saved{Run: *core.Trials[0]}
	if per := f.perUse(Measured{Run: run}, shared); per != nil {
		t.Errorf("a run has a peak per core: %v", per)
	}
	q.claim.AtLeast = 1.1
	r = Reply{}
	q.compare(&r, in(free(1000), free(100_000)), in(free(1000), free(1010)))
	q.decide(&r)
	if r.Rounds != 2 || r.Low <= 0 || math.IsInf(r.High, 0) || r.Answer.Decided() ||
		r.Ratio() != Times(r.Ours) {
		t.Errorf("%s: %+v", r.Ratio(), r)
	}
}

// Cells show how others scatter if they are of runs of their own and measured alike.
func TestScatterIsOfRunsMeasuredAlike(t *testing.T) {
	f := figureOf("peak")
	dof := func(tables, runs []string) float64 {
		r := results{study: &Study{Tables: []Table{{Name: "peaks", Measure: MeasurePeak},
			{Name: "loads", Measure: MeasureRun}}}, plan: &Plan{}}
		q := &question{results: r, figure: f, claim: Claim{Table: "peaks"}}
		for i, table := range tables {
			for round := range 2 {
				c := Cell{Table: table, At: strconv.Itoa(i), Round: round + 1}
				c.Set(experiment.Done, runs[i]+strconv.Itoa(round), "")
				q.plan.Cells = append(q.plan.Cells, c)
				q.measured = append(q.measured, free(1000+float64(100*round*(i+1))))
			}
		}
		return q.scatter(func(m Measured) float64 { v, _ := f.Value(m); return v }).Dof
	}
	peaks, own := slices.Repeat([]string{"peaks"}, 5), []string{"a", "b", "c", "d", "e"}
	if got := dof(peaks, own); got == 0 {
		t.Error("five cells show nothing")
	}
	if got := dof(peaks, []string{"a", "b", "c", "d", "d"}); got != 0 {
		t.Errorf("a run that two cells share counts twice: %g", got)
	}
	if got := dof([]string{"peaks", "peaks", "peaks", "peaks", "loads"}, own); got != 0 {
		t.Errorf("a cell of another measurement counts: %g", got)
	}
}

// One odd round of several does not speak for all, in a ranking as in a table.
func TestStandTakesTheRemarkOfMostRounds(t *testing.T) {
	s, p := roundedPlan(t, Smoke)
	measured := make([]Measured, len(p.Cells))
	for i := range p.Cells {
		p.Cells[i].State, measured[i] = experiment.Done, ran(1000, 1000)
		if p.Cells[i].Round == 1 {
			measured[i].Run.Run.Summary.AchievedRate = 900
		}
	}
	const want = "measured, without this figure"
	r, f, knee := results{s, p, measured}, figureOf("e2e.p50"), s.Table("knee")
	one, row := r.standing(knee, f).Rows[0].Places[0], r.outcome(knee, f, 0).Rows[0]
	if one.Remark != want || row.Remark != want {
		t.Errorf("ranked: %q, in a table: %q", one.Remark, row.Remark)
	}
}

// plimsoll's error in latencies is no limit of a rate, but in a closed loop that waits for it; a
// lack of CPU time is.
func TestOwnErrorLimitsLatenciesOnly(t *testing.T) {
	m := beside(ran(1000, 496e6), 300e6)
	if rate := figureOf("sent"); rate.limit(m) != "" || rate.unfit(m) != nil {
		t.Errorf("a rate is limited by %q: %+v", rate.limit(m), rate.unfit(m))
	}
	latency := figureOf("e2e.p99")
	if latency.limit(m) != verdict.SideGenerator || latency.unfit(m) == nil {
		t.Errorf("a latency is limited by %q", latency.limit(m))
	}
	g := &m.Run.Run.Summary.Generator
	g.CPULimitCores, g.ThrottledNs = 1, m.Run.Run.Summary.WindowNs/2
	if figureOf("sent").unfit(m) == nil {
		t.Error("a load without CPU time has a rate")
	}
	for share, limited := range map[float64]bool{0.1: false, 0.3: true} {
		m := beside(ran(1000, 496e6), 300e6)
		s := &m.Run.Run.Summary
		s.Latency = append(s.Latency, result.Latency{Series: result.Publish, Count: 1e5, MeanNs: 1e8},
			result.Latency{Series: result.SendCall, Count: 1e5, MeanNs: 1e8})
		s.Instrument.Publish.MeanNs, m.Run.Run.Load.Closed = share*1e8, &result.Closed{}
		if got := figureOf("sent").unfit(m) != nil; got != limited {
			t.Errorf("a closed loop that waits for plimsoll %v of its time: limited %t", share, got)
		}
	}
}
