package eventstore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/kurrent-io/KurrentDB-Client-Go/kurrentdb"
	"google.golang.org/grpc/codes"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// eventType is the type of the events that plimsoll appends.
const eventType = "plimsoll"

// producer sends to one topic over several connections. Partition p belongs to connection p
// modulo their number.
type producer struct {
	of          *cluster
	connections []*appender
	closing     driver.Closing
}

// appender sends over one connection, one append after another.
type appender struct {
	*driver.Batches[event]
	of      *cluster
	link    *link
	streams []string // by partition
	bytes   int64    // largest append of several events
	ids     ids
	events  []kurrentdb.EventData // of the append under way
}

// event is the driver's part of a message in flight.
type event struct{ id uuid.UUID }

// ids makes event ids: a random number and a count, in the form of UUIDs of version 8.
type ids struct {
	random uuid.UUID
	count  uint64
}

func newIDs() (made ids) {
	_, _ = rand.Read(made.random[:8]) // never fails: it ends the program instead
	return made
}

// next is called with the lock of the messages' queue held.
func (i *ids) next() uuid.UUID {
	i.count++
	id := i.random
	binary.BigEndian.PutUint64(id[8:], i.count)
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// OpenProducer opens a producer with connections of its own. The first connection is opened at
// once, the others on first use.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (
	system.Producer, error,
) {
	streams, err := c.streams(ctx, o.Topic)
	if err != nil {
		return nil, err
	}
	p := &producer{of: c, connections: make([]*appender,
		max(1, min(o.Topic.Partitions, int(c.Count(setConnections)))))}
	for i := range p.connections {
		p.connections[i] = c.newAppender(o, streams)
	}
	err = p.connections[0].link.call(ctx,
		func(context.Context, *kurrentdb.Client) error { return nil })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a producer: %w", err), p.Close(ctx))
	}
	return p, c.clients.Keep(ctx, p)
}

func (c *cluster) newAppender(o system.ProducerOptions, streams []string) *appender {
	a := &appender{of: c, link: c.newLink(), streams: streams, bytes: c.Bytes(setAppendBytes),
		ids: newIDs()}
	a.Batches = driver.NewBatches(driver.Batching[event]{
		InFlight: o.InFlight, Most: int(c.Count(setAppendMax)), Linger: c.Duration(setLinger),
		Partitions: o.Topic.Partitions, Create: func(*event) {}, Deliver: a.deliver,
		Fill: func(one *driver.Batched[event]) { one.Own.id = a.ids.next() },
	})
	return a
}

// Send hands the message to the connection of its partition.
func (p *producer) Send(m *system.Message) {
	i := 0 // for partitions that do not exist, which it refuses
	if m.Partition >= 0 {
		i = int(m.Partition) % len(p.connections)
	}
	p.connections[i].Send(m)
}

// Close waits within ctx for the outstanding answers.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error {
		errs := []error{driver.CloseAll(ctx, p.connections)}
		for _, a := range p.connections {
			errs = append(errs, a.link.close())
		}
		return errors.Join(errs...)
	})
}

// deliver appends the messages of each partition, within the bound of an append.
func (a *appender) deliver(life context.Context, batch []*driver.Batched[event]) {
	partition := func(i int) int32 { return batch[i].Message.Partition }
	slices.SortStableFunc(batch, func(x, y *driver.Batched[event]) int {
		return int(x.Message.Partition) - int(y.Message.Partition)
	})
	size := func(i int) int64 {
		return int64(len(batch[i].Message.Payload) + len(batch[i].Message.Key))
	}
	for from := 0; from < len(batch); {
		to, bytes := from+1, size(from)
		for to < len(batch) && partition(to) == partition(from) && bytes+size(to) <= a.bytes {
			bytes += size(to)
			to++
		}
		a.EndAll(batch[from:to], a.append(life, batch[from:to]))
		from = to
	}
}

// append returns the outcome of one append of messages to one partition. It repeats, for
// delivery_timeout, an append that no server can have written.
func (a *appender) append(life context.Context, batch []*driver.Batched[event]) error {
	a.events = a.events[:0]
	for _, one := range batch {
		a.events = append(a.events, kurrentdb.EventData{
			EventID: one.Own.id, EventType: eventType, ContentType: kurrentdb.ContentTypeBinary,
			Data: one.Message.Payload, Metadata: one.Message.Key,
		})
	}
	stream := a.streams[batch[0].Message.Partition]
	within := a.of.Duration(setRequest)
	var err error
	driver.Resend(life, a.of.Duration(setDelivery), func() bool {
		err = a.link.call(life, func(ctx context.Context, client *kurrentdb.Client) error {
			_, err := client.AppendToStream(ctx, stream, kurrentdb.AppendToStreamOptions{
				StreamState: kurrentdb.Any{}, Deadline: &within}, a.events...)
			return err
		})
		return unsent(err)
	})
	return a.outcome(life, err)
}

// unsent reports whether no server can have written an append.
func unsent(err error) bool {
	// The library's words for an append that it could not begin, after which it sends nothing.
	const notBegun = "could not construct append operation"
	return err != nil && (errors.Is(err, errNotConnected) ||
		codeOf(err) == kurrentdb.ErrorCodeNotLeader ||
		grpcCode(err) == codes.Unavailable && strings.HasPrefix(err.Error(), notBegun))
}

// outcome classifies an append's error: a refusal, or an unknown outcome.
func (a *appender) outcome(life context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case unsent(err):
		return fmt.Errorf("the append was not sent: %w", a.of.explain(err))
	case refused(err):
		return a.of.explain(err)
	case life.Err() != nil:
		return driver.ErrUnanswered
	}
	return fmt.Errorf("%w: %w", err, system.ErrUnknown)
}

// refused reports whether an error is the servers' answer that an append was not written. Their
// own time-outs, which come as Aborted, are not such an answer.
func refused(err error) bool {
	switch codeOf(err) {
	case kurrentdb.ErrorCodeUnauthenticated, kurrentdb.ErrorCodeAccessDenied,
		kurrentdb.ErrorCodeStreamDeleted, kurrentdb.ErrorCodeStreamTombstoned,
		kurrentdb.ErrorCodeWrongExpectedVersion, kurrentdb.ErrorCodeResourceNotFound,
		kurrentdb.ErrorCodeUnsupportedFeature:
		return true
	}
	switch grpcCode(err) {
	case codes.InvalidArgument, codes.FailedPrecondition:
		return true
	}
	return false
}
