package rabbitmq

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	links "github.com/plimsoll-bench/plimsoll/system/driver/amqp"
)

// This file has the clients of queues by AMQP 1.0, which RabbitMQ speaks itself since version 4.
// Topics are made by AMQP 0.9.1 with every protocol.

// Values of the setting protocol.
const (
	amqp091 = "amqp091"
	amqp10  = "amqp10"
)

// protocolProblems adds what AMQP 1.0 is not written for.
func (p plan) protocolProblems(bad *driver.Problems) {
	if p.protocol != amqp10 {
		return
	}
	if p.kind == streamed {
		bad.Wrong(setProtocol, "is for queues, and streams have a protocol of their own: remove "+
			"it, or take %s %s", setQueueType, quorum)
	}
	if p.Text(setExchangeType) == headers {
		bad.Wrong(setProtocol, "cannot be %s with %s %s: take %s", amqp10, setExchangeType, headers,
			direct)
	}
	for _, name := range []string{setConnections, setChannels, setAckBatch, setAckDelay} {
		if p.Given(name) {
			bad.Wrong(name, "has no effect with %s %s: remove it", setProtocol, amqp10)
		}
	}
	if p.Text(setSASL) != plain {
		bad.Wrong(setProtocol, "cannot be %s with %s %s: take %s", amqp10, setSASL, p.Text(setSASL),
			plain)
	}
}

// linkDialer connects to the endpoints in turn, beginning with the one of a client's number.
func (c *cluster) linkDialer(number int) *links.Dialer {
	all := c.options.Endpoints
	first := number % len(all)
	d := &links.Dialer{
		Endpoints: slices.Concat(all[first:], all[:first]), Credentials: c.options.Credentials,
		TLS: c.options.TLS, Silence: missedHeartbeats * c.cfg.Duration(setHeartbeat),
		Patience: c.cfg.Duration(setReconnect),
	}
	if vhost := c.cfg.Text(setVhost); vhost != "/" {
		d.HostName = "vhost:" + vhost
	}
	return d
}

// missedHeartbeats end an idle connection.
const missedHeartbeats = 3

// openLinkProducer opens a producer with a connection of its own, and on it a link for each
// partition.
func (c *cluster) openLinkProducer(ctx context.Context, o system.ProducerOptions) (
	system.Producer, error) {
	return links.NewProducer(ctx, links.ProducerOptions{
		Dialer: c.linkDialer(o.Index), Clients: &c.clients, Targets: c.cfg.targets(o.Topic),
		InFlight: o.InFlight, Durable: c.cfg.persistent,
		Timeout: c.cfg.Duration(setConfirmTimeout),
	})
}

// targets returns where the messages of each partition go: to the exchange, with the routing key.
func (p plan) targets(t system.Topic) (all []links.Target) {
	for _, r := range p.routes(t) {
		address := "/exchanges/" + url.PathEscape(t.Name)
		if p.Text(setExchangeType) != fanout {
			address += "/" + url.PathEscape(r.key)
		}
		all = append(all, links.Target{Address: address})
	}
	return all
}

// sources returns the queues of a subscription, by partition.
func sources(t system.Topic, subscription string) (all []links.Source) {
	for partition := range t.Partitions {
		name := queueName(t, subscription, partition)
		all = append(all, links.Source{Address: "/queues/" + url.PathEscape(name)})
	}
	return all
}

// openLinkConsumer creates the subscription's queues, unless they exist, and opens a consumer of
// all of them, which it shares with the subscription's others.
func (c *cluster) openLinkConsumer(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, error) {
	err := c.groupOf(o).placed.Once(func() error {
		return c.placeSubscription(ctx, o.Topic, o.Subscription)
	})
	if err != nil {
		return nil, fmt.Errorf("create the subscription: %w", err)
	}
	return links.NewConsumer(ctx, links.ConsumerOptions{
		Dialer: c.linkDialer(o.Index), Clients: &c.clients, Credit: int(c.cfg.Count(setPrefetch)),
		Sources: sources(o.Topic, o.Subscription), Handle: o,
	})
}
