package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// member is a member of a group, with a client of its own.
type member struct {
	listener
	client     *kgo.Client
	disconnect context.CancelFunc // ends the client's connections
	of         *cluster
	early      bool // commit or acknowledge before handling
	closing    driver.Closing
}

func (c *cluster) member(o system.ConsumerOptions) member {
	return member{listener: listener{Receiver: driver.Receiver{Options: o}}, of: c,
		early: o.Delivery == workload.AtMostOnce}
}

// connect makes the client. After an error there is none.
func (m *member) connect(ctx context.Context, options []kgo.Opt) error {
	life, cancel := context.WithCancel(context.Background())
	client, err := kgo.NewClient(append(options, kgo.WithContext(life))...)
	if err == nil {
		if err = ping(ctx, client); err != nil {
			client.Close()
		}
	}
	if err != nil {
		cancel()
		return m.of.explain(err)
	}
	m.client, m.disconnect = client, cancel
	return nil
}

// leave leaves the group and closes the client. err is what closing has met so far.
func (m *member) leave(ctx context.Context, err error) error {
	err = errors.Join(err, m.client.LeaveGroupContext(ctx))
	m.disconnect()
	m.client.Close()
	if err != nil {
		return fmt.Errorf("close the consumer: %w", err)
	}
	return nil
}

// consumer is a member of a consumer group.
type consumer struct {
	member
	group *group
}

// OpenConsumer joins the subscription's group. A new subscription begins at the start of the
// topic, so that it gets every message sent from now on, even before its partitions are assigned;
// AwaitAssignment waits for the assignment.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	if sharesRecords(c.Settings) {
		return c.openSharer(ctx, o)
	}
	group := c.groupOf(o)
	var err error
	switch {
	case o.AtEnd:
		err = c.beginAt(ctx, group, o.Topic.Name, c.admin.ListEndOffsets)
	case c.late(): // the client would begin at the end of every partition
		err = c.beginAt(ctx, group, o.Topic.Name, c.admin.ListStartOffsets)
	}
	if err != nil {
		return nil, err
	}
	r := &consumer{member: c.member(o), group: group}
	group.Join(r)
	if err := r.connect(ctx, c.consumerOptions(o, r)); err != nil {
		group.Leave(r)
		return nil, err
	}
	r.Begin(r.run)
	c.watch.add(c, &r.listener)
	return r, c.clients.Keep(ctx, r)
}

// OpenReplay sets the group's position to the start of the topic.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	string, error) {
	if sharesRecords(c.Settings) {
		return nil, "", &system.NotSupported{Condition: setGroupType + ": " + groupClassic,
			Reason: "a share group reads no record again that was acknowledged"}
	}
	if err := c.rewind(ctx, o.Topic.Name+"."+o.Subscription, o.Topic.Name); err != nil {
		return nil, "", err
	}
	k, err := c.OpenConsumer(ctx, o)
	return k, "", err
}

// rewind sets a group's position to the start of a topic.
func (c *cluster) rewind(ctx context.Context, group, topic string) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var starts kadm.ListedOffsets
	err := untilAnswered(ctx, func() (err error) {
		starts, err = c.admin.ListStartOffsets(ctx, topic)
		return cmp.Or(err, starts.Error())
	})
	if err != nil {
		return fmt.Errorf("ask where the topic starts: %w", c.explain(err))
	}
	err = untilAnswered(ctx, func() error {
		answers, err := c.admin.CommitOffsets(ctx, group, starts.Offsets())
		return cmp.Or(err, answers.Error())
	})
	if err != nil {
		return fmt.Errorf("set the group's position: %w", c.explain(err))
	}
	return nil
}

// fetchOptions returns the options of a client that receives a topic's records.
func fetchOptions(c *cluster, topic string) []kgo.Opt {
	rack := c.Text(setRack)
	if rack == none {
		rack = ""
	}
	return append(baseOptions(c.options), kgo.ConsumeTopics(topic), kgo.Rack(rack),
		kgo.FetchMinBytes(int32(c.Bytes(setFetchMinBytes))),
		kgo.FetchMaxWait(c.Duration(setFetchMaxWait)),
		kgo.FetchMaxBytes(int32(c.Bytes(setFetchMaxBytes))))
}

func (c *cluster) consumerOptions(o system.ConsumerOptions, r *consumer) []kgo.Opt {
	options := append(append(fetchOptions(c, o.Topic.Name), c.balancers()...),
		kgo.ConsumerGroup(r.group.name), kgo.ConsumeResetOffset(c.reset()),
		kgo.FetchMaxPartitionBytes(int32(c.Bytes(setFetchMaxPartition))),
		kgo.SessionTimeout(c.Duration(setSessionTimeout)),
		kgo.HeartbeatInterval(c.Duration(setHeartbeat)),
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, p map[string][]int32) {
			r.group.Change(r, true, p[o.Topic.Name]...)
		}),
		kgo.OnPartitionsRevoked(r.revoked),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, p map[string][]int32) {
			r.group.Change(r, false, p[o.Topic.Name]...)
		}),
		kgo.WithPools(&r.group.records),
	)
	if r.early {
		options = append(options, kgo.DisableAutoCommit())
	} else {
		options = append(options, kgo.AutoCommitMarks(),
			kgo.AutoCommitInterval(c.Duration(setCommitInterval)))
	}
	if o.Delivery == workload.ExactlyOnce {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	return options
}

// revoked commits the position of handled messages before other members get the partitions.
func (r *consumer) revoked(ctx context.Context, client *kgo.Client, partitions map[string][]int32) {
	if !r.early {
		// If the commit fails, the messages are redelivered, as they must be.
		_ = client.CommitMarkedOffsets(ctx)
	}
	r.group.Change(r, false, partitions[r.Options.Topic.Name]...)
}

// run handles messages until the consumer closes or fails.
func (r *consumer) run() {
	most := int(r.of.Count(setMaxPollRecords))
	for r.Life.Err() == nil {
		fetches := r.client.PollRecords(r.Life, most)
		if err := fatal(fetches); err != nil && r.Life.Err() == nil {
			r.client.AllowRebalance()
			r.Fail(r.of.explain(err))
			return
		}
		if r.early {
			if err := r.commit(fetches); err != nil && r.Life.Err() == nil {
				r.client.AllowRebalance()
				r.Fail(fmt.Errorf("commit the position before handling: %w", r.of.explain(err)))
				return
			}
		}
		r.heard.Store(true)
		fetches.EachPartition(r.take)
		r.client.AllowRebalance()
	}
}

// fatal returns the first error after which a consumer cannot continue. Messages lost with a
// truncated log are found by the account. A member that was removed from the group joins again,
// and silent brokers are asked again until one of them refuses.
func fatal(fetches kgo.Fetches) error {
	var first error
	fetches.EachError(func(topic string, partition int32, err error) {
		var (
			lost    *kgo.ErrDataLoss
			session *kgo.ErrGroupSession
			refused *kerr.Error
		)
		switch {
		case first != nil, errors.As(err, &lost), errors.Is(err, context.Canceled), errors.Is(err,
			kgo.ErrClientClosed):
		case kerr.IsRetriable(err), errors.As(err, &session) && !errors.As(err, &refused):
		default:
			first = fmt.Errorf("topic %s, partition %d: %w", topic, partition, err)
		}
	})
	return first
}

// commit commits the position behind all fetched records.
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
	return r.client.CommitRecords(r.Life, last...)
}

// take handles the messages fetched from a partition.
func (r *consumer) take(p kgo.FetchTopicPartition) {
	var handled *kgo.Record
	for _, record := range p.Records {
		if !r.Handle(received(record)) {
			break
		}
		handled = record
	}
	if handled != nil && !r.early {
		r.client.MarkCommitRecords(handled)
	}
	for _, record := range p.Records {
		record.Recycle()
	}
}

// received converts a record for Receive.
func received(r *kgo.Record) system.Received {
	return system.Received{Payload: r.Value, Key: r.Key, Partition: r.Partition}
}

// Close stops receiving, commits the position of handled messages and leaves the group. It takes
// until ctx ends, or closeGrace if that is longer, because a member that does not leave keeps its
// partitions until session_timeout. It is idempotent. If ctx ends first, a running Receive is left
// to end by itself, and no other begins.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error { return r.close(ctx) })
}

func (r *consumer) close(ctx context.Context) error {
	r.Stop()
	r.of.watch.remove(&r.listener)
	defer r.group.Leave(r)
	err := r.End(ctx)
	r.client.AllowRebalance()
	ctx, cancel := atLeast(ctx)
	defer cancel()
	if !r.early {
		commit := r.client.CommitMarkedOffsets(ctx)
		deleted := errors.Is(commit, kerr.UnknownTopicID) ||
			errors.Is(commit, kerr.UnknownTopicOrPartition)
		if !deleted {
			err = errors.Join(err, commit)
		}
	}
	return r.leave(ctx, err)
}

// atLeast returns ctx, or a context of closeGrace if ctx leaves less time.
func atLeast(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if ctx.Err() == nil && (!bounded || time.Until(deadline) > closeGrace) {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
}

// group holds the consumers of one subscription that this connection has opened.
type group struct {
	name    string
	records recordPool
	begun   driver.Made // the group has its positions, and members may join
	*driver.Shares[*consumer]
}

func (c *cluster) groupOf(o system.ConsumerOptions) *group {
	return c.groups.Of(o.Topic, o.Subscription, func() *group {
		return &group{name: groupName(o.Topic, o.Subscription),
			Shares: driver.NewShares[*consumer](o)}
	})
}

// AwaitAssignment waits until the partitions are assigned evenly to the consumers of the
// subscription.
func (r *consumer) AwaitAssignment(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime([]system.Topic{r.Options.Topic}))
	defer cancel()
	return r.group.AwaitEven(ctx, settlePoll)
}

// recordPool reuses the memory of fetched records among the consumers of a group. Its methods may
// be called from any goroutine.
type recordPool struct {
	pool sync.Pool
}

// GetRecords returns an empty slice with room for n records.
func (p *recordPool) GetRecords(n int) []kgo.Record {
	if kept, ok := p.pool.Get().(*[]kgo.Record); ok && cap(*kept) >= n {
		return (*kept)[:0]
	}
	return make([]kgo.Record, 0, n)
}

// PutRecords takes a slice back.
func (p *recordPool) PutRecords(records []kgo.Record) { p.pool.Put(&records) }
