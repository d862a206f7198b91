package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/plimsoll-bench/plimsoll/system"
)

var (
	_ system.CapabilityExplainer = (*cluster)(nil)
	_ system.Replayer            = (*cluster)(nil)
	_ system.AckChooser          = (*cluster)(nil)
	_ system.BackPressurer       = (*cluster)(nil)
	_ system.Transactor          = (*cluster)(nil)
)

// ExplainLack says what Kafka has no such thing for.
func (c *cluster) ExplainLack(a system.Capability) string {
	switch a {
	case system.CanExpire:
		return "messages have no time to live of their own; retention.ms deletes whole segments of a topic, whether they were read or not"
	case system.CanPrioritise:
		return "a partition is a log read in its order; urgent messages take a topic of their own, which a consumer polls first"
	case system.CanDelay:
		return "a record can be read as soon as it is in the log; whoever wants it later keeps it, or has a consumer wait"
	case system.CanDeadLetter:
		return "a group's position moves past a record whatever came of it; who rejects it publishes it to a topic of their own (Kafka Connect and Streams do), and a share group archives what is rejected without putting it anywhere"
	case system.CanDeduplicate:
		return "brokers recognise what the client library sends again within a producer's session; what an application sends again takes a transaction"
	}
	return ""
}

// probeClient is a client with its own way to publish.
func (c *cluster) probeClient(options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(append(baseOptions(c.options, c.cfg), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0)), options...)...)
}

// OpenReplay sets the group's position to the start of the topic.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer, string, error) {
	starts, err := c.admin.ListStartOffsets(ctx, o.Topic.Name)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return nil, "", fmt.Errorf("ask where the topic starts: %w", c.explain(err))
	}
	answers, err := c.admin.CommitOffsets(ctx, o.Topic.Name+"."+o.Subscription, starts.Offsets())
	if err == nil {
		err = answers.Error()
	}
	if err != nil {
		return nil, "", fmt.Errorf("set the group's position: %w", c.explain(err))
	}
	k, err := c.OpenConsumer(ctx, o)
	return k, "", err
}

// PublishAcked publishes one record with an acks of its own.
func (c *cluster) PublishAcked(ctx context.Context, t system.Topic, kind system.AckKind, payload []byte) (string, error) {
	acks := map[system.AckKind]kgo.Acks{
		system.AckNone: kgo.NoAck(), system.AckOne: kgo.LeaderAck(), system.AckReplicas: kgo.AllISRAcks(), system.AckRefusal: kgo.AllISRAcks(),
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
	return fmt.Sprintf("acks=all: the leader answered with offset %d when all in-sync replicas had it", record.Offset), nil
}

// refused publishes a record that is larger than its topic takes. The topic is
// made for it: brokers learn of a change of configuration only a while later.
func (c *cluster) refused(ctx context.Context, client *kgo.Client, t system.Topic) (answer string, err error) {
	small := system.Topic{Name: t.Name + ".small", Partitions: 1}
	_, err = c.admin.CreateTopic(ctx, 1, c.cfg.replication, map[string]*string{"max.message.bytes": kadm.StringPtr("1000")}, small.Name)
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
		return fmt.Sprintf("error %d, %s, for a record larger than max.message.bytes of its topic", refusal.Code, refusal.Message), nil
	}
	return "", fmt.Errorf("the broker did not refuse a record that is too large: %w", err)
}

// quotaWithin bounds the wait for a quota that brokers were told of.
const quotaWithin = 20 * time.Second

// throttled adds up how long brokers told a client to pause.
type throttled struct{ ns atomic.Int64 }

// OnBrokerThrottle takes the broker's word.
func (t *throttled) OnBrokerThrottle(_ kgo.BrokerMetadata, interval time.Duration, _ bool) {
	t.ns.Add(int64(interval))
}

// PublishBeyond gives a client a quota and publishes more.
func (c *cluster) PublishBeyond(ctx context.Context, t system.Topic, n int) (p system.BackPressure, condition string, err error) {
	const rate, size = 10_000, 1000 // bytes per second, bytes
	entity := []kadm.ClientQuotaEntityComponent{{Type: "client-id", Name: kadm.StringPtr(t.Name)}}
	if err := c.CreateTopic(ctx, t); err != nil {
		return p, "", err
	}
	defer func() { err = errors.Join(err, c.DeleteTopic(context.WithoutCancel(ctx), t)) }()
	if err := c.quota(ctx, entity, kadm.AlterClientQuotaOp{Key: "producer_byte_rate", Value: rate}); err != nil {
		return p, "", err
	}
	defer func() {
		err = errors.Join(err, c.quota(context.WithoutCancel(ctx), entity, kadm.AlterClientQuotaOp{Key: "producer_byte_rate", Remove: true}))
	}()
	told := &throttled{}
	client, err := c.probeClient(kgo.ClientID(t.Name), kgo.WithHooks(told), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerBatchMaxBytes(2*size))
	if err != nil {
		return p, "", err
	}
	defer client.Close()
	p.Limit = fmt.Sprintf("quota producer_byte_rate %d, messages of %d bytes", rate, size)
	// Brokers learn of a quota only a while later, and then tell of it soon.
	enough := func() bool { return told.ns.Load() > int64(2*time.Second) }
	for began := time.Now(); !enough() && (p.Accepted < n || time.Since(began) < quotaWithin); p.Accepted++ {
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: t.Name, Value: make([]byte, size)}).FirstErr(); err != nil {
			return p, "", c.explain(err)
		}
	}
	p.Held = time.Duration(told.ns.Load())
	return p, "a quota for the client or user; the broker then tells the client to pause, and reads nothing from it meanwhile", nil
}

func (c *cluster) quota(ctx context.Context, entity []kadm.ClientQuotaEntityComponent, op kadm.AlterClientQuotaOp) error {
	answers, err := c.admin.AlterClientQuotas(ctx, []kadm.AlterClientQuotaEntry{{Entity: entity, Ops: []kadm.AlterClientQuotaOp{op}}})
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

// Transact publishes in a transaction of a producer of its own.
func (c *cluster) Transact(ctx context.Context, t system.Topic, payloads [][]byte, commit bool) (string, error) {
	client, err := c.probeClient(kgo.TransactionalID(t.Name+"-probe"), kgo.TransactionTimeout(c.cfg.txnTimeout))
	if err != nil {
		return "", err
	}
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		return "", fmt.Errorf("begin a transaction: %w", err)
	}
	for _, payload := range payloads {
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: t.Name, Value: payload}).FirstErr(); err != nil {
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
