package compare

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	resamples = 1000
	// fewestIntervals is how many intervals a run needs for its own variation to
	// be told.
	fewestIntervals = 10
	// mostIntervals bounds the work for a long run: more are merged with their
	// neighbours first.
	mostIntervals = 240
	// resolution is the share of a value by which figures are told apart at all:
	// that of the histograms.
	resolution = 0.001
)

// Within is how sure a figure of one run is by what varied within that run. It
// says nothing of how another run of the same would come out.
type Within struct {
	se  float64 // standard error of the logarithm
	dof float64 // degrees of freedom that it has
	// The least and the greatest figure of an interval: that of all of them
	// together lies between. 0 and infinite for a ratio.
	least, greatest float64
}

// Interval is the interval around a value above 0 that has at each end the
// probability tail.
func (w Within) Interval(value, tail float64) (low, high float64) {
	r := w.se * student(w.dof, tail)
	return max(value*math.Exp(-r), min(w.least, value)), min(value*math.Exp(r), max(w.greatest, value))
}

// student is the value beyond which Student's distribution has the
// probability tail.
func student(dof, tail float64) float64 {
	return stats.InvCDF(stats.TDist{V: dof})(1 - tail)
}

// Of finds how sure a figure of a run is, by a circular block bootstrap
// (Politis and Romano, "A Circular Block-Resampling Procedure for Stationary
// Data", 1992) over the run's intervals: whole blocks of them are drawn, their
// histograms merged, and the figure read. Neighbouring intervals are alike, so
// that drawing them one by one would promise too much. ok is false where the run
// is too short, or the figure is not one of intervals.
//
// Few blocks scatter less than what they stand for: the variance is widened by
// k/(k-1) for k blocks and by what a block forgets, and the interval is
// Student's with k-1 degrees of freedom, on the logarithm.
func Of(s *result.Saved, f Figure) (Within, bool) {
	value, known := f.Value(&s.Run)
	if !known || value <= 0 {
		return Within{}, false
	}
	var draw func(weights []int32) float64
	var each []float64
	switch {
	case f.series != "":
		parts := partsOf(s, f.series)
		each = parts.each(f.percentile)
		parts = parts.between(each)
		draw = func(w []int32) float64 { return parts.percentile(w, f.percentile) }
	case f.Name == "rate":
		each = ratesOf(s)
		draw = func(w []int32) float64 { return weighted(each, w) }
	}
	n := len(each)
	if n < fewestIntervals {
		return Within{}, false
	}
	length := (n + blocks - 1) / blocks
	random := rand.New(rand.NewPCG(s.Run.Seed, hash(f.Name)))
	weights, logs := make([]int32, n), make([]float64, 0, resamples)
	for range resamples {
		clear(weights)
		for left := n; left > 0; left -= length {
			at := random.IntN(n)
			for i := range min(length, left) {
				weights[(at+i)%n]++
			}
		}
		if v := draw(weights); v > 0 {
			logs = append(logs, math.Log(v))
		}
	}
	if len(logs) < resamples/2 {
		return Within{}, false
	}
	drawn := float64(n) / float64(length)
	se := stats.StdDev(logs) * math.Sqrt(drawn/(drawn-1)*widening(each, length))
	return Within{se: math.Hypot(se, resolution/2), dof: drawn - 1, least: slices.Min(each), greatest: slices.Max(each)}, true
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

// blocks is how many blocks a run is cut into. Few and long ones give an interval
// that keeps its word at the price of its width (Schmeiser, "Batch Size Effects
// in the Analysis of Simulation Output", 1982).
const blocks = 5

// widening is by how much the variance of what is drawn in blocks of a length
// falls short of what it stands for, because a block does not know what came
// before it: exact for a series whose neighbours correlate and that has no
// longer memory (a first-order autoregression), with the correlation freed of
// its bias in short series (Kendall, "Note on Bias in the Estimation of
// Autocorrelation", 1954).
func widening(series []float64, length int) float64 {
	n, l := float64(len(series)), float64(length)
	c := autocovariance(series, 1)
	if c[0] <= 0 {
		return 1
	}
	r := min((c[1]/c[0]+1/n)/(1-3/n), mostCorrelation)
	if r <= 0 {
		return 1
	}
	whole := (1 + r) / (1 - r)
	return whole / (whole - 2*r*(1-math.Pow(r, l))/(l*(1-r)*(1-r)))
}

// mostCorrelation keeps a series that only drifts from widening without bound.
const mostCorrelation = 0.95

// autocovariance is that of a series at lags 0 to most.
func autocovariance(series []float64, most int) []float64 {
	mean := stats.Mean(series)
	out := make([]float64, most+1)
	for k := range out {
		for i := k; i < len(series); i++ {
			out[k] += (series[i] - mean) * (series[i-k] - mean)
		}
		out[k] /= float64(len(series))
	}
	return out
}

// parts are the latencies of the measured messages by the interval in which
// they were seen.
type parts struct {
	values []int64  // every value that occurs, rising
	counts [][]tied // of each interval
	merged []int64  // of each value, for percentile
	one    []int32  // weights, for each
}

// tied is how often the value at a place occurs.
type tied struct {
	at    int32
	count int64
}

// partsOf sorts a run's histograms of a series by interval. What came after
// the window counts to its last interval.
func partsOf(s *result.Saved, series result.Series) *parts {
	_, end := window(&s.Run)
	var intervals []map[int64]int64
	started := int64(-1)
	for _, l := range s.Latency {
		if l.Series != series || l.Warmup {
			continue
		}
		if len(intervals) == 0 || (l.StartNs != started && l.StartNs < end) {
			intervals, started = append(intervals, map[int64]int64{}), l.StartNs
		}
		into := intervals[len(intervals)-1]
		for value, count := range l.Histogram.ForEachBucket {
			into[value] += count
		}
	}
	intervals = thinned(intervals)
	p := &parts{}
	places := map[int64]int32{}
	for _, i := range intervals {
		for v := range i {
			places[v] = 0
		}
	}
	for v := range places {
		p.values = append(p.values, v)
	}
	slices.Sort(p.values)
	for at, v := range p.values {
		places[v] = int32(at)
	}
	for _, i := range intervals {
		var counts []tied
		for v, n := range i {
			counts = append(counts, tied{places[v], n})
		}
		slices.SortFunc(counts, func(a, b tied) int { return int(a.at - b.at) })
		p.counts = append(p.counts, counts)
	}
	p.merged, p.one = make([]int64, len(p.values)), make([]int32, len(p.counts))
	return p
}

// window is when the run measured, in ns since it started.
func window(r *result.Run) (from, to int64) {
	for _, p := range r.Phases {
		if p.Name == result.PhaseMeasure {
			return p.StartNs, p.EndNs
		}
	}
	return 0, math.MaxInt64
}

// thinned merges neighbours until there are no more than mostIntervals.
func thinned(intervals []map[int64]int64) []map[int64]int64 {
	each := (len(intervals) + mostIntervals - 1) / mostIntervals
	if each <= 1 {
		return intervals
	}
	var out []map[int64]int64
	for i, from := range intervals {
		if i%each == 0 {
			out = append(out, map[int64]int64{})
		}
		for v, n := range from {
			out[len(out)-1][v] += n
		}
	}
	return out
}

// percentile is that of the intervals together, each as often as its weight.
func (p *parts) percentile(weights []int32, percentile float64) float64 {
	clear(p.merged)
	total := int64(0)
	for i, w := range weights {
		if w == 0 {
			continue
		}
		for _, c := range p.counts[i] {
			p.merged[c.at] += c.count * int64(w)
			total += c.count * int64(w)
		}
	}
	rank := max(1, int64(percentile/100*float64(total)+0.5))
	for at, n := range p.merged {
		if rank -= n; rank <= 0 {
			return float64(p.values[at])
		}
	}
	return 0
}

// between keeps apart only the values from the least to the greatest of some
// percentiles, those of each interval: that of any mixture of intervals lies
// between them.
func (p *parts) between(each []float64) *parts {
	if len(each) == 0 {
		return p
	}
	low, high := int64(slices.Min(each)), int64(slices.Max(each))
	first, _ := slices.BinarySearch(p.values, low)
	last, found := slices.BinarySearch(p.values, high)
	if !found {
		last--
	}
	out := &parts{values: p.values[first : last+1], merged: make([]int64, last-first+1), one: p.one}
	for _, from := range p.counts {
		var counts []tied
		for _, c := range from {
			at := min(max(c.at, int32(first)), int32(last)) - int32(first)
			if n := len(counts); n > 0 && counts[n-1].at == at {
				counts[n-1].count += c.count
				continue
			}
			counts = append(counts, tied{at, c.count})
		}
		out.counts = append(out.counts, counts)
	}
	return out
}

// each is the percentile of each interval by itself.
func (p *parts) each(percentile float64) []float64 {
	out := make([]float64, len(p.counts))
	for i := range p.counts {
		p.one[i] = 1
		out[i] = p.percentile(p.one, percentile)
		p.one[i] = 0
	}
	return out
}

// ratesOf are the acknowledged messages per second of each whole interval of
// the measured window.
func ratesOf(s *result.Saved) []float64 {
	var out []float64
	for _, i := range s.Intervals {
		if length := i.EndNs - i.StartNs; i.Phase == result.PhaseMeasure && length >= 5e8 {
			out = append(out, float64(i.Acked)*1e9/float64(length))
		}
	}
	return out
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
