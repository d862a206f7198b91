package rabbitmq

import (
	"sync"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// round counts what is still to come of a burst: a confirm and a delivery for each message.
type round struct{ sync.WaitGroup }

func (r *round) Complete(error) { r.Done() }

// BenchmarkMessage sends messages of 1 KB to a classic queue in bursts of five, and receives and
// acknowledges each.
func BenchmarkMessage(b *testing.B) {
	const burst = 5
	c := connect(b, optionsOf(b, sharedCluster(b), workload.AsyncAsync, setAckBatch, "1"))
	topic := system.Topic{Name: "benchmark", Partitions: 1}
	if err := c.CreateTopic(b.Context(), topic); err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := c.DeleteTopic(b.Context(), topic); err != nil {
			b.Error(err)
		}
	}()
	var r round
	k, err := c.OpenConsumer(b.Context(), system.ConsumerOptions{Topic: topic, Subscription: "s",
		Delivery: workload.AtLeastOnce, Receive: func(system.Received) { r.Done() }})
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close(b.Context())
	p, err := c.OpenProducer(b.Context(), system.ProducerOptions{Topic: topic, InFlight: 100,
		Delivery: workload.AtLeastOnce})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close(b.Context())
	all := make([]system.Message, burst)
	for i := range all {
		all[i].Payload = make([]byte, 1024)
		all[i].Bind(&r)
	}
	b.ReportAllocs()
	for sent := 0; b.Loop(); sent++ {
		if sent%burst == 0 {
			p.(system.Gatherer).Gather()
		}
		r.Add(2)
		p.Send(&all[sent%burst])
		if sent%burst == burst-1 {
			p.(system.Gatherer).Flush()
			r.Wait()
		}
	}
	p.(system.Gatherer).Flush()
	r.Wait()
}
