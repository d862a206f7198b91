package peak_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The tests of this file make many searches whose trials are computed, not run, for a server that
// handles messages one by one, like systems/sim. The computed intervals go through the same
// verdict and the same search.

// server is a system that takes one message at a time.
type server struct {
	capacity       func(trial int) float64 // messages per second
	every, stall   float64                 // seconds; 0: no stalls
	service        float64                 // seconds beside the turn; a mean where that is random
	exponential    *rand.Rand              // draws service times; nil: they are constant
	random         *rand.Rand              // nil: constant arrivals
	now            float64                 // seconds since the server began
	warmup         float64
	trial, confirm float64 // windows, in seconds
	objectives     []verdict.Objective
	quantum        float64 // least seconds between two wake-ups of the pacer
}

// afterStall returns a time, or the end of the stall that contains it.
func (s *server) afterStall(at float64) float64 {
	if s.every == 0 {
		return at
	}
	if in := math.Mod(at, s.every); in >= s.every-s.stall {
		return at - in + s.every
	}
	return at
}

// gap draws the time to the next message, in mean gaps.
func (s *server) gap() float64 {
	if s.random == nil {
		return 1
	}
	return s.random.ExpFloat64()
}

// serviceTime draws the time of a message beside its turn.
func (s *server) serviceTime() float64 {
	if s.exponential == nil {
		return s.service
	}
	return s.service * s.exponential.ExpFloat64()
}

// run computes the figures that a verdict needs of a trial at a rate. It begins with an empty
// queue.
func (s *server) run(rate, length float64, number int) *result.Saved {
	every := min(max(length/20, 0.1), 1)
	warm := int(math.Ceil(s.warmup / every))
	warmup := float64(warm) * every
	ends := int(math.Round((warmup + length) / every))
	counts, answered := make([]int64, ends+1), make([]int64, ends+1)
	publish := result.NewHistogram()
	turn, free := 1/s.capacity(number), 0.0
	latencies, woke := newLatencies(warmup, every, ends-warm), 0.0
	var offered, acked int64
	for due := 0.0; ; {
		due += s.gap() / rate
		if due >= warmup+length {
			break
		}
		if due > woke { // else it was due while the pacer slept
			woke = max(due, woke+s.quantum)
		}
		handed := woke
		free = s.afterStall(max(s.now+handed, free)) + turn
		answer := s.afterStall(free+s.serviceTime()) - s.now
		counts[int(due/every)]++
		answered[min(int(answer/every), ends)]++
		if due < warmup {
			continue
		}
		offered++
		_ = publish.RecordValue(int64((answer - due) * 1e9))
		if len(s.objectives) > 0 {
			latencies.add(answer, answer-due, answer-handed)
		}
		if answer < warmup+length {
			acked++
		}
	}
	saved := s.saved(publish, offered, length)
	saved.Latency = latencies.saved
	waits, within := int64(0), int64(0)
	for i := range ends {
		waits += counts[i] - answered[i]
		in := result.Interval{
			StartNs: int64(float64(i) * every * 1e9), EndNs: int64(float64(i+1) * every * 1e9),
			Phase: result.PhaseMeasure, Scheduled: counts[i], Sent: counts[i], InFlight: waits,
			Latency: []result.Latency{{Series: result.Lag, Count: counts[i], MeanNs: 1000}},
		}
		if i < warm {
			in.Phase = result.PhaseWarmup
		} else {
			within += answered[i]
		}
		saved.Intervals = append(saved.Intervals, in)
	}
	sum := &saved.Run.Summary
	sum.AchievedRate, sum.ReceivedRate = float64(within)/length, float64(within)/length
	s.now = max(s.now+warmup+length, free) + 1
	return saved
}

// latencies are the histograms of publish latency, and of it less own lag, by interval.
type latencies struct {
	saved []result.IntervalLatency
	each  []*hdr.PackedHistogram
}

func newLatencies(start, every float64, intervals int) (l latencies) {
	for i := range intervals {
		for _, series := range []result.Series{result.Publish, result.LessOwnLag} {
			h := hdr.NewPacked(result.HistogramMinNs, result.HistogramMaxNs, result.HistogramDigits)
			l.each = append(l.each, h)
			l.saved = append(l.saved, result.IntervalLatency{Series: series, Histogram: h,
				StartNs: int64((start + float64(i)*every) * 1e9),
				EndNs:   int64((start + float64(i+1)*every) * 1e9)})
		}
	}
	return l
}

// add adds a message that was answered at a time; all are in seconds.
func (l latencies) add(at, publish, lessOwnLag float64) {
	first, every := float64(l.saved[0].StartNs), float64(l.saved[0].EndNs-l.saved[0].StartNs)
	i := 2 * min(max(int((at*1e9-first)/every), 0), len(l.each)/2-1)
	_ = l.each[i].RecordValue(int64(publish * 1e9))
	_ = l.each[i+1].RecordValue(int64(lessOwnLag * 1e9))
}

func (s *server) saved(publish *hdr.Histogram, offered int64, length float64) *result.Saved {
	all := []result.SubscriptionLedger{{Acked: offered, Received: offered}}
	return &result.Saved{Run: result.Run{
		State: result.Complete, Counters: result.Counters{Scheduled: offered, Acked: offered},
		Ledger: result.Ledger{Accounted: true, Subscriptions: all},
		Load:   result.Load{Subscriptions: 1},
		Summary: result.Summary{
			OfferedRate: float64(offered) / length, WindowNs: int64(length * 1e9),
			Latency: []result.Latency{result.Summarize(result.Publish, publish, 0, 0)},
		},
	}}
}

// outcome judges a trial by every clause except the generator's, because the model has no
// generator.
func (s *server) outcome(run *result.Saved) peak.Outcome {
	v := verdict.Stable(run, s.objectives)
	o := peak.Outcome{Stable: true, Passing: v.Passing, Short: true, Undecided: true}
	o.AchievedRate = run.Run.Summary.AchievedRate
	for _, c := range v.Clauses {
		if c.Name != verdict.ClauseGenerator && c.Outcome != result.Holds {
			o.Stable, o.Short = false, o.Short && c.Short
			o.Undecided = o.Undecided && c.Undecided
		}
	}
	o.Undecided = o.Undecided && !o.Stable
	return o
}

// search makes a whole search, and describes its trials.
func (s *server) search(start float64) (peak.Bracket, peak.End, string) {
	search := peak.NewSearch(peak.Plan{
		StartRate: start, Tolerance: 0.03, Confirmations: 2, MaxTrials: peak.MostTrials,
		LeastRate: 10, MostRate: 1e6,
	})
	var story strings.Builder
	for n := 0; ; n++ {
		step, end := search.Next()
		if end != peak.Unfinished {
			return search.Bracket(), end, story.String()
		}
		length := s.trial
		if step.Long {
			length = s.confirm
		}
		o := s.outcome(s.run(step.Rate, length*float64(step.Stretch), n))
		search.Take(o)
		fmt.Fprintf(&story, "  %s %.1f x%d: %+v\n", step.Kind, step.Rate, step.Stretch, o)
	}
}

// holding counts the searches whose bracket contains the truth.
func holding(t *testing.T, searches int, truth float64, of func(i int) (*server, float64)) {
	t.Helper()
	held, found, width := 0, 0, 0.0
	for i := range searches {
		s, start := of(i)
		b, end, story := s.search(start)
		width += b.Width()
		if end == peak.Found {
			found++
		}
		if b.StableRate <= truth && b.UnstableRate >= truth {
			held++
			continue
		}
		t.Logf("search %d from %.0f: %s, %+v\n%s", i, start, end, b, story)
	}
	t.Logf("%d of %d hold %.0f, %d found what was asked, %.1f%% wide",
		held, searches, truth, found, width/float64(searches)*100)
	if held*20 < searches*19 {
		t.Errorf("only %d of %d brackets hold the truth", held, searches)
	}
}

// A pulse that is as long as a trial, or longer: a capacity of 5k/s with a stall of 1 s in 10 s,
// which leaves 4.5k/s.
func TestTruthModelPulse(t *testing.T) {
	million(t)
	for _, c := range []struct{ capacity, every, stall float64 }{
		{5000, 10, 1}, {500, 10, 3}, {500, 5, 0.5}, {500, 20, 2}, {500, 3, 0.3},
	} {
		t.Run(fmt.Sprintf("%v s in %v s", c.stall, c.every), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			holding(t, 20, c.capacity*(1-c.stall/c.every), func(int) (*server, float64) {
				return &server{
					capacity: func(int) float64 { return c.capacity }, service: 0.0002,
					every: c.every, stall: c.stall, now: 100 * random.Float64(),
					warmup: 1 + math.Floor(5*random.Float64()), trial: 10, confirm: 20,
				}, c.capacity * math.Pow(40, random.Float64()) / 10
			})
		})
	}
}

// Searches of the same system differ only by chance: service times are random. The resulting
// variation is not a pulse.
func TestTruthModelRepeatsAgree(t *testing.T) {
	million(t)
	for seed := range uint64(100) {
		s := &server{
			capacity: func(int) float64 { return 8000 }, warmup: 0.5, trial: 2, confirm: 4,
			service: 0.02, exponential: rand.New(rand.NewPCG(seed, 1)),
		}
		b, end, story := s.search(2500)
		holds := b.StableRate <= 8000 && b.UnstableRate >= 8000
		if !holds || b.StableRate < 8000*0.97 || b.Width() > 0.06 {
			t.Errorf("seed %d: %s, %+v\n%s", seed, end, b, story)
		}
	}
}

// drifting is a system with one capacity up to some trial, and another from then on.
func drifting(before, after float64, from int) *server {
	return &server{trial: 2, confirm: 4, warmup: 1, service: 0.0002, capacity: func(n int) float64 {
		if n < from {
			return before
		}
		return after
	}}
}

// A system whose capacity changes by a quarter down or a third up in the second half of a search,
// when it has seen both ends: the brackets of all such searches overlap, because both ends are
// tried again late and a bracket covers all observations. A change after the last trial of each
// end is too late to be seen.
func TestTruthModelDrift(t *testing.T) {
	million(t)
	for _, c := range []struct{ before, after float64 }{{2000, 1500}, {1500, 2000}} {
		for _, start := range []float64{300, 1100, 2500, 5000} {
			_, _, steady := drifting(c.before, c.before, 0).search(start)
			explored, _, _ := strings.Cut(steady, "confirm")
			trials, seen := strings.Count(steady, "\n"), strings.Count(explored, "\n")
			for from := max((trials+1)/2, seen); from <= trials-2; from++ {
				b, end, story := drifting(c.before, c.after, from).search(start)
				both := b.StableRate <= 1500 && b.UnstableRate >= 2000
				if !both || b.Confirmed == 0 || b.MixedRate == 0 {
					t.Errorf("%.0f/s, and %.0f/s from trial %d on, start %.0f: %s, %+v\n%s",
						c.before, c.after, from+1, start, end, b, story)
				}
			}
		}
	}
}

// waitsNoLonger returns the share of the waits of an M/D/1 queue that are no longer than a time
// (Erlang, "The Theory of Probabilities and Telephone Conversations", 1909): arrivals at a rate,
// each of which takes turn.
func waitsNoLonger(rate, turn, than float64) float64 {
	sum := 0.0
	for k := 0.0; k*turn < than; k++ {
		left := rate * (than - k*turn)
		lgamma, _ := math.Lgamma(k + 1)
		term := math.Exp(left + k*math.Log(left) - lgamma)
		if math.Mod(k, 2) == 1 {
			term = -term
		}
		sum += term
	}
	return (1 - rate*turn) * sum
}

// rateOf returns the rate up to which 99 of 100 messages are answered within a time.
func rateOf(turn, service, within float64) float64 {
	low, high := 0.0, 1/turn
	for range 60 {
		if middle := (low + high) / 2; waitsNoLonger(middle, turn, within-turn-service) > 0.99 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// The p99 of a queue with random arrivals and a constant service (M/D/1) exceeds a bound at a rate
// known from queueing theory. The slower queue has a fifth of the messages in its windows, and a
// pacer that adds a twentieth of the bound to latencies.
func TestTruthModelObjective(t *testing.T) {
	million(t)
	for _, c := range []struct{ capacity, quantum float64 }{{5000, 0}, {1000, 0.0005}} {
		t.Run(fmt.Sprintf("%v/s", c.capacity), func(t *testing.T) {
			turn := 1 / c.capacity
			o := verdict.Objective{Series: result.Publish, Percentile: 99,
				BelowNs: int64(10 * turn * 1e9)}
			truth := rateOf(turn, turn, 10*turn)
			if math.Abs(truth-0.749*c.capacity) > 0.001*c.capacity {
				t.Errorf("the formula says %.1f", truth)
			}
			random := rand.New(rand.NewPCG(3, 4))
			holding(t, 40, truth, func(int) (*server, float64) {
				return &server{
					capacity: func(int) float64 { return c.capacity }, service: turn,
					random: random, warmup: 1, trial: 10, confirm: 20, quantum: c.quantum,
					objectives: []verdict.Objective{o},
				}, c.capacity / 10 * math.Pow(20, random.Float64())
			})
		})
	}
}
