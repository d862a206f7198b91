package compare

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
)

// moreBeyond is how many times as many messages as above a percentile lie above the latency that
// also tells how bursty a run is: above the percentile itself there may be too few bursts.
const moreBeyond = 10

// ranks are the ranks of a percentile in a run: the share of messages above it, and how sure that
// share is. Its interval is that of the share, read from the run's latencies (Conover, "Practical
// Nonparametric Statistics", 1999, chapter 3.2). Latencies of a busy queue come in few bursts,
// which a run may have missed; the interval is therefore wider above the percentile than below.
type ranks struct {
	values []int64
	up     []int64 // messages up to each value
	bound  int64   // values from here on are lower bounds
	share  stats.Share
	// scale is the mean distance of the messages above the percentile from it, if the tail is
	// exponential; 0: unknown.
	scale float64
}

func ranksOf(p *parts, percentile float64) *ranks {
	r := &ranks{values: p.values, bound: p.bound, up: make([]int64, len(p.values))}
	for _, counts := range p.counts {
		for _, c := range counts {
			r.up[c.at] += c.count
		}
	}
	for i := 1; i < len(r.up); i++ {
		r.up[i] += r.up[i-1]
	}
	above := 1 - percentile/100
	at, more := r.at(above), r.at(min(moreBeyond*above, 0.5))
	r.share = p.beyond(at)
	if moreBeyond*above <= 0.5 && more < at {
		r.share = r.share.With(p.beyond(more))
		r.scale = float64(r.values[at]-r.values[more]) / math.Log(moreBeyond)
	}
	r.share.Share = above
	return r
}

// at returns the index of the value above which a share of the messages lies.
func (r *ranks) at(above float64) int {
	return r.rank((1 - above) * float64(r.up[len(r.up)-1]))
}

// rank returns the index of the value that rank messages do not exceed.
func (r *ranks) rank(rank float64) int {
	at, _ := slices.BinarySearch(r.up, max(1, int64(math.Ceil(rank-1e-6))))
	return min(at, len(r.up)-1)
}

// beyond returns the share of messages above the value at an index.
func (p *parts) beyond(at int) stats.Share {
	above, all := make([]float64, len(p.counts)), make([]float64, len(p.counts))
	for i, counts := range p.counts {
		for _, c := range counts {
			all[i] += float64(c.count)
			if int(c.at) > at {
				above[i] += float64(c.count)
			}
		}
	}
	return stats.ShareOf(above, all)
}

// interval returns the interval around the percentile's value, with the probability tail at each
// end. Its high end is infinite if it falls among messages without a latency. Where the share of
// messages above the percentile may be so much lower that the run has few such latencies or none,
// the high end follows from an exponential tail (Weissman, "Estimation of Parameters and Large
// Quantiles Based on the k Largest Observations", 1978).
func (r *ranks) interval(value, tail float64) (low, high float64) {
	least, most := r.share.Interval(tail)
	low = min(float64(r.values[r.at(most)]), value*(1-resolution/2))
	end := r.values[r.at(least)]
	if end >= r.bound {
		return low, math.Inf(1)
	}
	extended := value + r.scale*math.Log(r.share.Share/least)
	return low, max(float64(end), extended, value*(1+resolution/2))
}
