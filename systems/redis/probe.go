package redis

import (
	"context"
	"errors"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// OpenReplay sets the group's position to the start of the streams.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, string, error,
) {
	pipe := c.client.Pipeline()
	for _, key := range streams(o.Topic) {
		pipe.XGroupSetID(ctx, key, o.Subscription, start)
	}
	if err := c.change(ctx, "set the group's position", pipe); err != nil {
		return nil, "", err
	}
	r, err := c.OpenConsumer(ctx, o)
	return r, "", err
}

// add sends an XADD to partition 0.
func (c *cluster) add(ctx context.Context, t system.Topic, id string, payload []byte) (
	string, error,
) {
	return c.client.XAdd(ctx, &goredis.XAddArgs{
		Stream: streams(t)[0], NoMkStream: true, ID: id, Values: []any{fieldPayload, payload},
	}).Result()
}

// PublishAcked publishes with and without WAIT.
func (c *cluster) PublishAcked(
	ctx context.Context, t system.Topic, kind system.AckKind, payload []byte,
) (string, error) {
	switch kind {
	case system.AckNone:
		return "", system.Lacks(
			"CLIENT REPLY OFF stops the server's answers, which go-redis does not support")
	case system.AckRefusal:
		_, err := c.add(ctx, t, "0-0", payload) // the lowest ID is above it
		return refusal(err)
	}
	pipe := c.client.Pipeline()
	added := pipe.XAdd(ctx, &goredis.XAddArgs{
		Stream: streams(t)[0], NoMkStream: true, Values: []any{fieldPayload, payload},
	})
	const replicas, wait = 1, 1000 // ms
	counted := goredis.NewIntCmd(ctx, "wait", replicas, wait)
	if kind == system.AckReplicas {
		_ = pipe.Process(ctx, counted) // only adds to the pipeline
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return "", fmt.Errorf("publish: %w", c.explain(err))
	}
	answer := "XADD answered " + added.Val()
	if kind == system.AckReplicas {
		answer += fmt.Sprintf(", and WAIT %d %d answered %d", replicas, wait, counted.Val())
	}
	return answer, nil
}

// refusal returns the answer of a server that must refuse.
func refusal(err error) (string, error) {
	var answer goredis.Error
	return driver.Refusal(errors.As(err, &answer), err)
}

// OpenRoutes uses a stream for each key.
func (c *cluster) OpenRoutes(ctx context.Context, r system.Routing) (
	system.Publisher, string, error,
) {
	return c.OpenKeyRoutes(ctx, c, r,
		func(ctx context.Context, topic string, payload []byte) error {
			_, err := c.add(ctx, system.Topic{Name: topic, Partitions: 1}, "*", payload)
			return err
		})
}

// Transact publishes between MULTI and EXEC, or DISCARD.
func (c *cluster) Transact(
	ctx context.Context, t system.Topic, payloads [][]byte, commit bool,
) (string, error) {
	const condition = "MULTI and EXEC; all streams on one server"
	pipe := c.client.Pipeline()
	pipe.Do(ctx, "multi")
	for _, payload := range payloads {
		pipe.Do(ctx, "xadd", streams(t)[0], "nomkstream", "*", fieldPayload, payload)
	}
	end := "discard"
	if commit {
		end = "exec"
	}
	pipe.Do(ctx, end)
	return condition, c.change(ctx, "publish in a transaction", pipe)
}

// PublishTwice adds an entry twice under an ID that the publisher chose.
func (c *cluster) PublishTwice(ctx context.Context, t system.Topic, payload []byte) (
	answer, condition string, err error,
) {
	const id = "1-1"
	condition = "the publisher chooses each entry's ID, and is the only one of the stream, " +
		"because IDs must grow"
	if _, err = c.add(ctx, t, id, payload); err != nil {
		return "", "", fmt.Errorf("add the entry: %w", c.explain(err))
	}
	_, err = c.add(ctx, t, id, payload)
	answer, err = refusal(err)
	return "the second time: " + answer, condition, err
}

// lacks holds the reasons for missing capabilities and their substitutes.
var lacks = driver.Lacks{
	Sharing: driver.SharedAsTheyAre,
	Routes: map[system.RouteKind]string{
		system.RoutePattern: "XREADGROUP names each stream that it reads; the patterns of " +
			"PSUBSCRIBE are of Pub/Sub, which keeps nothing",
		system.RouteHeaders: "the server does not look at an entry's fields",
	},
	Features: map[system.Feature]string{
		system.FeatureTTL: "an entry has no time to live of its own; XTRIM MINID removes what is " +
			"older than a time, read or not",
		system.FeatureDelay: "an entry can be read as soon as it is in the stream; a sorted set " +
			"by due time, polled by the application, takes the place of a delay",
		system.FeaturePriority: "a stream is read in its order; urgent messages take a stream of " +
			"their own, which a consumer reads first",
	},
	Rejection: "there is no rejection: an entry stays pending until it is acknowledged; XPENDING " +
		"counts its deliveries, and a consumer may copy it to a stream of its own",
	Bounds: "no stream can refuse more: MAXLEN removes the oldest entries, read or not; " +
		"maxmemory with noeviction refuses all writes of the server, and was therefore not tried",
}
