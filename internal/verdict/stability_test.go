package verdict

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

func TestTrendIsThatOfALine(t *testing.T) {
	var xs, ys []float64
	for i := range 21 {
		xs, ys = append(xs, float64(i)/2), append(ys, 100+7*float64(i)/2)
	}
	// Up to 29% of the points may have any value.
	ys[3], ys[4], ys[9], ys[20] = 1e6, 1e6, -1e6, 1e9
	got, ok := growthOf(xs, ys)
	if !ok || math.Abs(got.slope-7) > 1e-9 || got.low > 7 || got.high < 7 {
		t.Errorf("%+v", got)
	}
	if _, ok := growthOf(xs[:4], ys[:4]); ok {
		t.Error("four points have a trend")
	}
}

// The interval must contain the true slope about as often as stated, also for correlated points.
func TestTrendIntervalHoldsTheSlope(t *testing.T) {
	for name, memory := range map[string]float64{"independent": 0, "following": 0.6} {
		const trials = 2000
		random, held := rand.New(rand.NewPCG(1, 2)), 0
		for range trials {
			var xs, ys []float64
			noise := 0.0
			for i := range 21 {
				noise = memory*noise + random.NormFloat64()
				xs, ys = append(xs, float64(i)), append(ys, 0.3*float64(i)+noise)
			}
			if got, _ := growthOf(xs, ys); got.low <= 0.3 && 0.3 <= got.high {
				held++
			}
		}
		share := float64(held) / trials
		t.Logf("%s: %.3f", name, share)
		if share < map[string]float64{"independent": 0.92, "following": 0.80}[name] {
			t.Errorf("%s points: %.3f of the intervals hold the slope", name, share)
		}
	}
}

func TestTrendOfManyPointsIsBounded(t *testing.T) {
	xs, ys := make([]float64, 100_000), make([]float64, 100_000)
	for i := range xs {
		xs[i], ys[i] = float64(i), float64(2*i)
	}
	if got, ok := growthOf(xs, ys); !ok || got.slope != 2 || got.points > growthMost {
		t.Errorf("%+v", got)
	}
}

// window is a run of 10 s at 1,000/s with given queues at each of 20 readings. The first is the
// last reading of the warm-up.
func window(publish, unread func(i int) int64) *result.Saved {
	s := &result.Saved{Run: *good()}
	s.Run.Summary.ReceivedRate = 999
	s.Run.Load = result.Load{Topics: 1, Producers: 2, MaxInFlight: 1000, Subscriptions: 1}
	for i := range 21 {
		in := result.Interval{StartNs: int64(i) * 5e8, EndNs: int64(i+1) * 5e8,
			Phase:     result.PhaseMeasure,
			Scheduled: 500, Sent: 500, InFlight: publish(i), Backlog: unread(i),
			Latency: []result.Latency{{Series: result.Lag, Count: 500, MeanNs: 50_000},
				{Series: result.Publish, Count: 500, MaxNs: 9e6,
					Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 2e6},
						{Percentile: 99, LatencyNs: 8e6}}}}}
		if i == 0 {
			in.Phase = result.PhaseWarmup
		}
		s.Intervals = append(s.Intervals, in)
	}
	return s
}

func level(n int64) func(int) int64 { return func(int) int64 { return n } }
func grows(by float64) func(int) int64 {
	return func(i int) int64 { return 5 + int64(by*float64(i)/2) }
}
func objective(s string) []Objective { o, _ := ParseObjective(s); return []Objective{o} }
func broken(s Stability) (names string) {
	for _, c := range s.Clauses {
		if c.Outcome != result.Holds {
			names += c.Name + " "
		}
	}
	return strings.TrimSpace(names)
}

// Each clause breaks independently, keeps its evidence, and says whether it may pass. clauseCase
// is a window, its change, and the clauses that the change breaks.
type clauseCase struct {
	of      *result.Saved
	change  func(*result.Saved)
	slo     []Objective
	want    string
	passing bool
}

// clauseCases returns new cases for each test, because a change modifies the window.
func clauseCases() map[string]clauseCase {
	return map[string]clauseCase{
		"all is well":     {of: window(level(50), level(3))},
		"much in flight":  {of: window(level(5000), level(3))},
		"queue grows 1%":  {of: window(grows(10), level(0)), want: "backlog"},
		"unread grows 1%": {of: window(level(9), grows(10)), want: "backlog"},
		"grows by 0.1%":   {of: window(grows(1), level(0))},
		"shrinks":         {of: window(func(i int) int64 { return 5000 - 50*int64(i) }, level(0))},
		"not achieved": {of: window(level(5), level(5)),
			change: func(s *result.Saved) { s.Run.Summary.AchievedRate = 980 }, want: "achieved",
			passing: true},
		"short by what always waits": {
			of: window(func(i int) int64 { return 400 + 200*int64(i%3-1) }, level(5)),
			change: func(s *result.Saved) {
				s.Run.Summary.AchievedRate, s.Run.Summary.ReceivedRate = 980, 980
			}},
		"not received": {of: window(level(5), level(5)),
			change: func(s *result.Saved) { s.Run.Summary.ReceivedRate = 980 }, want: "achieved",
			passing: true},
		"one subscription of ten not received": {of: window(level(5), level(5)),
			change: func(s *result.Saved) {
				s.Run.Load.Subscriptions, s.Run.Summary.LeastReceivedRate = 10, 976
			}, want: "achieved", passing: true},
		"refused": {of: window(level(5), level(5)), change: func(s *result.Saved) {
			s.Run.Counters.Acked, s.Run.Counters.Failed = 9_999, 1
		}, want: "failures"},
		"lost": {of: window(level(5), level(5)),
			change: func(s *result.Saved) { s.Run.Ledger.Subscriptions[0].Lost = 1 },
			want:   "failures"},
		"own lag": {of: window(level(5), level(5)),
			change: func(s *result.Saved) { s.Run.Summary.Generator.OwnLagP99Ns = 1e9 },
			want:   "generator", passing: true},
		"cut short": {of: window(level(5), level(5)),
			change: func(s *result.Saved) { s.Run.State = result.Interrupted }, want: "whole"},
		"slo holds":  {of: window(level(5), level(5)), slo: objective("p99<9ms")},
		"slo broken": {of: window(level(5), level(5)), slo: objective("p99<8ms"), want: "slo"},
		"slo broken by a few intervals": {of: window(level(5), level(5)),
			slo: objective("p99<10ms"), want: "slo", passing: true,
			change: func(s *result.Saved) {
				s.Run.Summary.Latency[0].Percentiles[1].LatencyNs = 3e8
			}},
		"slo not known": {of: window(level(5), level(5)), slo: objective("e2e.p99<10ms"),
			want: "slo"},
		"lag grows": {of: window(level(5), level(5)), want: "lag", change: func(s *result.Saved) {
			for i := range s.Intervals {
				s.Intervals[i].Latency[0].MeanNs = 1e7 * float64(i)
			}
		}},
		"too few intervals": {of: window(level(5), level(5)),
			change: func(s *result.Saved) { s.Intervals = s.Intervals[:3] }, want: "backlog lag"},
	}
}

func TestStableBreaksClauseByClause(t *testing.T) {
	for name, c := range clauseCases() {
		t.Run(name, func(t *testing.T) {
			if c.change != nil {
				c.change(c.of)
			}
			v := Stable(c.of, c.slo)
			if got := broken(v); got != c.want || v.Stable != (c.want == "") ||
				v.Passing != c.passing {
				t.Errorf("%q, stable %v, passing %v, want %q, %v", got, v.Stable, v.Passing, c.want,
					c.passing)
			}
			for _, clause := range v.Clauses {
				if clause.Sentence == "" || clause.Outcome == result.Holds &&
					clause.Name != ClauseWhole && len(clause.Figures) == 0 {
					t.Errorf("no evidence: %+v", clause)
				}
			}
		})
	}
}

func TestUnsentMessagesWaitToo(t *testing.T) {
	s := window(level(1000), level(0))
	for i := range s.Intervals {
		s.Intervals[i].Sent = 490
	}
	if v := Stable(s, nil); math.Abs(v.SlopeRate-20) > 0.5 || v.Stable {
		t.Errorf("%+v", v)
	}
}

func TestLimitingSide(t *testing.T) {
	calm := window(level(50), level(3))
	calm.Run.Summary.Latency[2] = result.Latency{Series: result.Send, Count: 1000, MeanNs: 5e7}
	full := func(mean float64) *result.Saved {
		s := window(level(2000), level(0))
		for i := range s.Intervals {
			s.Intervals[i].Sent = 400
		}
		s.Run.Summary.Generator.BlockedSeconds = 9
		s.Run.Summary.Latency[2] = result.Latency{Series: result.Send, Count: 1000, MeanNs: mean}
		return s
	}
	lagging := window(grows(100), level(0))
	lagging.Run.Summary.Generator.OwnLagP99Ns = 1e9
	for name, c := range map[string]struct {
		of       *result.Saved
		slo      []Objective
		want     string
		sentence string
	}{
		"generator": {of: lagging, want: SideGenerator},
		"publish": {of: window(grows(100), level(0)), want: SidePublish,
			sentence: "grows by 100/s"},
		"consume": {of: window(level(9), grows(100)), want: SideConsume,
			sentence: "grows by 100/s"},
		"workload": {of: full(5e7), want: SideWorkload,
			sentence: "max_in_flight x producers / latency = 1,000 x 2 / 50ms = 40k/s"},
		"queue": {of: full(4e8), want: SidePublish},
		"slo publish": {of: window(level(5), level(5)), slo: objective("p99<8ms"),
			want: SidePublish, sentence: "8ms"},
	} {
		t.Run(name, func(t *testing.T) {
			side := LimitingSide(c.of, calm, Stable(c.of, c.slo))
			if side.Name != c.want || !strings.Contains(side.Sentence, c.sentence) {
				t.Errorf("%+v", side)
			}
		})
	}
}

func TestParseObjective(t *testing.T) {
	for s, want := range map[string]Objective{
		"p99<20ms":          {result.Publish, 99, 20e6},
		"publish.p99.9<1s":  {result.Publish, 99.9, 1e9},
		"p99.9<1s":          {result.Publish, 99.9, 1e9},
		"e2e.p99<50ms":      {result.EndToEnd, 99, 50e6},
		"end_to_end.max<2m": {result.EndToEnd, 100, int64(2 * time.Minute)},
		"e2e.p50 < 250us":   {result.EndToEnd, 50, 250e3},
		"max<1s":            {result.Publish, 100, 1e9},
	} {
		if got, err := ParseObjective(s); err != nil || got != want {
			t.Errorf("ParseObjective(%q) = %+v, %v", s, got, err)
		}
	}
	for s, teaches := range map[string]string{
		"":                               "write p99<20ms",
		"p99":                            "has no <",
		"p99<=20ms":                      "write < in place",
		"p98<20ms":                       "p99",
		"p99<20":                         "no unit",
		"p99<0s":                         "below 0s",
		"p99<-1ms":                       "negative",
		"publlish.p99<1s":                `did you mean "publish"`,
		"cpu.p99<1s":                     "publish, e2e",
		"p99>20ms":                       "has no <",
		"<20ms":                          "p50",
		strings.Repeat("p", 100) + "<1s": "at most 64",
	} {
		if _, err := ParseObjective(s); err == nil || !strings.Contains(err.Error(), teaches) {
			t.Errorf("ParseObjective(%q): %v, want it to say %q", s, err, teaches)
		}
	}
}

func FuzzParseObjective(f *testing.F) {
	for _, s := range []string{"p99<20ms", "e2e.p99.9<1.5s", "publish.max<2m", "p99<", ".<.",
		"p99<9223372036854775807ns"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := ParseObjective(s)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q: %q", s, err)
			}
			return
		}
		again, err := ParseObjective(o.String())
		if err != nil || again != o {
			t.Errorf("%q is %+v, written %q, read %+v, %v", s, o, o.String(), again, err)
		}
	})
}
