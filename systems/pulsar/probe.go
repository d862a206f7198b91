package pulsar

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/system"
)

// policyWithin bounds the wait for a topic's policy, which reaches the broker through a system
// topic.
const policyWithin = 20 * time.Second

// OpenReplay resets the subscription's cursor to the earliest message.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	string, error) {
	if err := c.admin.do(ctx, http.MethodPost,
		c.subscriptionPath(o.Topic.Name, o.Subscription)+"/resetcursor/0", nil, nil); err != nil {
		return nil, "", fmt.Errorf("reset the subscription's cursor: %w", c.explainAdmin(err))
	}
	k, err := c.OpenConsumer(ctx, o)
	return k, "retention in the namespace's policies; without it messages that all subscriptions " +
		"acknowledged are deleted", err
}

func (c *cluster) subscriptionPath(topic, subscription string) string {
	return c.adminPath(topic) + "/subscription/" + url.PathEscape(subscription)
}

// OpenShared opens a consumer of a shared subscription.
func (c *cluster) OpenShared(_ context.Context, o system.ConsumerOptions) (system.Consumer, string,
	error) {
	b, err := c.newBox()
	if err != nil {
		return nil, "", err
	}
	err = b.consume(client.ConsumerOptions{
		Topic: c.fullName(o.Topic.Name), SubscriptionName: o.Subscription + ".shared",
	}, func(k client.Consumer, m client.Message) {
		o.Receive(received(m))
		_ = k.Ack(m) // if this is lost, the message is redelivered
	})
	if err != nil {
		return nil, "", errors.Join(err, b.Close(context.Background()))
	}
	return b, "a subscription of type shared, which keeps no order", nil
}

// setPolicy sets a policy of a topic and waits until try reports that it has taken effect.
func (c *cluster) setPolicy(ctx context.Context, topic, policy string, value any,
	try func() error) error {
	if err := c.admin.do(ctx, http.MethodPost, c.adminPath(topic)+"/"+policy, value,
		nil); err != nil {
		return fmt.Errorf("set the topic's policy %s: %w", policy, c.explainAdmin(err))
	}
	ctx, cancel := context.WithTimeout(ctx, policyWithin)
	defer cancel()
	ticker := time.NewTicker(5 * settlePoll)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("the topic's policy %s does not take effect within %s: %w", policy,
				policyWithin, err)
		}
	}
}

// PublishAcked publishes and waits for the receipt. The namespace's ack quorum decides what the
// receipt waits for.
func (c *cluster) PublishAcked(ctx context.Context, t system.Topic, kind system.AckKind,
	payload []byte) (string, error) {
	switch {
	case kind == system.AckNone:
		return "", &system.NotSupported{
			Reason: "brokers answer every message with a receipt; a publisher may go on without " +
				"waiting for it"}
	case kind == system.AckOne && c.level.Majority():
		return "", &system.NotSupported{
			Reason: "the ack quorum is a policy of the namespace, which is a majority here, and " +
				"not the publisher's choice"}
	case kind == system.AckReplicas && !c.level.Majority():
		return "", &system.NotSupported{
			Reason: "the ack quorum is a policy of the namespace, which is 1 here, and not the " +
				"publisher's choice"}
	case kind == system.AckRefusal:
		return c.refused(ctx, t)
	}
	b, err := c.postBox(t)
	if err != nil {
		return "", err
	}
	id, err := b.send(ctx, &client.ProducerMessage{Payload: payload})
	if err != nil {
		return "", errors.Join(err, b.Close(ctx))
	}
	return fmt.Sprintf("receipt for entry %d:%d, ack quorum %d", id.LedgerID(), id.EntryID(),
		c.persistence().AckQuorum), b.Close(ctx)
}

// refused publishes to a terminated topic.
func (c *cluster) refused(ctx context.Context, t system.Topic) (answer string, err error) {
	t.Name += ".ended"
	b, err := c.openBox(ctx, t)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, b.Close(ctx)) }()
	if err := c.admin.do(ctx, http.MethodPost, c.adminPath(t.Name)+"-partition-0/terminate", nil,
		nil); err != nil {
		return "", fmt.Errorf("terminate a topic: %w", c.explainAdmin(err))
	}
	waiting, cancel := context.WithTimeout(ctx, policyWithin)
	defer cancel()
	_, refused := b.send(waiting, &client.ProducerMessage{Payload: []byte("late")})
	switch {
	case errors.Is(refused, client.ErrTopicTerminated):
		return fmt.Sprintf("%v, for a message to a topic that was terminated",
			oneLine{refused}), nil
	case refused == nil:
		return "", errors.New("a terminated topic accepted a message")
	}
	// The broker may have closed the producer before it sent. Then the broker gives the reason to
	// the next producer.
	again := b.produce(client.ProducerOptions{Topic: c.fullName(t.Name)})
	if again == nil || !strings.Contains(again.Error(), "TopicTerminated") {
		return "", fmt.Errorf("a terminated topic did not refuse a message as such: %w",
			errors.Join(refused, again))
	}
	return fmt.Sprintf(
		"%v, for a message to a topic that was terminated; a new producer gets %v",
		oneLine{refused}, oneLine{again}), nil
}

// PublishBeyond publishes faster than the topic's rate allows.
func (c *cluster) PublishBeyond(ctx context.Context, t system.Topic, n int) (p system.BackPressure,
	condition string, err error) {
	const rate = 10
	b, err := c.openBox(ctx, t)
	if err != nil {
		return p, "", err
	}
	defer func() { err = errors.Join(err, b.Close(ctx)) }()
	timed := func(n int) (time.Duration, error) {
		began := time.Now()
		for i := range n {
			if _, err := b.send(ctx,
				&client.ProducerMessage{Payload: []byte(strconv.Itoa(i))}); err != nil {
				return 0, err
			}
		}
		return time.Since(began), nil
	}
	free, err := timed(n / 2)
	if err != nil {
		return p, "", err
	}
	p.Limit = fmt.Sprintf("publishRate of the topic, %d messages a second", rate)
	err = c.setPolicy(ctx, t.Name, "publishRate",
		map[string]int{"publishThrottlingRateInMsg": rate,
			"publishThrottlingRateInByte": -1}, func() error {
			took, err := timed(n / 2)
			if err != nil {
				return err
			}
			p.Accepted += n / 2
			if p.Held = took - free; p.Held < 2*time.Second {
				return fmt.Errorf("%d messages took %s without a bound and %s with it", n/2, free,
					took)
			}
			return nil
		})
	return p, "a publish rate for the topic or the broker, beyond which the broker stops " +
		"reading; a backlog quota refuses producers, which brokers check once a minute", err
}

// PublishTwice publishes with the same sequence id from one producer and from another of the same
// name.
func (c *cluster) PublishTwice(ctx context.Context, t system.Topic, payload []byte) (answer,
	condition string, err error) {
	err = c.setPolicy(ctx, t.Name, "deduplicationEnabled", true,
		func() error { return c.deduplicates(ctx, t) })
	if err != nil {
		return "", "", err
	}
	b, err := c.newBox()
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, b.Close(ctx)) }()
	sequence := int64(1)
	for range 2 {
		if err := b.produce(client.ProducerOptions{Topic: c.fullName(t.Name), Name: t.Name +
			".twice"}); err != nil {
			return "", "", err
		}
		id, err := b.send(ctx, &client.ProducerMessage{Payload: payload, SequenceID: &sequence})
		if err != nil {
			return "", "", err
		}
		answer = fmt.Sprintf("the second receipt is for entry %d:%d", id.LedgerID(), id.EntryID())
		b.producer.Close()
	}
	return answer,
		"deduplication in the policies of broker, namespace or topic, and publishers with a name " +
			"and sequence ids that they keep", nil
}

// deduplicates checks that the topic's broker has begun to compare messages.
func (c *cluster) deduplicates(ctx context.Context, t system.Topic) error {
	var stats struct {
		Status string `json:"deduplicationStatus"`
	}
	if err := c.admin.get(ctx, c.adminPath(t.Name)+"-partition-0/stats", &stats); err != nil {
		return err
	}
	if stats.Status != "Enabled" {
		return fmt.Errorf("its status is %s", stats.Status)
	}
	return nil
}

// Transact publishes in a transaction, if the brokers have a coordinator.
func (c *cluster) Transact(ctx context.Context, t system.Topic, payloads [][]byte,
	commit bool) (condition string, err error) {
	const enabled = "transactionCoordinatorEnabled on the brokers, whose metadata is made " +
		"beforehand"
	waiting, cancel := context.WithTimeout(ctx, 2*c.cfg.operationTimeout)
	defer cancel()
	lib, err := within(waiting, func() (client.Client, error) {
		lib, said, err := newClient(c.options, c.cfg,
			func(o *client.ClientOptions) { o.EnableTransaction = true })
		if err != nil && said != nil {
			err = said.cause(err)
		}
		return lib, err
	}, func(lib client.Client) { lib.Close() })
	if err != nil {
		return "", &system.NotSupported{Reason: fmt.Sprintf(
			"the client library finds no coordinator of transactions: %v", oneLine{err}),
			Condition: enabled}
	}
	b := &box{of: c, lib: lib}
	b.life, b.stop = context.WithCancel(context.Background())
	defer func() { err = errors.Join(err, b.Close(ctx)) }()
	if err := b.produce(client.ProducerOptions{Topic: c.fullName(t.Name)}); err != nil {
		return "", err
	}
	txn, err := lib.NewTransaction(time.Minute)
	if err != nil {
		return "", &system.NotSupported{Reason: fmt.Sprintf("the brokers begin no transaction: %v",
			oneLine{err}), Condition: enabled}
	}
	for _, payload := range payloads {
		if _, err := b.send(ctx,
			&client.ProducerMessage{Payload: payload, Transaction: txn}); err != nil {
			return "", fmt.Errorf("publish in a transaction: %w", c.explain(err))
		}
	}
	if commit {
		return enabled, txn.Commit(ctx)
	}
	return enabled, txn.Abort(ctx)
}
