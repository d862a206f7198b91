package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// consumer is a member of a consumer group, with a client of its own.
type consumer struct {
	client   *kgo.Client
	cancel   context.CancelFunc // ends the client's connections
	polling  context.Context
	stop     context.CancelFunc // ends polling
	group    *group
	of       *cluster
	receive  func(system.Received)
	failed   func(error)
	early    bool // commit before handling
	maxPoll  int
	finished chan struct{} // closed when run has ended
	ended    chan struct{} // closed when Close has ended

	mu      sync.Mutex
	closing bool
	told    bool // Failed was called
}

var _ system.AssignmentWaiter = (*consumer)(nil)

// OpenConsumer joins the subscription's group. A subscription that is not
// there begins at the start of the topic, so that a message sent from now on
// reaches it even before its partitions are shared out; Settle waits for that.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer, error) {
	life, cancel := context.WithCancel(context.Background())
	polling, stop := context.WithCancel(life)
	r := &consumer{
		cancel: cancel, polling: polling, stop: stop, of: c,
		receive: o.Receive, failed: o.Failed, early: o.Delivery == workload.AtMostOnce, maxPoll: c.cfg.maxPoll,
		finished: make(chan struct{}), ended: make(chan struct{}),
	}
	r.group = c.join(o.Topic, o.Subscription, r)
	client, err := kgo.NewClient(append(c.consumerOptions(o, r), kgo.WithContext(life))...)
	if err == nil {
		r.client = client
		err = ping(ctx, client)
		if err != nil {
			client.Close()
		}
	}
	if err != nil {
		stop()
		cancel()
		r.group.leave(r)
		return nil, c.explain(err)
	}
	go r.run()
	if err := c.clients.Keep(ctx, r); err != nil {
		return nil, err
	}
	return r, nil
}

func (c *cluster) consumerOptions(o system.ConsumerOptions, r *consumer) []kgo.Opt {
	options := append(baseOptions(c.options, c.cfg),
		kgo.ConsumerGroup(r.group.name), kgo.ConsumeTopics(o.Topic.Name),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMinBytes(c.cfg.fetchMinBytes), kgo.FetchMaxWait(c.cfg.fetchMaxWait),
		kgo.FetchMaxBytes(c.cfg.fetchMaxBytes), kgo.FetchMaxPartitionBytes(c.cfg.fetchMaxPartition),
		kgo.SessionTimeout(c.cfg.session), kgo.HeartbeatInterval(c.cfg.heartbeat),
		kgo.Balancers(c.cfg.assignment), kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, p map[string][]int32) { r.group.gain(r, p) }),
		kgo.OnPartitionsRevoked(r.revoked),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, p map[string][]int32) { r.group.lose(r, p) }),
		kgo.WithPools(&r.group.records),
	)
	if r.early {
		options = append(options, kgo.DisableAutoCommit())
	} else {
		options = append(options, kgo.AutoCommitMarks(), kgo.AutoCommitInterval(c.cfg.commitInterval))
	}
	if o.Delivery == workload.ExactlyOnce {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	return options
}

// revoked commits what was handled before others get the partitions.
func (r *consumer) revoked(ctx context.Context, client *kgo.Client, partitions map[string][]int32) {
	if !r.early {
		// When it fails the messages are delivered again, as they must be.
		_ = client.CommitMarkedOffsets(ctx)
	}
	r.group.lose(r, partitions)
}

// run takes what arrives until the consumer closes or cannot go on.
func (r *consumer) run() {
	defer close(r.finished)
	for r.polling.Err() == nil {
		fetches := r.client.PollRecords(r.polling, r.maxPoll)
		if err := fatal(fetches); err != nil && r.polling.Err() == nil {
			r.client.AllowRebalance()
			r.fail(err)
			return
		}
		if r.early {
			if err := r.commit(fetches); err != nil && r.polling.Err() == nil {
				r.client.AllowRebalance()
				r.fail(fmt.Errorf("committing the position before handling: %w", err))
				return
			}
		}
		fetches.EachPartition(r.take)
		r.client.AllowRebalance()
	}
}

// fatal is the first error after which a consumer receives no more. What was
// lost to a truncated log is found by the account of messages. A member that was
// thrown out joins again, and brokers that do not answer are asked again, until
// one of them refuses.
func fatal(fetches kgo.Fetches) error {
	var first error
	fetches.EachError(func(topic string, partition int32, err error) {
		var (
			lost    *kgo.ErrDataLoss
			session *kgo.ErrGroupSession
			refused *kerr.Error
		)
		switch {
		case first != nil, errors.As(err, &lost), errors.Is(err, context.Canceled), errors.Is(err, kgo.ErrClientClosed):
		case kerr.IsRetriable(err), errors.As(err, &session) && !errors.As(err, &refused):
		default:
			first = fmt.Errorf("topic %s, partition %d: %w", topic, partition, err)
		}
	})
	return first
}

// commit commits the position behind all that was fetched.
func (r *consumer) commit(fetches kgo.Fetches) error {
	var last []*kgo.Record
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if n := len(p.Records); n > 0 {
			last = append(last, p.Records[n-1])
		}
	})
	if len(last) == 0 {
		return nil
	}
	return r.client.CommitRecords(r.polling, last...)
}

// take handles what was fetched of one partition.
func (r *consumer) take(p kgo.FetchTopicPartition) {
	var handled *kgo.Record
	for _, record := range p.Records {
		if !r.begin() {
			break
		}
		r.receive(received(record))
		handled = record
	}
	if handled != nil && !r.early {
		r.client.MarkCommitRecords(handled)
	}
	for _, record := range p.Records {
		record.Recycle()
	}
}

// received is a record as Receive takes it.
func received(r *kgo.Record) system.Received {
	return system.Received{Payload: r.Value, Key: r.Key, Partition: r.Partition}
}

// begin says whether a message may still be handed to Receive.
func (r *consumer) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.closing
}

// fail tells of an error after which nothing more will come.
func (r *consumer) fail(err error) {
	r.mu.Lock()
	tell := !r.closing && !r.told
	r.told = true
	r.mu.Unlock()
	if tell && r.failed != nil {
		r.failed(fmt.Errorf("the consumer cannot go on: %w", r.of.explain(err)))
	}
}

// Close stops receiving, commits what was handled and leaves the group, within
// ctx and at least closeGrace: a member that does not say that it leaves holds
// its partitions back until session_timeout. It is idempotent. When ctx ends
// first, a Receive that is still running is left to end by itself; none begins.
func (r *consumer) Close(ctx context.Context) error {
	r.mu.Lock()
	first := !r.closing
	r.closing = true
	r.mu.Unlock()
	if !first {
		<-r.ended
		return nil
	}
	defer close(r.ended)
	defer r.of.clients.Forget(r)
	defer r.group.leave(r)
	r.stop()
	var err error
	select {
	case <-r.finished:
	case <-ctx.Done():
		err = fmt.Errorf("closing the consumer: a message is still being handled: %w", ctx.Err())
	}
	r.client.AllowRebalance()
	ctx, cancel := atLeast(ctx)
	defer cancel()
	if !r.early {
		err = errors.Join(err, r.client.CommitMarkedOffsets(ctx))
	}
	err = errors.Join(err, r.client.LeaveGroupContext(ctx))
	r.cancel()
	r.client.Close()
	if err != nil {
		return fmt.Errorf("closing the consumer: %w", err)
	}
	return nil
}

// atLeast is ctx, or closeGrace when ctx leaves less.
func atLeast(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if ctx.Err() == nil && (!bounded || time.Until(deadline) > closeGrace) {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
}
