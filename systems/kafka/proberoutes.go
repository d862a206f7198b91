package kafka

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
)

var (
	_ system.Router = (*cluster)(nil)
	_ system.Sharer = (*cluster)(nil)
)

// follower is a client that receives until it is closed.
type follower struct {
	client *kgo.Client
	stop   context.CancelFunc
	ended  chan struct{}
}

// follow has a client call receive with each record.
func follow(client *kgo.Client, receive func(*kgo.Record)) *follower {
	ctx, stop := context.WithCancel(context.Background())
	f := &follower{client: client, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		for ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(receive)
		}
	}()
	return f
}

// Close leaves the group.
func (f *follower) Close(ctx context.Context) error {
	f.stop()
	<-f.ended
	err := f.client.LeaveGroupContext(ctx)
	f.client.Close()
	return err
}

// OpenShared opens a member of a share group, which deals the records of a
// partition out one by one.
func (c *cluster) OpenShared(ctx context.Context, o system.ConsumerOptions) (system.Consumer, string, error) {
	const condition = "a share group in place of a consumer group (brokers of Kafka 4.2 or later)"
	group := o.Topic.Name + ".share"
	if err := c.beginning(ctx, group, kmsg.IncrementalAlterConfigOpSet); err != nil {
		return nil, "", err
	}
	// One fetch would otherwise bring the whole of a small topic to one member.
	client, err := kgo.NewClient(append(baseOptions(c.options, c.cfg), kgo.ShareGroup(group), kgo.ConsumeTopics(o.Topic.Name),
		kgo.ShareMaxRecords(5), kgo.ShareMaxRecordsStrict())...)
	if err != nil {
		return nil, "", fmt.Errorf("the client library refuses the settings: %w", err)
	}
	return &sharing{of: c, group: group, follower: follow(client, func(r *kgo.Record) {
		o.Receive(received(r))
		r.Ack(kgo.AckAccept)
	})}, condition, nil
}

// beginning sets where a share group begins to the start of its topics, or
// forgets it.
func (c *cluster) beginning(ctx context.Context, group string, op kmsg.IncrementalAlterConfigOp) error {
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Op, config.Value = "share.auto.offset.reset", op, kmsg.StringPtr("earliest")
	resource.Configs = append(resource.Configs, config)
	request.Resources = append(request.Resources, resource)
	answer, err := request.RequestWith(ctx, c.client)
	if err != nil {
		return fmt.Errorf("set where share group %s begins: %w", group, c.explain(err))
	}
	for _, one := range answer.Resources {
		if err := kerr.ErrorForCode(one.ErrorCode); err != nil {
			return fmt.Errorf("set where share group %s begins: %w", group, err)
		}
	}
	return nil
}

// sharing is a member of a share group.
type sharing struct {
	*follower
	of    *cluster
	group string
}

// Close leaves the group; the last one to do so deletes it.
func (s *sharing) Close(ctx context.Context) error {
	if err := s.follower.Close(ctx); err != nil {
		return err
	}
	_, err := s.of.admin.DeleteGroup(ctx, s.group)
	if errors.Is(err, kerr.NonEmptyGroup) {
		return nil // the last one deletes it
	}
	if err != nil {
		return fmt.Errorf("delete share group %s: %w", s.group, s.of.explain(err))
	}
	return s.of.beginning(ctx, s.group, kmsg.IncrementalAlterConfigOpDelete)
}

// routes are topics in place of keys, and groups that read them.
type routes struct {
	of       *cluster
	prefix   string
	topics   []string
	groups   []string
	client   *kgo.Client
	reading  []*follower
	distinct bool // a topic for each key
}

// OpenRoutes makes a topic for each key, which consumers choose by name, or by
// a regular expression.
func (c *cluster) OpenRoutes(ctx context.Context, r system.Routing) (system.Publisher, string, error) {
	condition := "a topic for each key"
	switch r.Kind {
	case system.RouteHeaders:
		return nil, "", &system.NotSupported{Reason: "brokers do not look at headers, and a consumer gets whole partitions; it can drop what it does not want, or Kafka Streams can sort it into topics"}
	case system.RouteFanout:
		condition = ""
	case system.RoutePattern:
		condition = "a topic for each key, and consumers that subscribe by regular expression"
	}
	client, err := c.probeClient()
	if err != nil {
		return nil, "", err
	}
	x := &routes{of: c, prefix: r.Topic.Name, client: client, distinct: r.Kind != system.RouteFanout}
	if err := x.open(ctx, r); err != nil {
		return nil, "", errors.Join(err, x.Close(ctx))
	}
	return x, condition, nil
}

// topicOf is where messages of a key go.
func (x *routes) topicOf(key string) string {
	if !x.distinct {
		return x.prefix
	}
	return x.prefix + "." + key
}

// ensure makes a key's topic.
func (x *routes) ensure(ctx context.Context, key string) error {
	name := x.topicOf(key)
	if slices.Contains(x.topics, name) {
		return nil
	}
	if err := x.of.CreateTopic(ctx, system.Topic{Name: name, Partitions: 1}); err != nil {
		return err
	}
	x.topics = append(x.topics, name)
	return nil
}

func (x *routes) open(ctx context.Context, r system.Routing) error {
	for i, b := range r.Bindings {
		group := fmt.Sprintf("%s-%d", x.prefix, i)
		options := append(baseOptions(x.of.options, x.of.cfg), kgo.ConsumerGroup(group), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		if r.Kind == system.RoutePattern {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(x.topicOf(b.Key)), `\*`, `[^.]+`)
			options = append(options, kgo.ConsumeRegex(), kgo.ConsumeTopics("^"+pattern+"$"))
		} else {
			if err := x.ensure(ctx, b.Key); err != nil {
				return err
			}
			options = append(options, kgo.ConsumeTopics(x.topicOf(b.Key)))
		}
		// Topics that are made later are found by the next look.
		client, err := kgo.NewClient(append(options, kgo.MetadataMaxAge(settlePoll*20))...)
		if err != nil {
			return fmt.Errorf("the client library refuses the settings: %w", err)
		}
		x.groups = append(x.groups, group)
		x.reading = append(x.reading, follow(client, func(r *kgo.Record) { b.Receive(r.Value) }))
	}
	return nil
}

// Post publishes to the key's topic.
func (x *routes) Post(ctx context.Context, l system.Envelope) error {
	if err := x.ensure(ctx, l.Key); err != nil {
		return err
	}
	return x.client.ProduceSync(ctx, &kgo.Record{Topic: x.topicOf(l.Key), Value: l.Payload}).FirstErr()
}

// Close ends the consumers and deletes topics and groups.
func (x *routes) Close(ctx context.Context) error {
	var errs []error
	for _, f := range x.reading {
		errs = append(errs, f.Close(ctx))
	}
	x.client.Close()
	for _, group := range x.groups {
		_, _ = x.of.admin.DeleteGroup(ctx, group) // it may never have come about
	}
	for _, name := range x.topics {
		_, err := x.of.admin.DeleteTopic(ctx, name)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
