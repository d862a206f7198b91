package nats

import (
	"context"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func failedHearsOfADeletedSubscription(t *testing.T, e *embedded) {
	s := settings(t)
	c := connect(t, optionsOf(e, workload.SyncAsync, s)).(*cluster)
	ctx := within(t, 30*time.Second)
	topic := system.Topic{Name: "deleted", Partitions: 1}
	if err := c.CreateTopic(ctx, topic); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 10)
	o := system.ConsumerOptions{Topic: topic, Subscription: "s", Delivery: workload.AtLeastOnce,
		Receive: func(system.Received) {}, Failed: func(err error) { failed <- err }}
	if _, err := c.OpenConsumer(ctx, o); err != nil {
		t.Fatal(err)
	}
	other := o
	other.Delivery = workload.AtMostOnce
	_, err := c.OpenConsumer(ctx, other)
	mustSay(t, err, "another delivery guarantee")
	if err := c.js.DeleteConsumer(ctx, topic.Name, "s"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		mustSay(t, err, "deleted")
	case <-ctx.Done():
		t.Fatal("Failed was not called")
	}
}

// deletedBetweenRequests deletes the durable consumer, or its stream, while no request is open, so
// that the server tells nobody.
func deletedBetweenRequests(t *testing.T, e *embedded) {
	s := settings(t, target.Setting{Name: setPullExpires, Value: "1s"})
	c := connect(t, optionsOf(e, workload.SyncAsync, s)).(*cluster)
	ctx := within(t, 30*time.Second)
	for name, remove := range map[string]func(stream, durable string) error{
		"consumer": func(stream, durable string) error {
			return c.js.DeleteConsumer(ctx, stream, durable)
		},
		"stream": func(stream, _ string) error { return c.js.DeleteStream(ctx, stream) },
	} {
		topic := system.Topic{Name: "silent-" + name, Partitions: 1}
		if err := c.CreateTopic(ctx, topic); err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 1)
		opened, err := c.OpenConsumer(ctx, system.ConsumerOptions{
			Topic: topic, Subscription: "s", Delivery: workload.AtLeastOnce,
			Receive: func(system.Received) {}, Failed: func(err error) { failed <- err },
		})
		if err != nil {
			t.Fatal(err)
		}
		r := opened.(*consumer)
		r.mu.Lock() // until it is released, the consumer sends no request
		for open := 1; open > 0 && err == nil; {
			open, err = openRequests(ctx, c, topic.Name, "s")
		}
		if err == nil {
			err = remove(topic.Name, "s")
		}
		r.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-failed:
			mustSay(t, err, "deleted")
		case <-ctx.Done():
			t.Fatalf("%s: Failed was not called", name)
		}
	}
}

// openRequests returns the number of a durable consumer's open pull requests.
func openRequests(ctx context.Context, c *cluster, stream, durable string) (int, error) {
	found, err := c.js.Consumer(ctx, stream, durable)
	if err != nil {
		return 0, err
	}
	return found.CachedInfo().NumWaiting, nil
}
