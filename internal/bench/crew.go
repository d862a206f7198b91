package bench

import (
	"cmp"
	"context"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

// Crew gives runs workers in other processes.
type Crew interface {
	// Deal gives each worker its share of a run and has it connect to the target. Their times are
	// on the run's clock. dismiss, which is not nil, ends their part, also after an error.
	Deal(ctx context.Context, d Deal) (workers []load.Worker, dismiss func() error, err error)
	// Describe returns what is known of each worker, in the order of Deal.
	Describe() []result.Worker
}

// Deal is a run that is dealt out.
type Deal struct {
	Plan    load.Plan
	Target  *target.Target
	Options system.Options
	Trust   *target.Trust // what Options.TLS was made of
	Tell    func(load.Event)
}

// crewStart is headStart for workers elsewhere: the order to start has to reach all of them.
const crewStart = time.Second

// hands are what each worker of a crew did, beside what all of them did together.
type hands struct {
	cells   []*measure.Cells // its own lag
	last    []load.Sample
	before  []load.Sample // the interval before the last
	peakRSS []int64
	heldNs  []int64 // by their limits of CPU, in the measured window
}

// add takes the workers' samples of an interval.
func (h *hands) add(all []load.Sample) {
	if h.cells == nil {
		for range all {
			h.cells = append(h.cells, measure.NewCells(result.OwnLag))
		}
		h.peakRSS, h.heldNs = make([]int64, len(all)), make([]int64, len(all))
		h.last = make([]load.Sample, len(all))
	}
	for i, s := range all {
		h.cells[i].Add(s.Histograms)
		h.peakRSS[i] = max(h.peakRSS[i], s.Spent().RSSBytes)
	}
	h.before, h.last = h.last, all
}

// measured notes that the last interval was one of the measured window.
func (h *hands) measured() {
	for i := range h.last {
		h.heldNs[i] += h.last[i].Spent().ThrottledNs - h.before[i].Spent().ThrottledNs
	}
}

// fill completes what a result says of the workers.
func (h *hands) fill(all []result.Worker) []result.Worker {
	for i := range all {
		if i >= len(h.last) {
			break
		}
		w, c := &all[i], &h.last[i].Counters
		own := h.cells[i].Of(result.OwnLag, measure.Measured).Histogram
		w.Scheduled = c.Begun()[measure.Measured]
		w.Received = c.Received[measure.Measured]
		w.OwnLagP99Ns, w.OwnLagCount = own.ValueAtPercentile(99), own.TotalCount()
		spent := h.last[i].Spent()
		w.CPUSeconds, w.PeakRSSBytes = spent.CPUSeconds, h.peakRSS[i]
		w.CPULimitCores, w.MemoryLimitBytes = spent.CPULimitCores, spent.MemoryLimitBytes
		w.ThrottledNs = h.heldNs[i]
	}
	return all
}

// engage gives the session its workers: those of the crew, or one in this process.
func (s *session) engage(ctx context.Context, options system.Options) (err error) {
	if s.job.Crew == nil {
		s.workers = []load.Worker{load.NewLocal(s.plan, load.Means{
			Clock: s.job.Clock, Name: thisMachine, Cluster: s.cluster, Tell: s.hear,
		})}
		return nil
	}
	s.workers, s.dismiss, err = s.job.Crew.Deal(ctx, Deal{
		Plan: s.plan, Target: s.job.Target, Options: options,
		Trust: cmp.Or(s.trust, s.job.Trust), Tell: s.hear,
	})
	return err
}
