package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// probeClient returns a client with its own publish options.
func (c *cluster) probeClient(options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(append(baseOptions(c.options, c.cfg),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0)), options...)...)
}

// OpenReplay sets the group's position to the start of the topic.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	string, error) {
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

// PublishAcked publishes one record with the acks of the kind.
func (c *cluster) PublishAcked(ctx context.Context, t system.Topic, kind system.AckKind,
	payload []byte) (string, error) {
	acks := map[system.AckKind]kgo.Acks{
		system.AckNone: kgo.NoAck(), system.AckOne: kgo.LeaderAck(),
		system.AckReplicas: kgo.AllISRAcks(), system.AckRefusal: kgo.AllISRAcks(),
	}[kind]
	client, err := c.probeClient(kgo.RequiredAcks(acks), kgo.DisableIdempotentWrite())
	if err != nil {
		return "", err
	}
	defer client.Close()
	if kind == system.AckRefusal {
		return c.refused(ctx, client, t)
	}
	record := &kgo.Record{Topic: t.Name, Value: payload}
	if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
		return "", c.explain(err)
	}
	switch kind {
	case system.AckNone:
		return "acks=0: the broker answers nothing", nil
	case system.AckOne:
		return fmt.Sprintf("acks=1: the leader answered with offset %d", record.Offset), nil
	}
	return fmt.Sprintf(
		"acks=all: the leader answered with offset %d when all in-sync replicas had it",
		record.Offset), nil
}

// refused publishes a record that is larger than its topic accepts. It creates a topic for this,
// because brokers learn of a changed configuration with a delay.
func (c *cluster) refused(ctx context.Context, client *kgo.Client, t system.Topic) (answer string,
	err error) {
	small := system.Topic{Name: t.Name + ".small", Partitions: 1}
	copies, err := c.copies(ctx)
	if err != nil {
		return "", err
	}
	_, err = c.admin.CreateTopic(ctx, 1, int16(copies),
		map[string]*string{"max.message.bytes": kadm.StringPtr("1000")}, small.Name)
	if err != nil {
		return "", fmt.Errorf("make a topic for small records: %w", c.explain(err))
	}
	defer func() { err = errors.Join(err, c.DeleteTopic(context.WithoutCancel(ctx), small)) }()
	if err := c.awaitTopics(ctx, []system.Topic{small}); err != nil {
		return "", err
	}
	// Zeros would be compressed away.
	large := make([]byte, 20_000)
	for i := range large {
		large[i] = byte(i * i >> 3)
	}
	err = client.ProduceSync(ctx, &kgo.Record{Topic: small.Name, Value: large}).FirstErr()
	var refusal *kerr.Error
	if errors.As(err, &refusal) {
		return fmt.Sprintf("error %d, %s, for a record larger than max.message.bytes of its topic",
			refusal.Code, refusal.Message), nil
	}
	return "", fmt.Errorf("the broker did not refuse a record that is too large: %w", err)
}

// quotaWithin bounds the wait for a quota to take effect on the brokers.
const quotaWithin = 20 * time.Second

// throttled adds up the pauses that brokers asked of a client.
type throttled struct{ ns atomic.Int64 }

// OnBrokerThrottle adds a pause.
func (t *throttled) OnBrokerThrottle(_ kgo.BrokerMetadata, interval time.Duration, _ bool) {
	t.ns.Add(int64(interval))
}

// PublishBeyond gives a client a quota and publishes more.
func (c *cluster) PublishBeyond(ctx context.Context, t system.Topic, n int) (p system.BackPressure,
	condition string, err error) {
	// The slowest machine publishes more than one message a second.
	const rate, size = 1000, 1000 // bytes per second, bytes
	entity := []kadm.ClientQuotaEntityComponent{{Type: "client-id", Name: kadm.StringPtr(t.Name)}}
	if err := c.CreateTopic(ctx, t); err != nil {
		return p, "", err
	}
	defer func() { err = errors.Join(err, c.DeleteTopic(context.WithoutCancel(ctx), t)) }()
	if err := c.quota(ctx, entity,
		kadm.AlterClientQuotaOp{Key: "producer_byte_rate", Value: rate}); err != nil {
		return p, "", err
	}
	defer func() {
		err = errors.Join(err, c.quota(context.WithoutCancel(ctx), entity,
			kadm.AlterClientQuotaOp{Key: "producer_byte_rate", Remove: true}))
	}()
	told := &throttled{}
	client, err := c.probeClient(kgo.ClientID(t.Name), kgo.WithHooks(told),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerBatchMaxBytes(2*size))
	if err != nil {
		return p, "", err
	}
	defer client.Close()
	p.Limit = fmt.Sprintf("quota producer_byte_rate %d, messages of %d bytes", rate, size)
	// Brokers learn of a quota with a delay, and then soon ask for a pause.
	enough := func() bool { return told.ns.Load() > int64(2*time.Second) }
	for began := time.Now(); !enough() &&
		(p.Accepted < n || time.Since(began) < quotaWithin); p.Accepted++ {
		if err := client.ProduceSync(ctx,
			&kgo.Record{Topic: t.Name, Value: make([]byte, size)}).FirstErr(); err != nil {
			return p, "", c.explain(err)
		}
	}
	p.Held = time.Duration(told.ns.Load())
	return p, "a quota for the client or user; the broker then tells the client to pause, and " +
		"reads nothing from it meanwhile", nil
}

func (c *cluster) quota(ctx context.Context, entity []kadm.ClientQuotaEntityComponent,
	op kadm.AlterClientQuotaOp) error {
	answers, err := c.admin.AlterClientQuotas(ctx,
		[]kadm.AlterClientQuotaEntry{{Entity: entity, Ops: []kadm.AlterClientQuotaOp{op}}})
	if err != nil {
		return fmt.Errorf("alter the client's quota: %w", c.explain(err))
	}
	for _, one := range answers {
		if one.Err != nil {
			return fmt.Errorf("alter the client's quota: %s: %w", one.ErrMessage, one.Err)
		}
	}
	return nil
}

// Transact publishes in a transaction, with its own producer.
func (c *cluster) Transact(ctx context.Context, t system.Topic, payloads [][]byte,
	commit bool) (string, error) {
	client, err := c.probeClient(kgo.TransactionalID(t.Name+"-probe"),
		kgo.TransactionTimeout(c.cfg.txnTimeout))
	if err != nil {
		return "", err
	}
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		return "", fmt.Errorf("begin a transaction: %w", err)
	}
	for _, payload := range payloads {
		if err := client.ProduceSync(ctx,
			&kgo.Record{Topic: t.Name, Value: payload}).FirstErr(); err != nil {
			return "", fmt.Errorf("publish in a transaction: %w", c.explain(err))
		}
	}
	end := kgo.TryAbort
	if commit {
		end = kgo.TryCommit
	}
	if err := client.EndTransaction(ctx, end); err != nil {
		return "", fmt.Errorf("end the transaction: %w", c.explain(err))
	}
	return "a transactional.id, and readers with isolation.level read_committed", nil
}

// follower is a client that receives until it is closed.
type follower struct {
	client *kgo.Client
	stop   context.CancelFunc
	ended  chan struct{}
}

// follow calls receive with each record that a client fetches.
func follow(client *kgo.Client, receive func(*kgo.Record)) *follower {
	ctx, stop := context.WithCancel(context.Background())
	f := &follower{client: client, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		for ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(receive)
		}
	}()
	return f
}

// Close leaves the group.
func (f *follower) Close(ctx context.Context) error {
	f.stop()
	<-f.ended
	err := f.client.LeaveGroupContext(ctx)
	f.client.Close()
	return err
}

// OpenShared opens a member of a share group, which distributes the records of a partition one by
// one.
func (c *cluster) OpenShared(
	ctx context.Context, o system.ConsumerOptions,
) (system.Consumer, string, error) {
	const condition = "a share group in place of a consumer group (brokers of Kafka 4.2 or later)"
	group := o.Topic.Name + ".share"
	if err := c.beginning(ctx, group, kmsg.IncrementalAlterConfigOpSet); err != nil {
		return nil, "", err
	}
	// Otherwise one fetch would bring all of a small topic to one member.
	client, err := kgo.NewClient(append(baseOptions(c.options, c.cfg), kgo.ShareGroup(group),
		kgo.ConsumeTopics(o.Topic.Name),
		kgo.ShareMaxRecords(5), kgo.ShareMaxRecordsStrict())...)
	if err != nil {
		return nil, "", fmt.Errorf("the client library refuses the settings: %w", err)
	}
	return &sharing{of: c, group: group, follower: follow(client, func(r *kgo.Record) {
		o.Receive(received(r))
		r.Ack(kgo.AckAccept)
	})}, condition, nil
}

// beginning sets the starting position of a share group to the start of its topics, or removes it.
func (c *cluster) beginning(
	ctx context.Context, group string, op kmsg.IncrementalAlterConfigOp,
) error {
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Op, config.Value = "share.auto.offset.reset", op, kmsg.StringPtr("earliest")
	resource.Configs = append(resource.Configs, config)
	request.Resources = append(request.Resources, resource)
	answer, err := request.RequestWith(ctx, c.client)
	if err != nil {
		return fmt.Errorf("set where share group %s begins: %w", group, c.explain(err))
	}
	for _, one := range answer.Resources {
		if err := kerr.ErrorForCode(one.ErrorCode); err != nil {
			return fmt.Errorf("set where share group %s begins: %w", group, err)
		}
	}
	return nil
}

// sharing is a member of a share group.
type sharing struct {
	*follower
	of    *cluster
	group string
}

// Close leaves the group. The last member deletes it.
func (s *sharing) Close(ctx context.Context) error {
	if err := s.follower.Close(ctx); err != nil {
		return err
	}
	_, err := s.of.admin.DeleteGroup(ctx, s.group)
	if errors.Is(err, kerr.NonEmptyGroup) {
		return nil // the last member deletes it
	}
	if err != nil {
		return fmt.Errorf("delete share group %s: %w", s.group, s.of.explain(err))
	}
	return s.of.beginning(ctx, s.group, kmsg.IncrementalAlterConfigOpDelete)
}

// routes uses topics in place of keys, and groups that read them.
type routes struct {
	driver.KeyTopics
	of      *cluster
	client  *kgo.Client
	groups  []string
	reading []*follower
}

// OpenRoutes makes a topic for each key, which consumers choose by name, or by
// a regular expression.
func (c *cluster) OpenRoutes(
	ctx context.Context, r system.Routing,
) (system.Publisher, string, error) {
	if r.Kind == system.RouteHeaders {
		return nil, "", &system.NotSupported{Reason: "brokers do not look at headers, and a " +
			"consumer gets whole partitions; it can drop what it does not want, or Kafka Streams " +
			"can sort it into topics"}
	}
	client, err := c.probeClient()
	if err != nil {
		return nil, "", err
	}
	x := &routes{KeyTopics: driver.KeyTopics{Cluster: c, Routing: r}, of: c, client: client}
	for i, b := range r.Bindings {
		if err := x.bind(ctx, fmt.Sprintf("%s-%d", r.Topic.Name, i), b); err != nil {
			return nil, "", errors.Join(err, x.Close(ctx))
		}
	}
	return x, x.Condition(), nil
}

// bind receives a binding's messages in a group of its own.
func (x *routes) bind(ctx context.Context, group string, b system.Binding) error {
	options := append(baseOptions(x.of.options, x.of.cfg),
		kgo.ConsumerGroup(group), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.MetadataMaxAge(settlePoll*20)) // finds topics that are created later
	if x.Routing.Kind == system.RoutePattern {
		options = append(options, kgo.ConsumeRegex(), kgo.ConsumeTopics("^"+x.Pattern(b.Key)+"$"))
	} else {
		name, err := x.Ensure(ctx, b.Key)
		if err != nil {
			return err
		}
		options = append(options, kgo.ConsumeTopics(name))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return fmt.Errorf("the client library refuses the settings: %w", err)
	}
	x.groups = append(x.groups, group)
	x.reading = append(x.reading, follow(client, func(r *kgo.Record) { b.Receive(r.Value) }))
	return nil
}

// Post publishes to the key's topic.
func (x *routes) Post(ctx context.Context, l system.Envelope) error {
	name, err := x.Ensure(ctx, l.Key)
	if err != nil {
		return err
	}
	return x.client.ProduceSync(ctx, &kgo.Record{Topic: name, Value: l.Payload}).FirstErr()
}

// Close ends the consumers and deletes topics and groups.
func (x *routes) Close(ctx context.Context) error {
	var errs []error
	for _, f := range x.reading {
		errs = append(errs, f.Close(ctx))
	}
	x.client.Close()
	for _, group := range x.groups {
		_, _ = x.of.admin.DeleteGroup(ctx, group) // the group may not exist
	}
	return errors.Join(append(errs, x.Delete(ctx))...)
}

// lacks holds the reasons for missing capabilities and their substitutes: a log ignores envelopes,
// and the protocol has no rejection.
var lacks = driver.Lacks{
	Features: map[system.Feature]string{
		system.FeatureTTL: "messages have no time to live of their own; retention.ms deletes " +
			"whole segments of a topic, whether they were read or not",
		system.FeaturePriority: "a partition is a log read in its order; urgent messages take a " +
			"topic of their own, which a consumer polls first",
		system.FeatureDelay: "a record can be read as soon as it is in the log; to get it " +
			"later, keep it in the sender, or let the consumer wait",
	},
	Rejection: "a group's position moves past every record; a consumer that rejects one " +
		"publishes it to another topic (as Kafka Connect and Streams do), and a share group " +
		"drops rejected records from delivery without copying them",
	Deduplication: "brokers recognise copies that the client library sends within a producer's " +
		"session; for messages that an application sends again, use transactions",
}
