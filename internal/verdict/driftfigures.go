package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	// The length of a block, and the numbers of blocks between which it is changed. There are many
	// blocks, so that the correlation of their noise can be found, and they are longer than the
	// cycles of most collectors.
	blockNs      = int64(2 * time.Minute)
	leastBlocks  = 24
	mostBlocks   = 96
	fewestBlocks = 20 // with figures
	// afterSleepNs is left out after the machine slept: connections break and are reopened.
	afterSleepNs = int64(time.Minute)
	// standstillNs is the least hiccup for which an interval is left out.
	standstillNs = int64(time.Second)
)

// stretch is a part of the run, in ns.
type stretch struct{ from, to int64 }

// longWindow returns the measured window as far as it was recorded, and whether it is long enough
// to be judged for trends.
func longWindow(all []result.Interval) (w stretch, long bool) {
	for _, i := range all {
		if i.Phase != result.PhaseMeasure {
			continue
		}
		if w.to == 0 {
			w.from = i.StartNs
		}
		w.to = i.EndNs
	}
	return w, w.to-w.from >= driftLeast
}

// blocks divide the window into parts of equal length.
type blocks struct {
	window   stretch
	lengthNs int64
	n        int
	leftOut  []stretch
	some     []bool // has an interval
}

func blocksOf(s *result.Saved, w stretch) *blocks {
	n := int(min(max((w.to-w.from)/blockNs, leastBlocks), mostBlocks))
	b := &blocks{window: w, n: n, lengthNs: (w.to - w.from) / int64(n), some: make([]bool, n)}
	for _, z := range s.Run.Sleeps {
		b.leftOut = append(b.leftOut, stretch{z.FromNs, z.ToNs + afterSleepNs})
	}
	for _, i := range s.Intervals {
		worst := result.Summary{Latency: i.Latency}.Series(result.Hiccup).MaxNs
		if i.Phase == result.PhaseMeasure && worst >= standstillNs {
			b.leftOut = append(b.leftOut, stretch{i.StartNs, i.EndNs})
		}
	}
	for _, i := range s.Intervals {
		if at, ok := b.of(i.StartNs, i.EndNs); ok && i.Phase == result.PhaseMeasure {
			b.some[at] = true
		}
	}
	return b
}

// of returns the block of the middle of an interval; ok is false where there is none.
func (b *blocks) of(startNs, endNs int64) (at int, ok bool) {
	middle := startNs/2 + endNs/2
	if middle < b.window.from || middle >= b.window.to {
		return 0, false
	}
	for _, out := range b.leftOut {
		if middle >= out.from && middle < out.to {
			return 0, false
		}
	}
	return min(int((middle-b.window.from)/b.lengthNs), b.n-1), true
}

// seen returns the number of blocks with intervals.
func (b *blocks) seen() (n int) {
	for _, some := range b.some {
		if some {
			n++
		}
	}
	return n
}

// leftOutNs returns the total time left out of the window.
func (b *blocks) leftOutNs() (sum int64) {
	all := slices.Clone(b.leftOut)
	slices.SortFunc(all, func(x, y stretch) int { return int(x.from - y.from) })
	reached := b.window.from
	for _, out := range all {
		from, to := max(out.from, reached), min(out.to, b.window.to)
		sum += max(0, to-from)
		reached = max(reached, to)
	}
	return sum
}

// tally collects the values of a figure by block.
type tally struct {
	figure
	share  float64 // the least change over the window that matters
	blocks [][]float64
}

// figures holds the tallies of a run, in the order of their first values.
type figures struct {
	*blocks
	all []*tally
}

// add adds a value to a figure, and creates the figure with its first value.
func (a *figures) add(f figure, share float64, fills bool, at int, v float64) {
	f.fills = fills
	k := slices.IndexFunc(a.all, func(t *tally) bool { return t.name == f.name })
	if k < 0 {
		k = len(a.all)
		a.all = append(a.all, &tally{figure: f, share: share,
			blocks: make([][]float64, a.n)})
	}
	a.all[k].blocks[at] = append(a.all[k].blocks[at], v)
}

// figuresOf returns the figures by block: medians of readings, percentiles of merged histograms.
func figuresOf(s *result.Saved, b *blocks) []figure {
	a := &figures{blocks: b}
	a.latencies(s)
	a.rates(s)
	a.resources(s)
	days := float64(b.window.to-b.window.from) / float64(24*time.Hour)
	var out []figure
	for _, t := range a.all {
		var swings []float64
		for k, values := range t.blocks {
			if len(values) == 0 {
				continue
			}
			swings = append(swings, slices.Max(values)-slices.Min(values))
			middle := float64(k)*float64(b.lengthNs) + float64(b.lengthNs)/2
			t.hours = append(t.hours, middle/float64(time.Hour))
			t.values = append(t.values, stats.Median(values))
		}
		if len(t.values) < fewestBlocks || slices.Max(t.values) <= 0 {
			continue
		}
		level := stats.Median(t.values)
		if level <= 0 {
			level = slices.Max(t.values)
		}
		least := t.share * level
		if t.fills {
			least = max(least, dayShare*days*level, swingDrift*stats.Median(swings))
		}
		t.bound = least / (days * 24)
		out = append(out, t.figure)
	}
	return out
}

// latencies merges the histograms of each block. They come in order of time.
func (a *figures) latencies(s *result.Saved) {
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		var merged *hdr.Histogram
		block := -1
		for _, l := range s.Latency {
			at, ok := a.of(l.StartNs, l.EndNs)
			if l.Series != series || l.Warmup || !ok {
				continue
			}
			if at != block && merged != nil {
				a.percentiles(series, block, merged)
				merged.Reset()
			}
			if merged == nil {
				merged = result.NewLike(l.Histogram)
			}
			block = at
			l.Histogram.MergeInto(merged)
		}
		if merged != nil {
			a.percentiles(series, block, merged)
		}
	}
}

// percentiles adds the percentiles that a block's number of messages supports.
func (a *figures) percentiles(series result.Series, at int, h *hdr.Histogram) {
	name := strings.ReplaceAll(string(series), "end_to_end", "end-to-end")
	for _, p := range []float64{50, 99} {
		if result.Supported(p, h.TotalCount()) {
			a.add(figure{name: fmt.Sprintf("%s p%.0f", name, p), unit: result.UnitNs},
				latencyDrift, false, at, float64(h.ValueAtPercentile(p)))
		}
	}
}

// rates adds the rates of the intervals.
func (a *figures) rates(s *result.Saved) {
	own := figure{name: "plimsoll's own memory", unit: result.UnitBytes, own: true,
		process: true, room: float64(s.Run.Environment.MemoryBytes)}
	if len(s.Run.Workers) > 0 { // the memory of machines whose size is not known
		own.room = 0
	}
	if slices.Contains(s.Run.Observation.Servers, result.Self) {
		own.name, own.own = "memory of plimsoll, its embedded servers included", false
	}
	for _, i := range s.Intervals {
		at, ok := a.of(i.StartNs, i.EndNs)
		length := i.EndNs - i.StartNs
		if i.Phase != result.PhaseMeasure || !ok || length < 5e8 {
			continue
		}
		perSecond := func(n int64) float64 { return float64(n) * 1e9 / float64(length) }
		a.add(figure{name: "the achieved rate", unit: result.UnitMsgsPerSec}, rateDrift, false, at,
			perSecond(i.Acked))
		a.add(figure{name: "the received rate", unit: result.UnitMsgsPerSec}, rateDrift, false, at,
			perSecond(i.Received))
		if i.RSSBytes > 0 {
			a.add(own, fillDrift, true, at, float64(i.RSSBytes))
		}
	}
}

// resources adds the memory of the servers and the gauges, except counters. The size of the memory
// of other machines is not known.
func (a *figures) resources(s *result.Saved) {
	room, hosts := float64(s.Run.Environment.MemoryBytes), map[string]bool{}
	for _, h := range s.Run.System.Hosts {
		room, hosts[result.HostProcess(h.Name)] = 0, true
	}
	for _, r := range s.Resources {
		at, ok := a.of(r.StartNs, r.EndNs)
		if r.Phase != result.PhaseMeasure || !ok {
			continue
		}
		for _, p := range r.Processes {
			if p.Name != result.Self && p.RSSBytes > 0 {
				a.add(figure{name: "memory of " + p.Name, unit: result.UnitBytes,
					process: true, own: hosts[p.Name], room: room}, fillDrift, true,
					at, float64(p.RSSBytes))
			}
		}
		for _, g := range r.Gauges {
			if !g.Counter {
				a.add(figure{name: g.Name, unit: g.Unit}, fillDrift, true, at, g.Value)
			}
		}
	}
}
