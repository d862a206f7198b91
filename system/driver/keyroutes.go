package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// KeyRoutes publishes to a topic for each key, and has a consumer for each binding. It serves
// the probe of routing by key and to all. It is not safe for concurrent use.
type KeyRoutes struct {
	KeyTopics
	post    func(ctx context.Context, topic string, payload []byte) error
	reading []system.Consumer
}

// OpenKeyRoutes opens the consumers of a routing's bindings, and returns the publisher and its
// Condition. It refuses a kind of routing that l has a reason for. post publishes to a topic of one
// partition.
func (l Lacks) OpenKeyRoutes(
	ctx context.Context, c interface {
		system.Cluster
		system.TopicDeleter
	}, r system.Routing,
	post func(ctx context.Context, topic string, payload []byte) error,
) (system.Publisher, string, error) {
	if why := l.Routes[r.Kind]; why != "" {
		return nil, "", system.Lacks(why)
	}
	x := &KeyRoutes{KeyTopics: KeyTopics{Cluster: c, Routing: r}, post: post}
	for i, b := range r.Bindings {
		name, err := x.Ensure(ctx, b.Key)
		var reading system.Consumer
		if err == nil {
			reading, err = c.OpenConsumer(ctx, system.ConsumerOptions{
				Topic: system.Topic{Name: name, Partitions: 1}, Subscription: fmt.Sprint(i),
				Delivery: workload.AtLeastOnce,
				Receive:  func(m system.Received) { b.Receive(m.Payload) },
			})
		}
		if err != nil {
			return nil, "", errors.Join(err, x.Close(ctx))
		}
		x.reading = append(x.reading, reading)
	}
	return x, x.Condition(), nil
}

// Post publishes to the key's topic.
func (x *KeyRoutes) Post(ctx context.Context, e system.Envelope) error {
	name, err := x.Ensure(ctx, e.Key)
	if err == nil {
		err = x.post(ctx, name, e.Payload)
	}
	return err
}

// Close ends the consumers and deletes the topics.
func (x *KeyRoutes) Close(ctx context.Context) error {
	var errs []error
	for _, r := range x.reading {
		errs = append(errs, r.Close(ctx))
	}
	return errors.Join(errors.Join(errs...), x.Delete(ctx))
}
