package compare

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	resamples = 1000
	// fewestIntervals is the number of intervals that a run needs to estimate its own variation.
	fewestIntervals = 10
	// mostIntervals bounds the work for a long run: more intervals are first merged with their
	// neighbours.
	mostIntervals = 240
	// mostEntries bounds the memory for the values of all intervals.
	mostEntries = 2_000_000
	// resolution is the relative resolution of figures: that of the histograms.
	resolution = 0.001
)

// Within is the uncertainty of a figure of one run, estimated from the variation within that run.
// It says nothing about the variation between runs.
type Within struct {
	se  float64 // standard error of the logarithm
	dof float64 // its degrees of freedom
	// The least and the greatest figure of an interval: the figure of the whole run lies between
	// them. 0 and infinite for a ratio.
	least, greatest float64
	// open is the probability that messages without a latency leave the percentile, or the ratio
	// of two, without an upper bound; openBelow, that they leave a ratio without a lower one.
	open, openBelow float64
	// ranks is set for a percentile: its interval is not symmetric.
	ranks *ranks
	// sequential is set for values that were looked at after each new one.
	sequential bool
	// sides is set for a ratio without pairs that has a sequential side.
	sides *[2]Within
}

// Interval returns the interval around a value above 0, with the probability tail at each end. Its
// high end is infinite if nothing bounds it, and its low end 0.
func (w Within) Interval(value, tail float64) (low, high float64) {
	if w.ranks != nil {
		low, high = w.ranks.interval(value, tail)
	} else {
		r := w.reach(tail)
		low = max(value*math.Exp(-r), min(w.least, value))
		high = min(value*math.Exp(r), max(w.greatest, value))
	}
	if w.open > tail {
		high = math.Inf(1)
	}
	if w.openBelow > tail {
		low = 0
	}
	return low, high
}

// Of estimates the uncertainty of a run's figure by a circular block bootstrap over the run's
// intervals (stats.CircularBlocks): it draws whole blocks, merges their histograms and reads the
// figure. Neighbouring intervals are alike, so drawing single intervals would promise too much. ok
// is false if the run is too short, or if intervals do not have the figure.
//
// The standard error serves comparisons, in which the skewness of two runs cancels. The interval of
// one run's percentile is that of ranks.
//
// Few blocks scatter less than the population: the variance is widened by k/(k-1) for k blocks and
// by the correlation that a block cuts off, and the interval is Student's with k-1 degrees of
// freedom, on the logarithm.
func Of(s *result.Saved, f figure.Figure) (Within, bool) {
	value, known := f.Value(&s.Run)
	if !known || value <= 0 {
		return Within{}, false
	}
	var each []float64
	var rank *ranks
	draw := func(weights []int32) float64 { return weighted(each, weights) }
	p := &parts{}
	switch {
	case f.Percentile > 0:
		p = partsOf(s, f.Series)
		if each = p.each(f.Percentile); len(each) >= fewestIntervals {
			rank = ranksOf(p, f.Percentile)
		}
		p = p.between(each)
		draw = func(w []int32) float64 { return p.percentile(w, f.Percentile) }
	case f.Name == figure.Rate:
		each = ratesOf(s, acked)
	case f.Name == figure.Received:
		each = ratesOf(s, func(i result.Interval) int64 { return i.Received })
	case f.Name == figure.PerCore:
		each = perCore(s)
	}
	n := len(each)
	if n < fewestIntervals {
		return Within{}, false
	}
	length := (n + blocks - 1) / blocks
	name := fnv.New64a()
	_, _ = name.Write([]byte(f.Name))
	random := rand.New(rand.NewPCG(s.Run.Seed, name.Sum64()))
	weights, logs := make([]int32, n), make([]float64, 0, resamples)
	for range resamples {
		stats.CircularBlocks(random, length, weights)
		if v := draw(weights); v > 0 {
			logs = append(logs, math.Log(v))
		}
	}
	if len(logs) < resamples/2 {
		return Within{}, false
	}
	drawn := float64(n) / float64(length)
	se := moremath.StdDev(logs) * math.Sqrt(drawn/(drawn-1)*stats.Widening(each, length))
	return Within{
		se: math.Hypot(se, resolution/2), dof: drawn - 1,
		least: slices.Min(each), greatest: slices.Max(each), open: float64(p.opened) / resamples,
		ranks: rank,
	}, true
}

// blocks is the number of blocks of a run. Few long blocks give a reliable but wide interval
// (Schmeiser, "Batch Size Effects in the Analysis of Simulation Output", 1982).
const blocks = 5

// ratesOf returns the rate, in messages per second, of each whole interval of the measured window;
// count returns the messages of an interval. With several subscriptions it is the sum of theirs:
// the relative variation is the same.
func ratesOf(s *result.Saved, count func(result.Interval) int64) (out []float64) {
	for _, i := range s.Intervals {
		if length := i.EndNs - i.StartNs; i.Phase == result.PhaseMeasure && length >= 5e8 {
			out = append(out, float64(count(i))*1e9/float64(length))
		}
	}
	return out
}

func acked(i result.Interval) int64 { return i.Acked }

// perCore returns the acknowledged messages per second of the servers' CPU time, of each interval
// of the measured window. Resources are read right after an interval's end.
func perCore(s *result.Saved) []float64 {
	rates := ratesOf(s, acked)
	var cores []float64
	for _, r := range s.Resources {
		used := 0.0
		for _, p := range r.Processes {
			if slices.Contains(s.Run.Observation.Servers, p.Name) {
				used += p.CPUSeconds
			}
		}
		if length := r.EndNs - r.StartNs; r.Phase == result.PhaseMeasure && length >= 5e8 {
			cores = append(cores, used*1e9/float64(length))
		}
	}
	if len(cores) != len(rates) || slices.Contains(cores, 0) {
		return nil
	}
	for i := range rates {
		rates[i] /= cores[i]
	}
	return rates
}

// weighted is a mean.
func weighted(values []float64, weights []int32) float64 {
	sum, n := 0.0, 0.0
	for i, w := range weights {
		sum += values[i] * float64(w)
		n += float64(w)
	}
	return sum / n
}
