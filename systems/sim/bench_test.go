package sim_test

import (
	"context"
	"sync"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
)

// counted is a message whose Done only counts.
type counted struct {
	m    system.Message
	done *sync.WaitGroup
}

func (c *counted) Complete(error) { c.done.Done() }

// The simulated system's own cost per message, from Send to delivery.
func BenchmarkMessage(b *testing.B) {
	s := sim.New(clock.Precise(), nil)
	settings, err := system.Resolve(s.Describe().Settings,
		[]target.Setting{{Name: "service_time", Value: "0s"}})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	c, err := s.Connect(ctx, system.Options{Settings: settings})
	if err != nil {
		b.Fatal(err)
	}
	topic := system.Topic{Name: "t", Partitions: 4}
	if err := c.CreateTopic(ctx, topic); err != nil {
		b.Fatal(err)
	}
	if _, err := c.OpenConsumer(ctx, system.ConsumerOptions{
		Topic: topic, Subscription: "s", Receive: func(system.Received) {},
	}); err != nil {
		b.Fatal(err)
	}
	p, err := c.OpenProducer(ctx, system.ProducerOptions{Topic: topic})
	if err != nil {
		b.Fatal(err)
	}
	var done sync.WaitGroup
	batch := make([]counted, 1024)
	for i := range batch {
		batch[i].done = &done
		batch[i].m.Partition, batch[i].m.Payload = int32(i%4), make([]byte, 100)
		batch[i].m.Bind(&batch[i])
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n += len(batch) {
		done.Add(len(batch))
		for i := range batch {
			p.Send(&batch[i].m)
		}
		done.Wait()
	}
	b.StopTimer()
	if err := c.Close(ctx); err != nil {
		b.Error(err)
	}
}
