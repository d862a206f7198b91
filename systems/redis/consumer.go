package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Positions in a stream.
const (
	start   = "0"
	unread  = ">" // entries that no consumer of the group has
	pending = "0" // entries of this consumer that it has not acknowledged
)

// consumer is a consumer of a group on every stream of a topic. One goroutine uses its connection
// until it ends, and Close afterwards.
type consumer struct {
	driver.Receiver
	of          *cluster
	client      *goredis.Client
	closing     driver.Closing
	group, name string
	streams     []string
	partitions  map[string]int32 // by stream
	acknowledge bool             // after Receive; otherwise entries are read with NOACK
	count       int64

	handled [][]string // by partition: entries to acknowledge with the next command
	cursors []string   // by partition: start of the next search for idle entries
	claimed time.Time  // time of the last search
	place   string     // in the streams, of the next read
	payload []byte     // of the message being handled, and its key
	key     []byte
}

// OpenConsumer creates the subscription's groups, unless they exist, and reads.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, error,
) {
	keys := streams(o.Topic)
	if err := c.createGroups(ctx, o.Subscription, keys); err != nil {
		return nil, err
	}
	r := &consumer{
		Receiver: driver.Receiver{Options: o}, of: c,
		client:  c.dial(c.primary, c.Duration(setBlock)+c.Duration(setRequest)),
		group:   o.Subscription,
		name:    strconv.Itoa(o.Index) + "-" + rand.Text()[:10],
		streams: keys, partitions: make(map[string]int32, len(keys)),
		acknowledge: o.Delivery != workload.AtMostOnce, count: c.Count(setCount),
		handled: make([][]string, len(keys)), cursors: make([]string, len(keys)),
		place: unread,
	}
	for i, key := range keys {
		r.partitions[key], r.cursors[i] = int32(i), start
	}
	r.Begin(r.run)
	return r, c.clients.Keep(ctx, r)
}

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

// createGroups creates the missing groups. They begin at the start of the streams.
func (c *cluster) createGroups(ctx context.Context, group string, keys []string) error {
	pipe := c.client.Pipeline()
	for _, key := range keys {
		pipe.XGroupCreate(ctx, key, group, start)
	}
	made := pipe.Cmds()
	wait := c.wait(ctx)
	if wait != nil {
		_ = pipe.Process(ctx, wait) // only adds to the pipeline
	}
	execute(ctx, pipe)
	for _, one := range made {
		if err := one.Err(); err != nil && !goredis.HasErrorPrefix(err, "BUSYGROUP") {
			return fmt.Errorf("create the consumer groups: %w", c.explain(err))
		}
	}
	return c.waited(wait)
}

// claimEvery returns how often a consumer looks for idle entries.
func claimEvery(after time.Duration) time.Duration { return min(after, time.Second) }

// run handles entries until the consumer closes or cannot go on.
func (r *consumer) run() {
	for r.Life.Err() == nil {
		err := r.round()
		switch {
		case err == nil:
		case final(err):
			r.Fail(r.of.explain(err))
			return
		default:
			// Entries whose delivery did not reach us are pending.
			r.place = pending
			clock.Sleep(r.Life, driver.RetryPause)
		}
	}
	// Entries that can no longer be acknowledged go to others.
	_ = r.execute(r.pipeline())
}

// final reports whether an error is a server's answer that a retry cannot change.
func final(err error) bool {
	var answer goredis.Error
	return errors.As(err, &answer) && !errors.Is(err, goredis.Nil) && !goredis.IsLoadingError(err)
}

// round reads once, and looks for idle entries if that is due.
func (r *consumer) round() error {
	if err := r.read(); err != nil {
		return err
	}
	after := r.of.Duration(setClaimAfter)
	if !r.acknowledge || time.Since(r.claimed) < claimEvery(after) {
		return nil
	}
	r.claimed = time.Now()
	return r.claim(after)
}

// read reads the next entries.
func (r *consumer) read() error {
	pipe := r.pipeline()
	got := pipe.XReadGroup(context.Background(), &goredis.XReadGroupArgs{
		Group: r.group, Consumer: r.name,
		Streams: slices.Concat(r.streams, slices.Repeat([]string{r.place}, len(r.streams))),
		Count:   r.count, Block: r.of.Duration(setBlock), NoAck: !r.acknowledge,
	})
	if err := r.execute(pipe); err != nil {
		return err
	}
	n := 0
	for _, s := range got.Val() {
		n += len(s.Messages)
		r.handle(r.partitions[s.Stream], s.Messages)
	}
	if n == 0 {
		r.place = unread
	}
	return nil
}

// pipeline returns a pipeline that acknowledges the handled entries, to which the caller adds
// commands.
func (r *consumer) pipeline() goredis.Pipeliner {
	pipe := r.client.Pipeline()
	for i, ids := range r.handled {
		if len(ids) > 0 {
			pipe.XAck(context.Background(), r.streams[i], r.group, ids...)
		}
	}
	return pipe
}

// execute executes a pipeline made by pipeline.
func (r *consumer) execute(pipe goredis.Pipeliner) error {
	commands := pipe.Cmds()
	execute(context.Background(), pipe)
	for _, one := range commands {
		if err := one.Err(); err != nil && !errors.Is(err, goredis.Nil) {
			return err
		}
	}
	for i := range r.handled {
		r.handled[i] = r.handled[i][:0]
	}
	return nil
}

// handle hands over entries until the consumer stops.
func (r *consumer) handle(partition int32, entries []goredis.XMessage) {
	for _, e := range entries {
		if e.Values != nil { // nil: trimmed while it was pending
			payload, _ := e.Values[fieldPayload].(string)
			r.payload = append(r.payload[:0], payload...)
			m := system.Received{Payload: r.payload, Partition: partition}
			if key, has := e.Values[fieldKey].(string); has {
				r.key = append(r.key[:0], key...)
				m.Key = r.key
			}
			if !r.Handle(m) {
				return
			}
		}
		if r.acknowledge {
			r.handled[partition] = append(r.handled[partition], e.ID)
		}
	}
}

// claim takes over entries that have been pending for too long, with any consumer.
func (r *consumer) claim(after time.Duration) error {
	pipe := r.pipeline()
	found := make([]*goredis.XAutoClaimCmd, len(r.streams))
	for i, key := range r.streams {
		found[i] = pipe.XAutoClaim(context.Background(), &goredis.XAutoClaimArgs{
			Stream: key, Group: r.group, Consumer: r.name,
			MinIdle: after, Start: r.cursors[i], Count: r.count,
		})
	}
	if err := r.execute(pipe); err != nil {
		return err
	}
	for i, one := range found {
		var entries []goredis.XMessage
		entries, r.cursors[i] = one.Val()
		r.handle(int32(i), entries)
	}
	return nil
}

// Close stops reading, and waits within ctx until the entries that were read are handled and
// acknowledged. If ctx ends first, the rest goes to other consumers after claim_after.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		return errors.Join(r.End(ctx), r.client.Close())
	})
}
