package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// Fields of an entry.
const (
	fieldPayload = "p"
	fieldKey     = "k"
)

// producer sends to one topic over its own connection: one pipeline of XADDs after another, each
// ended by one WAIT if the level requires it.
type producer struct {
	*driver.Batches[entry]
	of      *cluster
	client  *goredis.Client
	closing driver.Closing
}

// entry is the driver's part of a message in flight: its commands, kept so that only the library
// allocates.
type entry struct {
	payload, key bulk
	arguments    [2][]any // without and with a key
	commands     [2]*goredis.StringCmd
	command      *goredis.StringCmd // the command in flight
}

// bulk is a byte slice that a command takes without an allocation.
type bulk []byte

// MarshalBinary gives the library the bytes.
func (b *bulk) MarshalBinary() ([]byte, error) { return *b, nil }

// streamArgument is the index of the stream's key among the arguments.
const streamArgument = 1

func (c *cluster) createEntry(one *entry) {
	arguments := []any{"xadd", "", "nomkstream"}
	if n := c.Count(setMaxLen); n > 0 {
		arguments = append(arguments, "maxlen", "~", n)
	}
	arguments = append(arguments, "*", fieldPayload, &one.payload)
	keyed := append(slices.Clone(arguments), fieldKey, &one.key)
	one.arguments = [2][]any{arguments, keyed}
	for i, a := range one.arguments {
		one.commands[i] = goredis.NewStringCmd(context.Background(), a...)
	}
}

// OpenProducer opens a producer with its own connection.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (
	system.Producer, error,
) {
	within := c.Duration(setRequest) + c.Duration(setWaitTimeout)
	p := &producer{of: c, client: c.dial(c.primary, within)}
	if err := p.client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(c.explain(err), p.client.Close())
	}
	var keys []any // as commands take them
	for _, key := range streams(o.Topic) {
		keys = append(keys, key)
	}
	p.Batches = driver.NewBatches(driver.Batching[entry]{
		InFlight: o.InFlight, Most: int(c.Count(setPipeline)), Linger: c.Duration(setLinger),
		Answered:   o.Answered,
		Partitions: o.Topic.Partitions, Create: c.createEntry, Deliver: p.deliver,
		Abort: p.client.Close,
		Fill: func(one *driver.Batched[entry]) {
			m, own, kind := one.Message, &one.Own, 0
			if m.Key != nil {
				kind = 1
			}
			own.payload, own.key, own.command = m.Payload, m.Key, own.commands[kind]
			own.arguments[kind][streamArgument] = keys[m.Partition]
		},
	})
	return p, c.clients.Keep(ctx, p)
}

// deliver sends a pipeline and reports the outcome of each message. If nothing of a pipeline
// reached the primary, deliver sends it again.
func (p *producer) deliver(life context.Context, batch []*driver.Batched[entry]) {
	ctx := context.Background()
	wait := p.of.wait(ctx)
	driver.Resend(life, p.of.Duration(setDelivery), func() bool {
		pipe := p.client.Pipeline()
		for _, one := range batch {
			_ = pipe.Process(ctx, one.Own.command) // only adds to the pipeline
		}
		if wait != nil {
			_ = pipe.Process(ctx, wait)
		}
		execute(ctx, pipe)
		return unsent(batch)
	})
	waited := p.of.waited(wait)
	for _, one := range batch {
		err := p.outcome(life, one.Own.command.Err())
		if err == nil {
			err = waited
		}
		p.End(one, err)
	}
}

// errUnread is the error of a command without an answer.
var errUnread = fmt.Errorf("the server did not answer: %w", system.ErrUnknown)

// execute gives every command of a failed pipeline an error. When a new connection's login is
// refused, the library leaves the commands without an error, as if they had succeeded.
func execute(ctx context.Context, pipe goredis.Pipeliner) {
	commands := pipe.Cmds()
	for _, one := range commands {
		one.SetErr(errUnread)
	}
	_, err := pipe.Exec(ctx)
	for _, one := range commands {
		if err != nil && errors.Is(one.Err(), errUnread) {
			one.SetErr(err)
		}
	}
}

// unsent reports whether the primary has none of the messages: there was no connection, or it is
// still loading its data.
func unsent(batch []*driver.Batched[entry]) bool {
	for _, one := range batch {
		err := one.Own.command.Err()
		if !errors.Is(err, errNotConnected) && !goredis.IsLoadingError(err) {
			return false
		}
	}
	return true
}

// outcome classifies the error of an XADD: the server's error is a refusal; without an answer the
// entry may have been stored.
func (p *producer) outcome(life context.Context, err error) error {
	var refusal goredis.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, goredis.Nil):
		return errors.New("the stream does not exist: the topic was deleted")
	case errors.Is(err, errNotConnected), errors.As(err, &refusal):
		return p.of.explain(err)
	case life.Err() != nil:
		return driver.ErrUnanswered
	}
	return fmt.Errorf("%w: %w", err, system.ErrUnknown)
}

// Close waits within ctx for the outstanding answers.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error {
		return p.Batches.Close(ctx)
	})
}

// wait returns the command that ends a pipeline; nil: the level waits for no replica.
func (c *cluster) wait(ctx context.Context) *goredis.IntCmd {
	n := c.replicasAwaited()
	if n == 0 {
		return nil
	}
	return goredis.NewIntCmd(ctx, "wait", n, c.Duration(setWaitTimeout).Milliseconds())
}

// waited returns the result of the writes before a WAIT.
func (c *cluster) waited(wait *goredis.IntCmd) error {
	if wait == nil {
		return nil
	}
	n, err := wait.Result()
	if err == nil && n < int64(c.replicasAwaited()) {
		err = fmt.Errorf("WAIT ended after %s (%s) with %d of %d replicas",
			c.Text(setWaitTimeout), setWaitTimeout, n, c.replicasAwaited())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", err, system.ErrUnknown)
	}
	return nil
}
