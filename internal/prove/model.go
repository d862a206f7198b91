package prove

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// distribution is what is known of the latency of a run's messages.
type distribution struct {
	// at is the latency in ns that this share of the messages stays below. Where it
	// has no largest latency, at(1) is infinite.
	at func(share float64) float64
	// drawn: each message's latency is drawn by itself, so that a percentile of n
	// messages varies; otherwise every latency is known.
	drawn bool
	// edge is how many messages more or fewer may fall on one side of a percentile,
	// where that depends on when the run began.
	edge float64
}

// model is the distribution of a workload's measured messages.
type model func(w *workload.Workload) distribution

// sigmas is how many standard deviations of the sampling error are allowed: with a
// hundred figures, one in a hundred tables is wrong by chance at 4.
const sigmas = 4

// between are the least and largest latencies that n messages of the distribution may
// show at a percentile, from 0 to 1.
func (d distribution) between(share, n float64) (low, high float64) {
	off := d.rankError(share, n)
	return d.at(max(share-off, 0)), d.at(min(share+off, 1))
}

// rankError is the error of a percentile's rank among n messages, as a share of them:
// that of the binomial distribution, the edges, and one rank for rounding.
func (d distribution) rankError(share, n float64) float64 {
	off := (1 + d.edge) / n
	if d.drawn {
		off += sigmas * math.Sqrt(share*(1-share)/n)
	}
	return off
}

// plus is a model whose every latency is longer.
func (m model) plus(longer time.Duration) model {
	return func(w *workload.Workload) distribution {
		d := m(w)
		at := d.at
		d.at = func(share float64) float64 { return at(share) + float64(longer) }
		return d
	}
}

// always is one latency for all.
func always(latency time.Duration) model {
	return func(*workload.Workload) distribution {
		return distribution{at: func(float64) float64 { return float64(latency) }}
	}
}

// twoTimes is a latency for most and another for a share.
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

// lognormal has a median and the standard deviation of the logarithm.
func lognormal(median time.Duration, sigma float64) model {
	return func(*workload.Workload) distribution {
		return distribution{drawn: true, at: func(share float64) float64 {
			return float64(median) * math.Exp(sigma*math.Sqrt2*math.Erfinv(2*share-1))
		}}
	}
}

func exponential(mean time.Duration) model {
	return func(*workload.Workload) distribution {
		return distribution{drawn: true, at: func(share float64) float64 {
			return -float64(mean) * math.Log(1-share)
		}}
	}
}

// held is a system that stands still for a stretch of each period, and takes a time
// for a message otherwise. The run lasts whole periods and its messages come evenly, so
// that only the messages at the edges of the stretches depend on when it began.
func held(every, stretch, service time.Duration) model {
	return func(w *workload.Workload) distribution {
		share := float64(stretch) / float64(every)
		periods := float64(w.Duration) / float64(every)
		return distribution{edge: 2 * periods, at: func(below float64) float64 {
			return max(below-(1-share), 0)/share*float64(stretch) + float64(service)
		}}
	}
}

// evenly is a wait for the end of a period, as transactions have, and a time beside: of
// messages that come evenly each waits a step less than the one before.
func evenly(period, beside time.Duration) model {
	return func(w *workload.Workload) distribution {
		periods := float64(w.Duration) / float64(period)
		return distribution{edge: 2 * periods, at: func(share float64) float64 {
			return share*float64(period) + float64(beside)
		}}
	}
}

// queue is a system that takes so many messages a second, one after another: Lindley's
// recursion over the times at which the workload's messages are due.
func queue(perSecond float64) model {
	return func(w *workload.Workload) distribution {
		return known(sojourns(dueTimes(w), 1e9/perSecond))
	}
}

// known is the distribution of latencies that are all known.
func known(latencies []float64) distribution {
	slices.Sort(latencies)
	return distribution{at: func(share float64) float64 {
		rank := int(math.Ceil(share*float64(len(latencies)) - 1e-9))
		return latencies[min(max(rank, 1), len(latencies))-1]
	}}
}

// dueTimes are when a workload's messages are due, in ns since its start.
func dueTimes(w *workload.Workload) (dueNs []float64) {
	cursor := load.NewSchedule(w.Load, 0, w.Seed).Cursor(0, 1)
	for _, ns, ok := cursor.Next(); ok; _, ns, ok = cursor.Next() {
		dueNs = append(dueNs, float64(ns))
	}
	return dueNs
}

// sojourns are how long messages take that are served one after another.
func sojourns(dueNs []float64, serviceNs float64) []float64 {
	latencies, free := make([]float64, len(dueNs)), 0.0
	for i, due := range dueNs {
		free = max(due, free) + serviceNs
		latencies[i] = free - due
	}
	return latencies
}

// pollaczekKhinchine is the mean time in ns that a message takes in a queue with
// Poisson arrivals and a constant service time (Pollaczek 1930, Khinchine 1932), and
// the standard deviation of such a mean over n messages, of which one resembles the
// next: that of independent queues with random arrivals of their own.
func pollaczekKhinchine(rate, perSecond float64, n int) (mean, deviation float64) {
	const queues = 100
	serviceNs, busy := 1e9/perSecond, rate/perSecond
	mean = serviceNs + busy*serviceNs/(2*(1-busy))
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	dueNs, squares := make([]float64, n), 0.0
	for range queues {
		at := 0.0
		for i := range dueNs {
			at += random.ExpFloat64() * 1e9 / rate
			dueNs[i] = at
		}
		sum := 0.0
		for _, latency := range sojourns(dueNs, serviceNs) {
			sum += latency
		}
		off := sum/float64(n) - mean
		squares += off * off
	}
	return mean, math.Sqrt(squares / queues)
}
