package nats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// Headers of an atomic batch.
const (
	headerBatch    = "Nats-Batch-Id"
	headerSequence = "Nats-Batch-Sequence"
	headerCommit   = "Nats-Batch-Commit"
)

const (
	// maxBatch is the greatest number of messages that a server takes in a batch unless its
	// configuration says otherwise.
	maxBatch = 1000
	// maxBatchBytes bounds what a server keeps aside until a batch has its end.
	maxBatchBytes = 8 << 20
	// batchHeaders is the room for the headers of a message, which count as its payload does.
	batchHeaders = 256
)

// errUnended is the error of a batch whose last message was not sent: servers drop such a batch.
var errUnended = errors.New(
	"the batch was given up before its last message was sent, so nothing of it is stored")

// batching publishes to one stream in atomic batches, one after another: the servers store all
// messages of a batch or none, and answer once.
type batching struct {
	*driver.Batches[nats.Msg]
	link    *link
	clients *driver.Clients
	closing driver.Closing

	mu   sync.Mutex
	fail context.CancelCauseFunc // of the batch that is being published

	// partly is set for streams with one replica, which store a batch message by message: a part of
	// a refused batch may be stored.
	partly bool
}

func newBatching(k *link, of *cluster, subjects []string, o system.ProducerOptions) *batching {
	b := &batching{link: k, clients: &of.clients, fail: func(error) {},
		partly: !of.level.Majority()}
	timeout := of.Duration(setAckTimeout)
	b.Batches = driver.NewBatches(driver.Batching[nats.Msg]{
		InFlight: o.InFlight, Most: max(1, min(maxBatch, maxBatchBytes/max(o.MessageMax, 1))),
		Linger: of.Duration(setLinger), Answered: o.Answered, Partitions: len(subjects),
		Create: func(own *nats.Msg) {
			own.Header = nats.Header{headerBatch: {""}, headerSequence: {""}}
		},
		Fill: func(one *driver.Batched[nats.Msg]) {
			one.Own.Subject, one.Own.Data = subjects[one.Message.Partition], one.Message.Payload
		},
		Deliver: func(life context.Context, batch []*driver.Batched[nats.Msg]) {
			ctx, cancel := context.WithTimeoutCause(life, timeout, errTimedOut)
			defer cancel()
			b.EndAll(batch, b.publish(ctx, batch))
		},
	})
	k.join(b)
	return b
}

// publish sends a batch and waits for its answer.
func (b *batching) publish(ctx context.Context, batch []*driver.Batched[nats.Msg]) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	b.mu.Lock()
	b.fail = fail
	b.mu.Unlock()
	id, last := nuid.Next(), len(batch)-1
	for i, one := range batch {
		m := &one.Own
		m.Header[headerBatch][0], m.Header[headerSequence][0] = id, strconv.Itoa(i+1)
		delete(m.Header, headerCommit)
		if i == last {
			break
		}
		if err := b.link.conn.PublishMsg(m); err != nil {
			return fmt.Errorf("%w: %w", errUnended, err)
		}
	}
	if ctx.Err() != nil {
		return errUnended
	}
	end := &batch[last].Own
	end.Header[headerCommit] = []string{"1"}
	reply, err := b.link.conn.RequestMsgWithContext(ctx, end)
	switch cause := context.Cause(ctx); {
	case err == nil:
		err = readBatchAck(reply, id)
		if b.partly && last > 0 && err != nil && !errors.Is(err, system.ErrUnknown) {
			err = fmt.Errorf("%w: %w", err, system.ErrUnknown)
		}
		return err
	case errors.Is(err, nats.ErrNoResponders):
		return errNoStream
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrReconnectBufExceeded):
		return fmt.Errorf("publish: %w", err) // nothing was sent
	case errors.Is(cause, context.Canceled): // the producer is being closed
		return driver.ErrUnanswered
	case cause != nil:
		return cause
	}
	return fmt.Errorf("publish: %w: %w", err, system.ErrUnknown)
}

// readBatchAck reports whether the servers took a batch as one. A server before 2.12 ignores the
// headers, and acknowledges the last message alone.
func readBatchAck(reply *nats.Msg, id string) error {
	if err := readPubAck(reply); err != nil {
		return err
	}
	if !bytes.Contains(reply.Data, []byte(id)) {
		return fmt.Errorf("the server acknowledged a message and not its batch: servers before "+
			"2.12 have no batches, so set %s: 0s: %w", setLinger, system.ErrUnknown)
	}
	return nil
}

func (b *batching) disconnected() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail(errDisconnected)
}

func (b *batching) reconnected() {}
func (b *batching) closed()      { b.disconnected() }
func (b *batching) tick()        {}

// Close waits within ctx for outstanding answers, and ends the remaining messages with an error.
// It is idempotent and safe to call while Send runs.
func (b *batching) Close(ctx context.Context) error {
	return b.closing.Once(b.clients, b, func() error {
		err := b.Batches.Close(ctx)
		b.link.leave(b)
		return err
	})
}
