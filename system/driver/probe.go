package driver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// KeyTopics holds a topic for each key, for systems whose consumers choose messages only by topic.
// It is not safe for concurrent use.
type KeyTopics struct {
	Cluster interface {
		CreateTopic(ctx context.Context, t system.Topic) error
		DeleteTopic(ctx context.Context, t system.Topic) error
	}
	Routing system.Routing
	made    []system.Topic
}

// Condition names the substitute for the kind of routing. Headers have none.
func (k *KeyTopics) Condition() string {
	return map[system.RouteKind]string{
		system.RouteDirect: "a topic for each key",
		system.RoutePattern: "a topic for each key, and consumers that subscribe by regular " +
			"expression",
	}[k.Routing.Kind]
}

// Of returns the name of a key's topic. A fanout has one topic for all keys.
func (k *KeyTopics) Of(key string) string {
	if k.Routing.Kind == system.RouteFanout {
		return k.Routing.Topic.Name
	}
	return k.Routing.Topic.Name + "." + key
}

// Ensure creates the key's topic, unless it exists, and returns its name.
func (k *KeyTopics) Ensure(ctx context.Context, key string) (name string, err error) {
	t := system.Topic{Name: k.Of(key), Partitions: 1}
	if slices.Contains(k.made, t) {
		return t.Name, nil
	}
	if err := k.Cluster.CreateTopic(ctx, t); err != nil {
		return "", err
	}
	k.made = append(k.made, t)
	return t.Name, nil
}

// Pattern returns a regular expression that matches the topics of a binding's pattern.
func (k *KeyTopics) Pattern(words string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(k.Of(words)), `\*`, `[^.]+`)
}

// Delete deletes the topics that Ensure has created.
func (k *KeyTopics) Delete(ctx context.Context) error {
	var errs []error
	for _, t := range k.made {
		errs = append(errs, k.Cluster.DeleteTopic(ctx, t))
	}
	return errors.Join(errs...)
}

// Refusal is the end of PublishAcked with a message that servers must refuse. refused says whether
// err is their refusal.
func Refusal(refused bool, err error) (answer string, _ error) {
	if refused {
		return err.Error(), nil
	}
	return "", fmt.Errorf("the server did not refuse: %w", err)
}

// TopicMailbox is a topic with one subscription: a system.Mailbox to which the driver adds Post.
// It is not safe for concurrent use.
type TopicMailbox struct {
	Cluster      system.Cluster
	Topic        system.Topic
	Subscription string
	reading      system.Consumer
}

// Open begins to receive.
func (b *TopicMailbox) Open(ctx context.Context, receive func(payload []byte)) (err error) {
	b.reading, err = b.Cluster.OpenConsumer(ctx, system.ConsumerOptions{
		Topic: b.Topic, Subscription: b.Subscription, Delivery: workload.AtLeastOnce,
		Receive: func(m system.Received) { receive(m.Payload) },
	})
	return err
}

// Close ends the consumer and deletes the topic.
func (b *TopicMailbox) Close(ctx context.Context) error {
	var err error
	if b.reading != nil {
		err = b.reading.Close(ctx)
	}
	return errors.Join(err, b.Cluster.DeleteTopic(ctx, b.Topic))
}

// Overfill posts n messages to a bounded place, and counts accepted and refused messages in p.
// refusal returns the servers' words, or "" for other errors, which end Overfill.
func Overfill(
	ctx context.Context, to system.Publisher, n int, p *system.BackPressure,
	refusal func(err error) (said string),
) error {
	for range n {
		err := to.Post(ctx, system.Envelope{Payload: []byte("more")})
		if err == nil {
			p.Accepted++
			continue
		}
		said := refusal(err)
		if said == "" {
			return err
		}
		p.Refused, p.Refusal = p.Refused+1, said
	}
	return nil
}

// Lacks holds the reason for each capability that a system lacks with all settings: the protocol's
// substitute, or the library that lacks it. A cluster that embeds it and implements the other
// capabilities is a system.Prober.
type Lacks struct {
	Replay, Sharing, Rejection, Bounds, Transactions, Deduplication string
	Features                                                        map[system.Feature]string
	Routes                                                          map[system.RouteKind]string
}

// SharedAsTheyAre is the Sharing of systems whose ordinary consumers share a partition: there are
// no others to open.
const SharedAsTheyAre = "the consumers of a subscription share each partition as they are"

// NoRoutes has one reason why messages are routed neither by a pattern nor by headers.
func NoRoutes(why string) map[system.RouteKind]string {
	return map[system.RouteKind]string{system.RoutePattern: why, system.RouteHeaders: why}
}

// lacks returns the error of a capability that the system lacks. Without a reason it is not the
// evidence that a probe needs.
func lacks(reason string) error {
	if reason == "" {
		return errors.New("the driver neither tries this capability nor gives a reason")
	}
	return system.Lacks(reason)
}

// OpenReplay refuses.
func (l Lacks) OpenReplay(context.Context, system.ConsumerOptions) (
	system.Consumer, string, error,
) {
	return nil, "", lacks(l.Replay)
}

// OpenShared refuses.
func (l Lacks) OpenShared(context.Context, system.ConsumerOptions) (
	system.Consumer, string, error,
) {
	return nil, "", lacks(l.Sharing)
}

// OpenMailbox refuses each feature.
func (l Lacks) OpenMailbox(_ context.Context, _ system.Topic, f system.Feature) (
	system.Mailbox, string, error,
) {
	return nil, "", lacks(l.Features[f])
}

// OpenRejecting refuses.
func (l Lacks) OpenRejecting(context.Context, system.Topic, func([]byte), func([]byte)) (
	system.Publisher, string, error,
) {
	return nil, "", lacks(l.Rejection)
}

// PublishBeyond refuses.
func (l Lacks) PublishBeyond(context.Context, system.Topic, int) (
	system.BackPressure, string, error,
) {
	return system.BackPressure{}, "", lacks(l.Bounds)
}

// Transact refuses.
func (l Lacks) Transact(context.Context, system.Topic, [][]byte, bool) (string, error) {
	return "", lacks(l.Transactions)
}

// PublishTwice refuses.
func (l Lacks) PublishTwice(context.Context, system.Topic, []byte) (
	answer, condition string, err error,
) {
	return "", "", lacks(l.Deduplication)
}

// KeyRoutes publishes to a topic for each key, and has a consumer for each binding. It is for the
// probes of routing by key and to all. It is not safe for concurrent use.
type KeyRoutes struct {
	KeyTopics
	post    func(ctx context.Context, topic string, payload []byte) error
	reading []system.Consumer
}

// OpenKeyRoutes opens the consumers of a routing's bindings, and returns the publisher and its
// Condition. It refuses a kind of routing for which l has a reason. post publishes to a topic of
// one partition.
func (l Lacks) OpenKeyRoutes(
	ctx context.Context, c system.Cluster, r system.Routing,
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
