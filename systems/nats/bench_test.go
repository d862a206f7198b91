package nats

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	benchClients  = 4
	benchInFlight = 1000
	benchSize     = 1 << 10
)

// pooled is a message that returns to its pool when it ends.
type pooled struct {
	message system.Message
	pool    chan *pooled
	failed  *atomic.Int64
}

func (p *pooled) Complete(err error) {
	if err != nil {
		p.failed.Add(1)
	}
	p.pool <- p
}

func newPool(failed *atomic.Int64) chan *pooled {
	pool := make(chan *pooled, benchInFlight)
	for range benchInFlight {
		p := &pooled{pool: pool, failed: failed}
		p.message.Payload = make([]byte, benchSize)
		p.message.Bind(p)
		pool <- p
	}
	return pool
}

// bench connects to a cluster and creates a topic.
func bench(b *testing.B, o system.Options) (system.Cluster, system.Topic, context.Context) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	b.Cleanup(cancel)
	c, err := New().Connect(ctx, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close(ctx) })
	topic := system.Topic{Name: fmt.Sprintf("bench-%d", b.N), Partitions: benchClients}
	if err := c.CreateTopic(ctx, topic); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.DeleteTopic(ctx, topic) })
	return c, topic, ctx
}

// publish sends b.N messages through benchClients producers and waits for the
// acknowledgements.
func publish(b *testing.B, c system.Cluster, topic system.Topic, ctx context.Context) {
	var wg sync.WaitGroup
	var failed atomic.Int64
	for i := range benchClients {
		p, err := c.OpenProducer(ctx, system.ProducerOptions{Topic: topic, Index: i,
			InFlight: benchInFlight, MessageMax: benchSize})
		if err != nil {
			b.Fatal(err)
		}
		pool := newPool(&failed)
		wg.Go(func() {
			for n := i; n < b.N; n += benchClients {
				m := <-pool
				m.message.Partition = int32(i)
				p.Send(&m.message)
			}
			for range benchInFlight {
				<-pool
			}
		})
	}
	wg.Wait()
	if n := failed.Load(); n > 0 {
		b.Errorf("%d of %d messages were refused", n, b.N)
	}
}

func rate(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
}

// BenchmarkPublish measures the driver's own cost: the servers are in another process.
func BenchmarkPublish(b *testing.B) {
	o := serveApart(b, workload.SyncAsync)
	c, topic, ctx := bench(b, o)
	b.ReportAllocs()
	b.ResetTimer()
	publish(b, c, topic, ctx)
	rate(b)
}

// BenchmarkPublishAsyncOfTheLibrary measures the same through jetstream.PublishAsync, with the
// acknowledgement timeout that it needs to end every message.
func BenchmarkPublishAsyncOfTheLibrary(b *testing.B) {
	o := serveApart(b, workload.SyncAsync)
	c, topic, ctx := bench(b, o)
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range benchClients {
		conn, err := c.(*cluster).connectClient(ctx, "library")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(conn.Close)
		room := make(chan struct{}, benchInFlight)
		js, err := jetstream.New(conn,
			jetstream.WithPublishAsyncMaxPending(benchInFlight),
			jetstream.WithPublishAsyncTimeout(5*time.Second),
			jetstream.WithPublishAsyncAckHandler(
				func(jetstream.JetStream, *nats.Msg, *jetstream.PubAck) { <-room }),
			jetstream.WithPublishAsyncErrHandler(
				func(jetstream.JetStream, *nats.Msg, error) { <-room }))
		if err != nil {
			b.Fatal(err)
		}
		subject, data := ownHome(topic.Name).subject(i), make([]byte, benchSize)
		wg.Go(func() {
			for n := i; n < b.N; n += benchClients {
				room <- struct{}{}
				if _, err := js.PublishAsync(subject, data); err != nil {
					b.Error(err)
					<-room
				}
			}
			for range benchInFlight {
				room <- struct{}{}
			}
		})
	}
	wg.Wait()
	rate(b)
}

// BenchmarkEndToEnd measures one process that also runs the cluster: it publishes at full speed
// and consumes everything.
func BenchmarkEndToEnd(b *testing.B) {
	s := settings(b)
	e := provision(b, workload.SyncAsync, s)
	c, topic, ctx := bench(b, optionsOf(e, workload.SyncAsync, s))
	received, done := atomic.Int64{}, make(chan struct{})
	for i := range benchClients {
		_, err := c.OpenConsumer(ctx, system.ConsumerOptions{
			Topic: topic, Subscription: "bench", Index: i, Delivery: workload.AtLeastOnce,
			Receive: func(system.Received) {
				if received.Add(1) == int64(b.N) {
					close(done)
				}
			},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	publish(b, c, topic, ctx)
	published := b.Elapsed()
	select {
	case <-done:
	case <-ctx.Done():
		b.Fatalf("%d of %d received", received.Load(), b.N)
	}
	rate(b)
	b.ReportMetric(float64(b.N)/published.Seconds(), "published/s")
}
