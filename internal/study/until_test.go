package study

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

const untilKnown = `
name: until
title: Until it is known
question: Which?
source: made up
rounds: 3
at_most: 1h
targets: [{name: steady, system: sim}, {name: noisy, system: sim, settings: {service_time: 5ms}}, {name: broken, system: sim, settings: {service_time: 6ms}}]
workloads: [{name: load}]
tables:
  - name: latency
    measure: run
    workload: load
    figures: [e2e.p99, lost]
    until: {e2e.p99: 10%}
    axes: [{name: system, values: [{name: steady, target: steady}, {name: noisy, target: noisy}, {name: broken, target: broken}]}]
  - name: other
    measure: run
    workload: load
    figures: [e2e.p50]
    axes: [{name: size, values: [{name: small, set: {message.size: 100B}}]}, {name: system, values: [{name: steady, target: steady}]}]
`

// latencyOf is the end-to-end p99 of the targets in a round, in ns.
func latencyOf(target string, round uint64) int64 {
	if target == "noisy" {
		return 1_000_000 + int64(round%2)*200_000
	}
	return 1_000_000 + int64(round%2)*1_000
}

// answering measures jobs with planted latencies. Every third run of a broken target fails.
func answering(t *testing.T) func(job *bench.Job) (*result.Saved, error) {
	return func(job *bench.Job) (*result.Saved, error) {
		t.Helper()
		if job.Target.Name == "broken" && job.Workload.Seed >= 3 {
			return nil, errors.New("no such server")
		}
		run := result.Run{SchemaVersion: result.SchemaVersion, ID: "run", State: result.Complete,
			Asked: job.Asked, Counters: result.Counters{Scheduled: 1, Acked: 1}}
		run.Summary.Latency = []result.Latency{{Series: result.EndToEnd, Count: 1e6,
			Percentiles: []result.Percentile{{Percentile: 99,
				LatencyNs: latencyOf(job.Target.Name, job.Workload.Seed)}}}}
		w, err := result.Create(job.Runs, &run)
		if err != nil {
			return nil, err
		}
		return &result.Saved{Dir: w.Dir(), Run: run}, w.Close(&run)
	}
}

// begunUntil returns the study in a folder, and its plan as it was asked for.
func begunUntil(t *testing.T, source string) (*Study, *Folder, *Plan) {
	t.Helper()
	s := parsed(t, source)
	p := planOf(t, s, Small)
	if _, err := Prepare(s, p, onSim, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	wanted := *p
	wanted.Cells = slices.Clone(p.Cells)
	f, err := Create(t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return s, f, &wanted
}

// roundsAt returns the number of rounds at each place.
func roundsAt(p *Plan) map[string]int {
	out := map[string]int{}
	for _, c := range p.Cells {
		out[c.At] = max(out[c.At], c.Round)
	}
	return out
}

// Cells are measured again until their figures are known, and the others are not.
func TestAStudyGoesOnUntilItsFiguresAreKnown(t *testing.T) {
	s, f, wanted := begunUntil(t, untilKnown)
	o := Options{Folder: f, Study: s, Job: onSim, Watch: &silent{}, Do: doing(answering(t))}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	at := roundsAt(f.Saved)
	if at["steady"] != 5 || at["noisy"] < 6 || at["noisy"] > 15 || at["broken"] != 3 ||
		at["small, steady"] != 3 {
		t.Errorf("rounds %v", at)
	}
	all, err := Assess(s, f.Saved, Measurements(f.Dir(), f.Saved))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range all.Standings[0].Rows[0].Places {
		if k := row.Known; i < 2 && (k == nil || k.More != 0 || k.Reach > 0.1 || k.Low > k.Mean) {
			t.Errorf("%s: %+v", row.At, k)
		}
	}
	if k := all.Standings[1].Rows[0].Places[0].Known; k != nil {
		t.Errorf("a figure without a bound: %+v", k)
	}
	// A study that is resumed keeps its further rounds.
	cells := len(f.Saved.Cells)
	if err := GoOn(f, wanted); err != nil || len(f.Saved.Cells) != cells ||
		!strings.Contains(states(f.Saved), "done") {
		t.Errorf("%d of %d cells, %v", len(f.Saved.Cells), cells, err)
	}
	if err := Run(t.Context(), o); err != nil || len(f.Saved.Cells) != cells {
		t.Errorf("%d of %d cells, %v", len(f.Saved.Cells), cells, err)
	}
}

// No further round begins that the time cannot hold: what is missing is said.
func TestAStudyEndsWithItsTime(t *testing.T) {
	s, f, _ := begunUntil(t, strings.Replace(untilKnown, "at_most: 1h", "at_most: 1s", 1))
	err := Run(t.Context(), Options{Folder: f, Study: s, Job: onSim, Watch: &silent{},
		Do: doing(answering(t))})
	if err != nil {
		t.Fatal(err)
	}
	if at := roundsAt(f.Saved); at["steady"] != 3 || at["noisy"] != 3 {
		t.Errorf("rounds %v", at)
	}
	all, err := Assess(s, f.Saved, Measurements(f.Dir(), f.Saved))
	if err != nil {
		t.Fatal(err)
	}
	if k := all.Standings[0].Rows[0].Places[1].Known; k == nil || k.More < 2 {
		t.Errorf("three rounds: %+v", k)
	}
	// Time that was used counts.
	s.AtMost = hour
	f.Saved.FurtherNs = int64(time.Hour)
	if err := Run(t.Context(), Options{Folder: f, Study: s, Job: onSim, Watch: &silent{},
		Do: doing(answering(t))}); err != nil || roundsAt(f.Saved)["noisy"] != 3 {
		t.Errorf("rounds %v, %v", roundsAt(f.Saved), err)
	}
	// A plan may have more time than its study.
	f.Saved.FurtherNs, f.Saved.AtMostNs, s.AtMost = 0, int64(time.Hour), second
	if err := Run(t.Context(), Options{Folder: f, Study: s, Job: onSim, Watch: &silent{},
		Do: doing(answering(t))}); err != nil || roundsAt(f.Saved)["noisy"] < 6 {
		t.Errorf("rounds %v, %v", roundsAt(f.Saved), err)
	}
	if _, again, err := Read(f.Dir()); err != nil || again.AtMost != hour {
		t.Errorf("%+v, %v", again, err)
	}
}

// The next round has the peaks of its rates.
func TestFurtherRoundsHaveTheirPeaks(t *testing.T) {
	s := parsed(t, strings.NewReplacer("figures: [e2e.p99, lost]",
		"figures: [e2e.p99, lost]\n    until: {e2e.p99: 5%}",
		"rounds: 3", "rounds: 3\nat_most: 1h").Replace(rounded))
	p := planOf(t, s, Small)
	measured := make([]Measured, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		if c.Set(experiment.Done, "run", ""); c.Table != "knee" || c.At != "one, 2, half" {
			continue
		}
		measured[i] = ran(1000, 1000*int64(c.Round))
	}
	scale, _ := s.Scale(Small)
	cells, err := results{s, p, measured}.further(scale)
	if err != nil || len(cells) != 2 || cells[0].Table != "peak" || cells[0].At != "one, 2" ||
		cells[1].At != "one, 2, half" || cells[0].Round != 4 || cells[1].Round != 4 {
		t.Errorf("%+v, %v", cells, err)
	}
}

// A study that adds rounds looks at a claim after its planned rounds, and after each further one.
// Two rounds of a side, where nothing else shows how they scatter, or fewer than planned show nothing.
func TestFurtherRoundsAreFurtherLooks(t *testing.T) {
	value := func(m Measured) float64 { return m.Search.Bracket.StableRate }
	found := func(tried []int, rates ...float64) side {
		var all []Measured
		for _, rate := range rates {
			all = append(all, free(rate))
		}
		return side{tried: tried, rounds: asRounds(all...)}
	}
	planned, fourth, seventh := []int{1, 2, 3}, []int{1, 2, 3, 4}, []int{1, 2, 3, 7}
	three := found(planned, 900, 1000, 1100)
	looked := func(planned quantity.Whole, of side) (low, high float64) {
		q := &question{results: results{study: &Study{Rounds: planned, AtMost: hour},
			plan: &Plan{Scale: Small}}}
		var r Reply
		q.ratio(&r, of, three, value, value)
		if r.Ours <= 0 || r.Rounds != len(of.rounds) {
			t.Errorf("%+v", r)
		}
		return r.Low, r.High
	}
	low, high := looked(3, three)
	wider, higher := looked(3, found(fourth, 900, 1000, 1100))
	if !(0 < wider && wider < low && low < 1 && 1 < high && high < higher) {
		t.Errorf("%g to %g, at the next look %g to %g", low, high, wider, higher)
	}
	if low, high := looked(3, found(seventh, 900, 1000, 1100)); low != wider || high != higher {
		t.Errorf("after rounds of other claims: %g to %g, want %g to %g", low, high, wider, higher)
	}
	three.tried = fourth
	if low, high := looked(3, found(fourth, 900, 1000, 1100)); low != wider || high != higher {
		t.Errorf("a further round on both sides: %g to %g, on one %g to %g", low, high, wider, higher)
	}
	if low, _ := looked(3, found(seventh, 900, 1000, 1100)); low >= wider {
		t.Errorf("a further round of each side: from %g, a common one from %g", low, wider)
	}
	three.tried = planned
	if low, high := looked(3, found(planned, 1, 1000, 1e6)); low <= 0 || low > 0.002 || high < 500 ||
		math.IsInf(high, 0) {
		t.Errorf("enormous scatter: %g to %g", low, high)
	}
	if low, high := looked(3, found(planned, 900, 1000)); low != 0 || high != 0 {
		t.Errorf("a round left out: %g to %g", low, high)
	}
	if low, high := looked(5, three); low != 0 || high != 0 {
		t.Errorf("rounds still to be measured: %g to %g", low, high)
	}
}

// A claim that only its scatter leaves undecided says how many further rounds would decide it,
// unless they would not: within brackets of searches, or within plimsoll's own error.
func TestWhatWouldDecide(t *testing.T) {
	scattered := func(ratio, sd float64) compare.RoundRatio {
		low, high := math.Exp(-sd), math.Exp(sd)
		return compare.Repeated([]float64{low, 1, high}, []float64{ratio * low, ratio, ratio * high},
			0, stats.Scatter{})
	}
	for name, c := range map[string]struct {
		known                compare.RoundRatio
		bracket, least, most float64
		decides              string
		more                 int
	}{
		"near":           {scattered(1.6, 0.03), 0, 1, 1, "about one more round", 1},
		"farther":        {scattered(1.6, 0.3), 0, 1, 1, "about 174 more rounds", 174},
		"below":          {scattered(1.4, 0.1), 0, 1, 1, "about 16 more rounds", 16},
		"above":          {scattered(3.1, 0.1), 0, 1, 1, "about 73 more rounds", 73},
		"too near":       {scattered(1.501, 0.1), 0, 1, 1, "more than 1,000 more rounds", 1000},
		"with brackets":  {scattered(1.6, 0.1), 0.05, 1, 1, "about 49 more rounds", 49},
		"within them":    {scattered(1.6, 0.1), 0.07, 1, 1, "longer searches", 0},
		"with own error": {scattered(1.6, 0.1), 0, 0.97, 1, "about 73 more rounds", 73},
		"within it": {scattered(1.6, 0.1), 0, 0.9, 1,
			"more cores for the load, so that plimsoll's own error is smaller", 0},
		"not known": {compare.RoundRatio{Ratio: 1.6}, 0, 1, 1, "more rounds", 0},
	} {
		t.Run(name, func(t *testing.T) {
			q := &question{claim: Claim{AtLeast: 1.5, AtMost: 3}}
			r := Reply{Ours: c.known.Ratio, Rounds: 3, Low: c.known.Low, High: c.known.High,
				known: c.known, bracket: c.bracket, least: c.least, most: c.most}
			q.decide(&r)
			if r.More != c.more || len(r.Doubts) != 1 || r.Doubts[0].Decides != c.decides ||
				r.scatters != strings.Contains(c.decides, "more round") {
				t.Errorf("%d, %+v, scatters: %t; want %d, %s", r.More, r.Doubts, r.scatters, c.more,
					c.decides)
			}
		})
	}
}

func TestBoundsOfFiguresAreChecked(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"at_most: 1h", "", "at_most is missing"},
		{"until: {e2e.p99: 10%}", "", "no table has until"},
		{"{e2e.p99: 10%}", "{e2e.p99: 0%}", "must be 1% to 100%"},
		{"{e2e.p99: 10%}", "{e2e.p99: 200%}", "is more than the whole"},
		{"{e2e.p99: 10%}", "{e2e.p50: 10%}", "is not a figure of the table"},
		{"{e2e.p99: 10%}", "{lost: 10%}", "which may be 0"},
		{"rounds: 3", "", "is of a table that is measured in rounds"},
	} {
		_, err := Parse("until.yaml", []byte(strings.Replace(untilKnown, c.from, c.to, 1)))
		var all strict.Violations
		if !errors.As(err, &all) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
}

// The rounds of other cells show how a cell of few rounds scatters: five cells with two rounds give
// two sides an interval after two rounds, and a narrower one after three, of this figure only. Cells
// that were not measured to the end show nothing.
func TestOtherCellsShowHowOneScatters(t *testing.T) {
	interval := func(others, rounds int, state experiment.CellState, atMost quantity.Span) (low,
		high float64) {
		p := &Plan{Scale: Small}
		q := &question{results: results{study: &Study{Rounds: quantity.Whole(rounds),
			AtMost: atMost}, plan: p}, figure: figureOf("peak")}
		add := func(at string, rate float64) side {
			var all []Measured
			var tried []int
			for i := range rounds {
				tried = append(tried, i+1)
				c := Cell{At: at, Round: i + 1}
				c.State = state
				p.Cells = append(p.Cells, c)
				all = append(all, free(rate*(1+0.05*float64(c.Round%2))))
			}
			q.measured = append(q.measured, all...)
			return side{tried: tried, rounds: asRounds(all...)}
		}
		of, to := add("of", 3_000), add("to", 1_000)
		for i := range others {
			add(strconv.Itoa(i), 1_000)
		}
		var r Reply
		q.compare(&r, of, to)
		return r.Low, r.High
	}
	if low, _ := interval(0, 2, experiment.Done, hour); low != 0 {
		t.Errorf("two rounds of two cells give an interval from %g", low)
	}
	if low, _ := interval(5, 2, experiment.Failed, hour); low != 0 {
		t.Errorf("cells that failed give an interval from %g", low)
	}
	if low, high := interval(5, 2, experiment.Done, hour); low < 2.5 || low >= 3 ||
		high <= 3 || high > 3.6 {
		t.Errorf("with five others two rounds give %g to %g", low, high)
	}
	low, high := interval(5, 3, experiment.Done, 0)
	aloneLow, aloneHigh := interval(0, 3, experiment.Done, 0)
	if low <= aloneLow || high >= aloneHigh {
		t.Errorf("with five others %g to %g, alone %g to %g", low, high, aloneLow, aloneHigh)
	}
}
