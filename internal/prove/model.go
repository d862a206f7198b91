package prove

import (
	"math"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// distribution is a known distribution of latencies.
type distribution struct {
	// at returns the quantile of a share: the latency in ns that this share of the
	// messages does not exceed. Without a largest latency, at(1) is infinite.
	at func(share float64) float64
	// drawn says that each message's latency is random, so that a percentile of n messages
	// varies. Otherwise every latency is known.
	drawn bool
	// edge is the number of messages by which the rank of a percentile may vary, because
	// it depends on the time at which the run began.
	edge float64
}

// model is the distribution of a workload's measured messages.
type model func(w *workload.Workload) distribution

// sigmas is the allowed sampling error in standard deviations. With 4 and a hundred figures,
// one table in a hundred is wrong by chance.
const sigmas = 4

// between returns the smallest and the largest latency that n messages of the distribution
// may show as the quantile of a share.
func (d distribution) between(share, n float64) (low, high float64) {
	off := d.rankError(share, n)
	return d.at(max(share-off, 0)), d.at(min(share+off, 1))
}

// rankError returns the error of a quantile's rank among n messages, as a share of them. It
// adds the error of the binomial distribution, the edges, and one rank for rounding.
func (d distribution) rankError(share, n float64) float64 {
	off := (1 + d.edge) / n
	if d.drawn {
		off += sigmas * math.Sqrt(share*(1-share)/n)
	}
	return off
}

// plus returns a model that adds a constant to every latency.
func (m model) plus(longer time.Duration) model {
	return func(w *workload.Workload) distribution {
		d := m(w)
		at := d.at
		d.at = func(share float64) float64 { return at(share) + float64(longer) }
		return d
	}
}

// always is a model with one constant latency.
func always(latency time.Duration) model {
	return func(*workload.Workload) distribution {
		return distribution{at: func(float64) float64 { return float64(latency) }}
	}
}

// twoTimes is a model with two latencies: slow for a share of the messages, fast for the
// others.
func twoTimes(fast, slow time.Duration, slowShare float64) model {
	return func(*workload.Workload) distribution {
		return distribution{drawn: true, at: func(share float64) float64 {
			if share > 1-slowShare {
				return float64(slow)
			}
			return float64(fast)
		}}
	}
}

// lognormal is a model with a median and the standard deviation of the logarithm.
func lognormal(median time.Duration, sigma float64) model {
	return func(*workload.Workload) distribution {
		return distribution{drawn: true, at: func(share float64) float64 {
			return float64(median) * math.Exp(sigma*math.Sqrt2*math.Erfinv(2*share-1))
		}}
	}
}

// exponential is a model with a mean.
func exponential(mean time.Duration) model {
	return func(*workload.Workload) distribution {
		return distribution{drawn: true, at: func(share float64) float64 {
			return -float64(mean) * math.Log(1-share)
		}}
	}
}

// held is a model of a system that stops for a stretch of each period, and otherwise serves
// each message in a constant time. The run lasts whole periods and its messages come at
// equal intervals, so only the messages at the edges of the stretches depend on the time at
// which the run began.
func held(every, stretch, service time.Duration) model {
	return func(w *workload.Workload) distribution {
		share := float64(stretch) / float64(every)
		periods := float64(w.Duration) / float64(every)
		return distribution{edge: 2 * periods, at: func(below float64) float64 {
			return max(below-(1-share), 0)/share*float64(stretch) + float64(service)
		}}
	}
}

// evenly is a model of transactions: each message waits for the end of its period, and then
// for a constant time. Messages come at equal intervals, so the waits are evenly distributed.
func evenly(period, beside time.Duration) model {
	return func(w *workload.Workload) distribution {
		periods := float64(w.Duration) / float64(period)
		return distribution{edge: 2 * periods, at: func(share float64) float64 {
			return share*float64(period) + float64(beside)
		}}
	}
}

// queue is a model of a system that serves messages one by one at a rate. It computes the
// latencies by Lindley's recursion over the due times of the workload.
func queue(perSecond float64) model {
	return func(w *workload.Workload) distribution {
		return known(sojourns(dueTimes(w), 1e9/perSecond))
	}
}

// waiting is a model of a consumer that handles messages one by one at a rate: the latency ends
// when the handling begins.
func waiting(perSecond float64) model {
	return func(w *workload.Workload) distribution {
		latencies := sojourns(dueTimes(w), 1e9/perSecond)
		for i := range latencies {
			latencies[i] -= 1e9 / perSecond
		}
		return known(latencies)
	}
}

// known returns the distribution of a list of latencies.
func known(latencies []float64) distribution {
	slices.Sort(latencies)
	return distribution{at: func(share float64) float64 {
		rank := int(math.Ceil(share*float64(len(latencies)) - 1e-9))
		return latencies[min(max(rank, 1), len(latencies))-1]
	}}
}

// dueTimes returns the due times of a workload's messages, in ns since its start.
func dueTimes(w *workload.Workload) (dueNs []float64) {
	cursor := load.NewSchedule(w.Load, 0, w.Seed).Cursor(0, 1)
	for _, ns, ok := cursor.Next(); ok; _, ns, ok = cursor.Next() {
		dueNs = append(dueNs, float64(ns))
	}
	return dueNs
}

// sojourns returns the latencies of messages that a server serves one after another.
func sojourns(dueNs []float64, serviceNs float64) []float64 {
	latencies, free := make([]float64, len(dueNs)), 0.0
	for i, due := range dueNs {
		free = max(due, free) + serviceNs
		latencies[i] = free - due
	}
	return latencies
}
