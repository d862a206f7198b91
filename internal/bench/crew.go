package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Crew gives runs workers in other processes.
type Crew interface {
	// Deal gives each worker its share of a run and makes it connect to the target. The workers'
	// times are on the run's clock. dismiss ends their part. It is never nil, and must be called
	// also after an error.
	Deal(ctx context.Context, d Deal) (workers []load.Worker, dismiss func() error, err error)
	// Describe returns what is known of each worker, in the order of Deal, and what chrony says of
	// this machine's clock (nil: nothing).
	Describe() (workers []result.Worker, own *result.Chrony)
}

// Deal is a run to divide among workers.
type Deal struct {
	Plan    load.Plan
	Target  *target.Target
	Options system.Options
	Trust   *target.Trust // the source of Options.TLS
	Tell    func(load.Event)
}

// wholeTopics reports whether the producers and the consumers of a topic are on one worker: with
// Job.Pair, and if each worker has its own system.
func (j *Job) wholeTopics() bool {
	return j.Pair || j.embedded()
}

// crewStart is headStart for workers elsewhere, because the order to start must reach all of them.
const crewStart = time.Second

// workerFigures holds the figures of each worker of a crew, beside the merged ones.
type workerFigures struct {
	last    []load.Sample
	before  []load.Sample // the interval before the last
	peakRSS []int64
	heldNs  []int64 // throttling by CPU limits, in the measured window
}

// add takes the workers' samples of an interval, whose histograms it drops.
func (h *workerFigures) add(all []load.Sample) {
	if h.last == nil {
		h.peakRSS, h.heldNs = make([]int64, len(all)), make([]int64, len(all))
		h.last = make([]load.Sample, len(all))
	}
	for i, s := range all {
		all[i].Histograms = nil
		h.peakRSS[i] = max(h.peakRSS[i], s.Spent().RSSBytes)
	}
	h.before, h.last = h.last, all
}

// measured records that the last interval was in the measured window.
func (h *workerFigures) measured() {
	for i := range h.last {
		h.heldNs[i] += h.last[i].Spent().ThrottledNs - h.before[i].Spent().ThrottledNs
	}
}

// fill completes a result's figures of the workers.
func (h *workerFigures) fill(all []result.Worker) []result.Worker {
	for i := range all {
		if i >= len(h.last) {
			break
		}
		w, c := &all[i], &h.last[i].Counters
		w.Scheduled = c.Begun()[measure.Measured]
		w.Received = c.Received[measure.Measured]
		w.OwnLagP99Ns, w.OwnLagCount = h.last[i].OwnLag.P99Ns, h.last[i].OwnLag.Count
		spent := h.last[i].Spent()
		w.CPUSeconds, w.PeakRSSBytes = spent.CPUSeconds, h.peakRSS[i]
		w.CPULimitCores, w.MemoryLimitBytes = spent.CPULimitCores, spent.MemoryLimitBytes
		w.ThrottledNs = h.heldNs[i]
	}
	return all
}

// clocksDifferNs returns the largest possible difference between the clocks of a producer's and a
// consumer's worker; 0: they share a clock.
func (r *run) clocksDifferNs() int64 {
	if r.job.wholeTopics() {
		return 0
	}
	bounds := []int64{0, 0}
	for _, w := range r.run.Workers {
		bounds = append(bounds, w.ClockBoundNs)
	}
	slices.Sort(bounds)
	return bounds[len(bounds)-1] + bounds[len(bounds)-2]
}

// CheckCrew refuses a workload that cannot be divided among the workers, and a crew in which a
// worker would have nothing to do.
func (j *Job) CheckCrew(workers int) error {
	w := j.Workload
	_, adds := w.AddedFrom()
	producers, consumers := w.Topics*w.Producers, w.Topics*w.AllSubscriptions()*w.Consumers
	most := max(producers, consumers)
	switch {
	case w.Existing != nil:
		return errors.New("existing_topics: workers cannot learn the number of partitions: " +
			"measure without --workers")
	case len(w.Scaling) > 0:
		return errors.New("scaling: one worker changes the number of consumers: measure " +
			"without --workers")
	case adds:
		return fmt.Errorf("fault %s: one worker tells its clients of new partitions: measure "+
			"without --workers", workload.FaultAddPartitions)
	case w.Handling.Fails > 0 && !j.wholeTopics():
		return errors.New("handling.fails: a message may be redelivered to another worker, which " +
			"cannot recognise it: add --pair, or measure without --workers")
	case j.wholeTopics() && w.Producers > 1:
		return fmt.Errorf("workers divide whole topics only with one producer for each topic, "+
			"not %d: set producers: 1, and more topics", w.Producers)
	case j.wholeTopics() && workers > w.Topics:
		return fmt.Errorf("too many workers (%d): at most %d, one for each topic",
			workers, w.Topics)
	case workers > most:
		return fmt.Errorf("too many workers (%d): at most %d for %d producers and %d consumers: "+
			"raise --producers", workers, most, producers, consumers)
	}
	return nil
}

// engage gives the session its workers: the crew's, or one in this process.
func (s *session) engage(ctx context.Context, options system.Options) (err error) {
	if s.job.Crew == nil {
		s.workers = []load.Worker{load.NewLocal(s.plan, load.Means{
			Clock: s.job.Clock, Name: thisMachine, Cluster: s.cluster, Tell: s.hear,
		})}
		return nil
	}
	s.plan.Share.ByTopic = s.job.wholeTopics()
	s.workers, s.dismiss, err = s.job.Crew.Deal(ctx, Deal{
		Plan: s.plan, Target: s.job.Target, Options: options,
		Trust: cmp.Or(s.trust, s.job.Trust), Tell: s.hear,
	})
	return err
}
