package compare

import (
	"fmt"
	"math"
	"math/rand/v2"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
)

// simulated draws realistic runs: each has its own level, neighbouring seconds are alike, and
// messages have a long tail.
type simulated struct {
	random   *rand.Rand
	between  float64 // standard deviation of the runs' levels, as a share
	within   float64 // standard deviation of the seconds' levels
	memory   float64 // correlation of a second with the next
	seconds  int
	messages int     // each second; 0: no histograms
	tail     float64 // planted: factor by which slow messages are slower

	// rounds is the standard deviation of the levels of rounds, which both sides
	// share; runs are trials then.
	rounds float64
	levels []float64                // of rounds
	shape  func(*rand.Rand) float64 // of the runs' levels; nil: normal
}

// level draws the level of a run, as a logarithm.
func (s *simulated) level(id int) float64 {
	draw := (*rand.Rand).NormFloat64
	if s.shape != nil {
		draw = s.shape
	}
	level := s.between * draw(s.random)
	if s.rounds == 0 {
		return level
	}
	for len(s.levels) <= id {
		s.levels = append(s.levels, s.rounds*s.random.NormFloat64())
	}
	return level + s.levels[id]
}

// run draws one run.
func (s *simulated) run(id int) *result.Saved {
	saved := &result.Saved{Run: result.Run{
		ID: fmt.Sprintf("run-%d", id), Name: "sim", State: result.Complete, Seed: uint64(id),
		Phases: []result.Phase{{Name: result.PhaseWarmup, EndNs: 0},
			{Name: result.PhaseMeasure, StartNs: 0, EndNs: int64(s.seconds) * 1e9}},
		Summary: result.Summary{WindowNs: int64(s.seconds) * 1e9},
	}}
	level := math.Exp(s.level(id))
	if s.rounds > 0 {
		saved.Run.Trial = &result.Trial{Set: "set", Round: id + 1}
	}
	if s.messages == 0 {
		s.figures(&saved.Run, level)
		return saved
	}
	state := s.random.NormFloat64()
	totals := []*hdr.Histogram{result.NewHistogram(), result.NewHistogram()}
	for second := range s.seconds {
		state = s.memory*state + math.Sqrt(1-s.memory*s.memory)*s.random.NormFloat64()
		now := level * math.Exp(s.within*state)
		for at, series := range []result.Series{result.Publish, result.EndToEnd} {
			h := hdr.NewPacked(result.HistogramMinNs, result.HistogramMaxNs, result.HistogramDigits)
			for range s.messages {
				v := 1e6 * float64(at+1) * now * math.Exp(0.4*s.random.NormFloat64())
				if v > 2e6*float64(at+1) {
					v *= s.tail
				}
				_ = h.RecordValue(int64(v))
				_ = totals[at].RecordValue(int64(v))
			}
			saved.Latency = append(saved.Latency,
				result.IntervalLatency{Series: series, StartNs: int64(second) * 1e9,
					EndNs: int64(second+1) * 1e9, Histogram: h})
		}
		saved.Intervals = append(saved.Intervals,
			result.Interval{Phase: result.PhaseMeasure, StartNs: int64(second) * 1e9,
				EndNs: int64(second+1) * 1e9,
				Acked: int64(1e4 * (1 + 0.01*s.random.NormFloat64()))})
	}
	acked := int64(0)
	for _, i := range saved.Intervals {
		acked += i.Acked
	}
	saved.Run.Summary.AchievedRate = float64(acked) / float64(s.seconds)
	for at, series := range []result.Series{result.Publish, result.EndToEnd} {
		saved.Run.Summary.Latency = append(saved.Run.Summary.Latency,
			result.Summarize(series, totals[at], 0, 0))
	}
	return saved
}

// figures fills a run's summary directly: percentiles vary together, higher ones more, and each
// with its own noise.
func (s *simulated) figures(r *result.Run, level float64) {
	own := func(sd float64) float64 { return math.Exp(s.between * sd * s.random.NormFloat64()) }
	for at, series := range []result.Series{result.Publish, result.EndToEnd} {
		l := result.Latency{Series: series, Count: 1e6}
		for i, p := range []float64{50, 99, 99.9} {
			v := 1e6 * float64(at+1) * float64(1+3*i) * math.Pow(level, 1+float64(i)/4) * own(0.3)
			if p >= 99 {
				v *= s.tail
			}
			l.Percentiles = append(l.Percentiles,
				result.Percentile{Percentile: p, LatencyNs: int64(v)})
		}
		r.Summary.Latency = append(r.Summary.Latency, l)
	}
	r.Summary.AchievedRate, r.Summary.ReceivedRate = 1e4*own(0.05), 1e4*own(0.05)
	r.Summary.Instrument = &result.Instrument{}
	r.Observation = result.Observation{Servers: []string{"n1"}, WindowNs: r.Summary.WindowNs,
		Processes: []result.ProcessUse{{Name: "n1", CPUSeconds: own(1)},
			{Name: result.Self, CPUSeconds: 0.3}}}
}

func (s *simulated) side(name string, runs int, tail float64) Side {
	side := Side{Name: name}
	s.tail = tail
	for i := range runs {
		side.Runs = append(side.Runs, s.run(i))
	}
	return side
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }
