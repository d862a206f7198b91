package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// maxTopicsAtOnce bounds the topics that are created at the same time with separate requests.
	maxTopicsAtOnce = 16
	// maxInRequest bounds the partitions of one request for many topics.
	maxInRequest = 1_000
)

// What a crowd adds to the limits: more than any tested system took.
const (
	topicTime     = 20 * time.Millisecond // to create, read back or delete one
	partitionTime = 20 * time.Millisecond // to create one and to prove it
	clientTime    = 10 * time.Millisecond // to open or close one
	proofTime     = time.Millisecond      // for one subscription to receive one message
)

// prepareTime bounds everything before the load.
func prepareTime(w *workload.Workload) time.Duration {
	partitions := w.AllPartitions()
	return prepareLimit + time.Duration(w.Topics)*topicTime +
		time.Duration(partitions)*partitionTime +
		time.Duration(clients(w))*clientTime + time.Duration(partitions*w.Subscriptions)*proofTime
}

// closeTime bounds the closing of all clients, or the deletion of all topics.
func closeTime(w *workload.Workload) time.Duration {
	return closeLimit + time.Duration(w.Topics)*topicTime + time.Duration(clients(w))*clientTime
}

func clients(w *workload.Workload) int {
	return w.Topics * (w.Producers + w.Subscriptions*w.Consumers)
}

// maxPlaces is the number of places that a result names one by one when the cluster reports the
// same value for all of them.
const maxPlaces = 8

// condensed shortens a cluster's facts. If more than maxPlaces places report the same value, they
// become one fact, which names the first place and counts the others. No differing value is left
// out.
func condensed(facts []system.Fact) []result.Fact {
	type said struct{ name, value, source string }
	places := make(map[said]int)
	for _, f := range facts {
		places[said{f.Name, f.Value, f.Source}]++
	}
	var out []result.Fact
	for _, f := range facts {
		what := said{f.Name, f.Value, f.Source}
		n := places[what]
		switch {
		case n == 0: // already included
			continue
		case n > maxPlaces:
			f.Where += fmt.Sprintf(" and %s others", quantity.Count(int64(n-1)))
			places[what] = 0
		}
		out = append(out, result.Fact(f))
	}
	return out
}

// createTopics creates the topics, many at a time, and returns those that may exist, in no order.
func createTopics(ctx context.Context, c system.Cluster, topics []system.Topic,
	progress func(string)) (created []system.Topic, err error) {
	if keeper, able := c.(system.BatchAdmin); able && len(topics) > 1 {
		return topics, inRequests(ctx, topics,
			load.Counting(progress, "created %s of %s topics", len(topics)), keeper.CreateTopics)
	}
	var mu sync.Mutex
	err = system.Each(ctx, len(topics), maxTopicsAtOnce,
		load.Counting(progress, "created %s of %s topics",
			len(topics)), func(ctx context.Context, i int) error {
			err := c.CreateTopic(ctx, topics[i])
			var unready *system.Unready
			if err == nil || errors.As(err, &unready) {
				mu.Lock()
				defer mu.Unlock()
				created = append(created, topics[i])
			}
			if err != nil {
				return fmt.Errorf("create topic %s: %w", topics[i].Name, err)
			}
			return nil
		})
	return created, err
}

// deleteTopics deletes topics: many in a request, or else one by one, because
// servers may be slow with several at once.
func deleteTopics(ctx context.Context, c system.Cluster, topics []system.Topic,
	progress func(string)) error {
	if keeper, able := c.(system.BatchAdmin); able && len(topics) > 1 {
		return inRequests(ctx, topics,
			load.Counting(progress, "deleted %s of %s topics", len(topics)), keeper.DeleteTopics)
	}
	var first error
	failed := 0
	err := system.Each(ctx, len(topics), 1, load.Counting(progress, "deleted %s of %s topics",
		len(topics)), func(ctx context.Context, i int) error {
		// A topic that cannot be deleted does not stop the others.
		if err := c.DeleteTopic(ctx, topics[i]); err != nil {
			first = cmp.Or(first, err)
			failed++
		}
		return nil
	})
	if failed > 1 {
		first = fmt.Errorf("%d topics, the first because: %w", failed, first)
	}
	return errors.Join(first, err)
}

// inRequests calls a function with groups of topics, each as large as a request allows.
func inRequests(ctx context.Context, topics []system.Topic, progress func(int),
	do func(context.Context, []system.Topic) error) error {
	most := 1
	for _, t := range topics {
		most = max(most, t.Partitions)
	}
	size := max(maxInRequest/most, 1)
	done := 0
	for some := range slices.Chunk(topics, size) {
		if err := do(ctx, some); err != nil {
			return fmt.Errorf("topics %s to %s: %w", some[0].Name, some[len(some)-1].Name, err)
		}
		if done += len(some); progress != nil {
			progress(done)
		}
	}
	return nil
}
