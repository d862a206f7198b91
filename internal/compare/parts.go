package compare

import (
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
)

// parts holds the latencies of the measured messages, by the interval of their answer or arrival.
type parts struct {
	values []int64  // every value that occurs, in ascending order
	counts [][]tied // of each interval
	merged []int64  // of each value, for percentile
	one    []int32  // weights 1, for each
	bound  int64    // values from here on are lower bounds of unknown ones
	opened int      // how many percentiles were such a bound
}

// tied says how often the value at an index occurs.
type tied struct {
	at    int32
	count int64
}

// partsOf sorts a run's latencies of a series by interval, with the messages that
// have none: those lie above every latency, or above the time for which they were waited. Events
// after the window count to its last interval.
func partsOf(s *result.Saved, series result.Series) *parts {
	all := slices.DeleteFunc(slices.Clone(s.Latency), func(l result.IntervalLatency) bool {
		return l.Series != series || l.Warmup
	})
	var starts []int64
	of, end := make([]int, len(all)), endOfWindow(&s.Run) // the interval of each
	for i, l := range all {
		last := len(starts) - 1
		if last < 0 || l.StartNs != starts[last] && l.StartNs < end {
			starts = append(starts, l.StartNs)
		}
		of[i] = len(starts) - 1
	}
	g := newGroups(len(starts))
	for i, l := range all {
		for value, count := range l.Histogram.ForEachBucket {
			g.add(of[i], value, count)
		}
	}
	bound := addMissing(s, series, g, starts)
	return newParts(g.all, bound)
}

// groups holds the values of intervals. A long run, or one of very many different values, has
// several neighbours in one group.
type groups struct {
	each    int // intervals
	all     []map[int64]int64
	entries int
}

func newGroups(intervals int) *groups {
	g := &groups{each: max(1, (intervals+mostIntervals-1)/mostIntervals)}
	for range (intervals + g.each - 1) / g.each {
		g.all = append(g.all, map[int64]int64{})
	}
	return g
}

// add adds a value to an interval.
func (g *groups) add(interval int, value, count int64) {
	into := g.all[interval/g.each]
	before := len(into)
	into[value] += count
	g.entries += len(into) - before
	if g.entries > mostEntries && len(g.all) > 1 {
		g.halve()
	}
}

// halve merges every two groups.
func (g *groups) halve() {
	g.each, g.entries = 2*g.each, 0
	var merged []map[int64]int64
	for pair := range slices.Chunk(g.all, 2) {
		for _, more := range pair[1:] {
			for value, count := range more {
				pair[0][value] += count
			}
		}
		g.entries += len(pair[0])
		merged = append(merged, pair[0])
	}
	g.all = merged
}

// newParts orders the values of the intervals. Values from bound on are lower bounds.
func newParts(intervals []map[int64]int64, bound int64) *parts {
	p := &parts{bound: bound}
	places := map[int64]int32{}
	for _, i := range intervals {
		for v := range i {
			places[v] = 0
		}
	}
	p.values = slices.Sorted(maps.Keys(places))
	for at, v := range p.values {
		places[v] = int32(at)
	}
	for _, i := range intervals {
		counts := make([]tied, 0, len(i))
		for v, n := range i {
			counts = append(counts, tied{places[v], n})
		}
		slices.SortFunc(counts, func(a, b tied) int { return int(a.at - b.at) })
		p.counts = append(p.counts, counts)
	}
	p.merged, p.one = make([]int64, len(p.values)), make([]int32, len(p.counts))
	return p
}

// endOfWindow returns the end of the measured window, in ns since the run's start. It is 0 while
// the run is under way: computing intervals would take CPU time from what is measured.
func endOfWindow(r *result.Run) int64 {
	for _, p := range r.Phases {
		if p.Name == result.PhaseMeasure {
			return p.EndNs
		}
	}
	return math.MaxInt64
}

// percentile returns the percentile of all intervals together, each with its weight.
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
			if p.values[at] >= p.bound {
				p.opened++
			}
			return float64(p.values[at])
		}
	}
	return 0
}

// between merges all values outside the range of the intervals' percentiles, because the
// percentile of any mixture of intervals lies in this range.
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
	out := &parts{bound: p.bound, values: p.values[first : last+1], merged: make([]int64,
		last-first+1), one: p.one}
	for _, from := range p.counts {
		counts := make([]tied, 0, min(len(from), last-first+1))
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

// each returns the percentile of each interval.
func (p *parts) each(percentile float64) []float64 {
	out := make([]float64, len(p.counts))
	for i := range p.counts {
		p.one[i] = 1
		out[i] = p.percentile(p.one, percentile)
		p.one[i] = 0
	}
	return out
}

// addMissing adds the messages without a latency of a series: to the interval in which they
// failed, if known, and otherwise evenly to all. It returns the value from which on values are
// lower bounds.
func addMissing(
	s *result.Saved, series result.Series, g *groups, starts []int64,
) (bound int64) {
	missing := s.Run.Latency(series).Missing
	if missing.Total() == 0 || len(starts) == 0 {
		return math.MaxInt64
	}
	endless := missing.Unanswered + missing.NotReceived
	bound = math.MaxInt64
	if series == result.Publish {
		least, counted := addWaited(s, g, starts)
		bound, endless = least, endless-min(missing.Unanswered, counted)
	}
	above := int64(0) // every latency and every bound
	for _, i := range g.all {
		for v := range i {
			above = max(above, v+1)
		}
	}
	deal := func(all int64, weight func(result.Interval) int64) {
		weights := make([]int64, len(starts))
		for _, i := range s.Intervals {
			if i.Phase == result.PhaseMeasure {
				weights[placeOf(starts, i.StartNs)] += max(0, weight(i))
			}
		}
		for at, n := range dealt(all, weights) {
			if n > 0 {
				g.add(at, above, n)
			}
		}
	}
	deal(missing.Refused, func(i result.Interval) int64 { return i.Failed })
	deal(missing.Unsent, func(i result.Interval) int64 { return i.Scheduled - i.Sent })
	deal(endless, func(result.Interval) int64 { return 0 })
	return min(bound, above)
}

// addWaited adds the times for which unanswered messages were waited, and returns the least of
// these bounds and their number. Times recorded after the window count to the interval in which
// the message was due.
func addWaited(s *result.Saved, g *groups, starts []int64) (least, count int64) {
	end := endOfWindow(&s.Run)
	least = math.MaxInt64
	for _, l := range s.Latency {
		if l.Series != result.Waited || l.Warmup {
			continue
		}
		for value, n := range l.Histogram.ForEachBucket {
			at := l.StartNs
			if at >= end {
				at = l.EndNs - value
			}
			g.add(placeOf(starts, at), value, n)
			least, count = min(least, value), count+n
		}
	}
	return least, count
}

// placeOf returns the interval that contains a moment, by the intervals' starts.
func placeOf(starts []int64, ns int64) int {
	at, found := slices.BinarySearch(starts, ns)
	if !found {
		at--
	}
	return max(0, at)
}

// dealt divides n by weights, as evenly as whole numbers allow; without weights, evenly.
func dealt(n int64, weights []int64) []int64 {
	total := int64(0)
	for _, w := range weights {
		total += w
	}
	out, before, given := make([]int64, len(weights)), 0.0, int64(0)
	for i, w := range weights {
		share := 1 / float64(len(weights))
		if total > 0 {
			share = float64(w) / float64(total)
		}
		before += share
		out[i] = int64(math.Round(before*float64(n))) - given
		given += out[i]
	}
	return out
}
