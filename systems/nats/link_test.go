package nats

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// ended waits for the end of one message.
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

// crowdSharesConnections opens more clients of each kind than there may be
// connections: all of them work, and still do when others have closed; the last
// one closes what they shared.
func crowdSharesConnections(t *testing.T, e *embedded) {
	const clients = maxLinks + 6
	c := connect(t, optionsOf(e, workload.SyncAsync, settings(t))).(*cluster)
	ctx := within(t, 60*time.Second)
	topic := system.Topic{Name: "crowd", Partitions: clients}
	if err := c.CreateTopic(ctx, topic); err != nil {
		t.Fatal(err)
	}
	before := connections(e)
	var received atomic.Int64
	arrived := make(chan struct{}, 4*clients)
	consumers, producers := make([]system.Consumer, clients), make([]system.Producer, clients)
	err := system.Each(ctx, clients, 16, nil, func(ctx context.Context, i int) (err error) {
		consumers[i], err = c.OpenConsumer(ctx, system.ConsumerOptions{
			Topic: topic, Subscription: "all", Index: i, Delivery: workload.AtLeastOnce,
			Receive: func([]byte) { received.Add(1); arrived <- struct{}{} },
		})
		if err == nil {
			producers[i], err = c.OpenProducer(ctx, system.ProducerOptions{Topic: topic, Index: i, InFlight: 4, MessageMax: 100})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if opened := connections(e) - before; opened != 2*maxLinks {
		t.Errorf("%d clients have %d connections: want %d", 2*clients, opened, 2*maxLinks)
	}
	round := func(from int) {
		var waiting sync.WaitGroup
		for i := from; i < clients; i++ {
			waiting.Go(func() {
				if err := <-sent(producers[i], int32(i)).done; err != nil {
					t.Errorf("producer %d: %v", i, err)
				}
			})
		}
		waiting.Wait()
		for range clients - from {
			select {
			case <-arrived:
			case <-ctx.Done():
				t.Fatalf("%d messages arrived", received.Load())
			}
		}
	}
	round(0)
	// Those that shared with the last six, and others.
	closeThose := func(from, to int) {
		err := system.Each(ctx, to-from, clients, nil, func(ctx context.Context, i int) error {
			if err := producers[from+i].Close(ctx); err != nil {
				return err
			}
			return consumers[from+i].Close(ctx)
		})
		if err != nil {
			t.Error(err)
		}
	}
	closeThose(0, 10)
	if err := <-sent(producers[0], 0).done; err == nil {
		t.Error("a closed producer still sends")
	}
	round(10)
	closeThose(10, clients)
	for deadline := time.Now().Add(5 * time.Second); connections(e) > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are left", connections(e)-before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// connections is how many clients the servers have.
func connections(e *embedded) (n int) {
	for _, node := range e.nodes {
		n += node.server.NumClients()
	}
	return n
}
