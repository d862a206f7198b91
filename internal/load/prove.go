package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// resendAfter is the time without a new proof after which the missing ones are sent again: with at
// most once, a message may be lost for good.
const resendAfter = 5 * time.Second

// Prove returns when every producer of the workers has had a message acknowledged, every partition
// has acknowledged one, and every subscription has received one from every partition, by any
// worker's consumers. The messages of the proof are no part of the load. tell, which may be nil,
// receives the progress. When ctx ends first, the error names a partition that
// is not ready.
func Prove(
	ctx context.Context, plan *Plan, workers []Worker, tell func(sentence string),
) (merged Readiness, err error) {
	w, each := &plan.Workload, ""
	all := w.AllPartitions() * w.Subscriptions
	if w.Subscriptions > 1 {
		each = fmt.Sprintf(", those of %d subscriptions counted each", w.Subscriptions)
	}
	counting := Counting(tell, "ready: %s of %s partitions"+each, all)
	var again []int64
	fewest, since := all, time.Now()
	for {
		merged, err = readyAll(ctx, workers, again)
		if err != nil || draining(w) {
			return merged, err
		}
		again = nil
		left, lacking := unproven(plan, merged)
		if len(lacking) == 0 {
			return merged, nil
		}
		if ctx.Err() != nil {
			return merged, fmt.Errorf("%s: %w", left.first, ctx.Err())
		}
		now := time.Now()
		if left.count < fewest {
			fewest, since = left.count, now
		}
		if counting != nil {
			counting(all - fewest)
		}
		if now.Sub(since) >= resendAfter {
			since, again = now, lacking
		}
	}
}

// readyAll calls Ready of all workers at the same time.
func readyAll(ctx context.Context, workers []Worker, again []int64) (Readiness, error) {
	found := make([]Readiness, len(workers))
	err := Together(workers, func(i int) (err error) {
		found[i], err = workers[i].Ready(ctx, again, resendAfter/5)
		return err
	})
	return MergeReadiness(found...), err
}

// Together calls a function for each of the workers at the same time, and returns the first
// worker's error.
func Together(workers []Worker, do func(i int) error) error {
	if len(workers) == 1 {
		return do(0) // on the caller's goroutine, which gets the progress
	}
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// lacks holds the numbers of unproven partitions and subscriptions, and what the first of them
// lacks.
type lacks struct {
	count int
	first string
}

// unproven returns what is missing, and the partitions that some subscription lacks.
func unproven(plan *Plan, r Readiness) (left lacks, partitions []int64) {
	w, topics := &plan.Workload, plan.Topics()
	for s := range w.Subscriptions {
		has := func(int64) bool { return false }
		if s < len(r.Received) {
			has = r.Received[s].Has()
		}
		for number := range int64(w.AllPartitions()) {
			if has(number) {
				continue
			}
			if left.count++; left.first == "" {
				topic, partition := w.PartitionAt(int(number))
				left.first = fmt.Sprintf("partition %d of topic %s, read by %s, "+
					"has acknowledged a message that has not arrived",
					partition, topics[topic].Name, Subscription(s))
			}
			partitions = append(partitions, number)
		}
	}
	slices.Sort(partitions)
	return left, slices.Compact(partitions)
}
