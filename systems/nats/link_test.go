package nats

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// ended receives the result of one message.
type ended struct {
	system.Message
	done chan error
}

func (e *ended) Complete(err error) { e.done <- err }

func sent(p system.Producer, partition int32) *ended {
	e := &ended{done: make(chan error, 1)}
	e.Partition, e.Payload = partition, []byte("x")
	e.Bind(e)
	p.Send(&e.Message)
	return e
}

// clientCrowd is a producer and a consumer for each partition of a topic.
type clientCrowd struct {
	ctx       context.Context
	producers []system.Producer
	consumers []system.Consumer
	arrived   chan struct{}
}

func openCrowd(t *testing.T, ctx context.Context, c system.Cluster,
	topic system.Topic) *clientCrowd {
	t.Helper()
	n := topic.Partitions
	all := &clientCrowd{ctx, make([]system.Producer, n), make([]system.Consumer, n),
		make(chan struct{}, 4*n)}
	err := system.Each(ctx, n, 16, nil, func(ctx context.Context, i int) (err error) {
		all.consumers[i], err = c.OpenConsumer(ctx, system.ConsumerOptions{
			Topic: topic, Subscription: "all", Index: i, Delivery: workload.AtLeastOnce,
			Receive: func(system.Received) { all.arrived <- struct{}{} },
		})
		if err == nil {
			all.producers[i], err = c.OpenProducer(ctx,
				system.ProducerOptions{Topic: topic, Index: i, InFlight: 4, MessageMax: 100})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// round sends with each producer from the given one on, and awaits the messages.
func (c *clientCrowd) round(t *testing.T, from int) {
	t.Helper()
	var waiting sync.WaitGroup
	for i := from; i < len(c.producers); i++ {
		waiting.Go(func() {
			if err := <-sent(c.producers[i], int32(i)).done; err != nil {
				t.Errorf("producer %d: %v", i, err)
			}
		})
	}
	waiting.Wait()
	for n := range len(c.producers) - from {
		select {
		case <-c.arrived:
		case <-c.ctx.Done():
			t.Fatalf("%d messages arrived", n)
		}
	}
}

func (c *clientCrowd) close(t *testing.T, from, to int) {
	t.Helper()
	err := system.Each(c.ctx, to-from, to-from, nil, func(ctx context.Context, i int) error {
		return errors.Join(c.producers[from+i].Close(ctx), c.consumers[from+i].Close(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// crowdSharesConnections opens more clients of each kind than there may be connections. All of
// them work, also when others have closed, and the last client closes a shared connection.
func crowdSharesConnections(t *testing.T, e *embedded) {
	const clients = maxLinks + 6
	c := connect(t, optionsOf(e, workload.SyncAsync, settings(t))).(*cluster)
	ctx := within(t, 60*time.Second)
	topic := system.Topic{Name: "crowd", Partitions: clients}
	if err := c.CreateTopic(ctx, topic); err != nil {
		t.Fatal(err)
	}
	before := connections(e)
	all := openCrowd(t, ctx, c, topic)
	if opened := connections(e) - before; opened != 2*maxLinks {
		t.Errorf("%d clients have %d connections: want %d", 2*clients, opened, 2*maxLinks)
	}
	all.round(t, 0)
	// Clients that share with the last six, and others.
	all.close(t, 0, 10)
	if err := <-sent(all.producers[0], 0).done; err == nil {
		t.Error("a closed producer still sends")
	}
	all.round(t, 10)
	all.close(t, 10, clients)
	for deadline := time.Now().Add(5 * time.Second); connections(e) > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are left", connections(e)-before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// connections returns the number of client connections of the servers.
func connections(e *embedded) (n int) {
	for _, node := range e.nodes {
		n += node.server.NumClients()
	}
	return n
}

// secondAnswerFindsNobody answers a message twice. By the second answer its slot belongs to
// another message, which must not count as acknowledged.
func secondAnswerFindsNobody(t *testing.T, e *embedded) {
	c := connect(t, optionsOf(e, workload.SyncAsync, settings(t))).(*cluster)
	ctx := within(t, 20*time.Second)
	k, err := c.producing.take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// On the producer's own connection, because other servers learn of a subscription late.
	asked, err := k.conn.SubscribeSync("answered.by.hand")
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProducer(k, &c.clients, []string{"answered.by.hand"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close(ctx) })
	answer := func(to *nats.Msg, data string) {
		t.Helper()
		if err := to.Respond([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	next := func() *nats.Msg {
		t.Helper()
		m, err := asked.NextMsgWithContext(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	const stored = `{"stream":"by-hand","seq":1}`
	one := sent(p, 0)
	first := next()
	answer(first, stored)
	if err := <-one.done; err != nil {
		t.Fatal(err)
	}
	two := sent(p, 0)
	second := next()
	answer(first, stored)
	answer(second, `{"error":{"code":503,"err_code":10077,"description":"not stored"},"stream":"by-hand","seq":0}`)
	mustSay(t, <-two.done, "refused", "not stored")
}
