package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the consumers' prepared statements.
const (
	stBegin  = "begin"
	stCommit = "commit"
	stTake   = "take"
)

// source is the queue or log from which a consumer takes messages.
type source interface {
	// statements returns the source's statements, by name.
	statements() map[string]string
	// take acknowledges the handled messages and takes the next ones into the batch, in one round
	// trip. empty reports that there are no messages for this consumer now.
	take() (empty bool, err error)
	// secure makes sure that the taken messages are never redelivered: at most once.
	secure() error
	// handled notes that the batch was handled.
	handled()
	// rest acknowledges the handled messages and releases everything.
	rest() error
	// lost forgets the taken messages: the connection is lost.
	lost()
}

// consumer takes messages over its own connection, which one goroutine uses until it ends.
type consumer struct {
	driver.Receiver
	of      *cluster
	link    *link
	source  source
	batch   *batch
	closing driver.Closing

	connecting context.Context // ends when the consumer has no time for another connection
	abort      context.CancelFunc
}

// OpenConsumer creates the subscription, unless it exists, and takes messages.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, error,
) {
	t, err := c.open(ctx, o.Topic)
	if err != nil {
		return nil, err
	}
	r := &consumer{Receiver: driver.Receiver{Options: o}, of: c, link: c.link(nil),
		batch: &batch{}}
	if c.Text(setShape) == shapeLog {
		r.source, err = c.newLog(ctx, t, o, r.link, r.batch)
	} else {
		r.source, err = c.newQueue(ctx, t, o, r.link, r.batch)
	}
	if err != nil {
		return nil, err
	}
	// The planner has no statistics of a new table, and would read and sort all of it for a few
	// rows. All statements of a consumer have an index.
	r.link.parameters = map[string]string{"enable_seqscan": "off", "enable_bitmapscan": "off",
		"synchronous_commit": synchronousCommit(c.level)}
	if c.Text(setAcknowledge) == ackOff {
		r.link.parameters["synchronous_commit"] = "off"
	}
	r.link.statements = map[string]string{stBegin: "BEGIN", stCommit: "COMMIT"}
	maps.Copy(r.link.statements, r.source.statements())
	if c.Text(setWake) == wakeNotify {
		r.link.channel = t.name
	}
	if err := r.link.open(ctx); err != nil {
		return nil, c.explain(err)
	}
	r.connecting, r.abort = context.WithCancel(context.Background())
	r.Begin(r.run)
	return r, c.clients.Keep(ctx, r)
}

func (c *cluster) isLog() bool { return c.Text(setShape) == shapeLog }

// OpenReplay sets the subscription's positions to the start of the log.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, string, error,
) {
	if !c.isLog() {
		return nil, "", &system.NotSupported{Condition: setShape + ": " + shapeLog,
			Reason: "a queue's rows are deleted when they have been handled"}
	}
	err := c.change(ctx, "set the positions", table{name: o.Topic.Name}.named(
		"UPDATE READERS SET tx = '0', id = 0 WHERE name = "+literal(o.Subscription)))
	if err != nil {
		return nil, "", err
	}
	r, err := c.OpenConsumer(ctx, o)
	return r, setShape + ": " + shapeLog, err
}

// run takes messages until the consumer closes or cannot go on.
func (r *consumer) run() {
	defer r.link.drop()
	for r.Life.Err() == nil {
		err := r.round()
		switch {
		case err == nil:
		case !passing(err):
			r.Fail(r.of.explain(err))
			return
		default:
			r.link.drop() // the server gives the held messages to others
			r.source.lost()
			clock.Sleep(r.Life, driver.RetryPause)
		}
	}
	_ = r.source.rest() // messages that can no longer be acknowledged go to others
}

// round takes messages once and handles them, or waits if there are none.
func (r *consumer) round() error {
	empty, err := false, r.link.ready(r.connecting)
	if err == nil {
		empty, err = r.source.take()
	}
	if err == nil && len(r.batch.all) > 0 && r.Options.Delivery == workload.AtMostOnce {
		err = r.source.secure()
	}
	if err != nil {
		return err
	}
	for _, m := range r.batch.all {
		if !r.Handle(r.batch.received(m)) {
			return errors.New("the consumer has no more time")
		}
	}
	if len(r.batch.all) > 0 {
		r.source.handled()
	}
	if empty {
		return r.idle()
	}
	return nil
}

// idle waits for a notification or for poll_interval.
func (r *consumer) idle() error {
	if r.link.channel == "" {
		clock.Sleep(r.Life, r.of.Duration(setPoll))
		return nil
	}
	if r.link.woken {
		r.link.woken = false
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Life, r.of.Duration(setPoll))
	defer cancel()
	err := r.link.awaitNotification(ctx)
	r.link.woken = false
	if err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// Close stops taking messages, and waits within ctx until the taken ones are handled and
// acknowledged. If ctx ends first, the connection ends, and the taken messages go to other
// consumers.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		err := r.End(ctx)
		r.abort()
		if err != nil {
			r.link.sever() // the server rolls back the rows of messages still being handled
		}
		return err
	})
}

// batch holds the taken messages, in reused memory.
type batch struct {
	bytes []byte
	all   []taken
}

// taken holds a message's position in the bytes. Without a key, keyEnd is before keyStart.
type taken struct {
	part                  int32
	keyStart, keyEnd, end int
}

// The columns of a taken row; a log has more.
const (
	colPart = iota
	colKey
	colPayload
	colTx
	colID
)

// add copies a row in binary form.
func (b *batch) add(row [][]byte) {
	m := taken{part: int32(binary.BigEndian.Uint32(row[colPart])), keyStart: len(b.bytes)}
	b.bytes = append(b.bytes, row[colKey]...)
	m.keyEnd = len(b.bytes)
	if row[colKey] == nil {
		m.keyStart++
	}
	b.bytes = append(b.bytes, row[colPayload]...)
	m.end = len(b.bytes)
	b.all = append(b.all, m)
}

// received returns a message for Receive.
func (b *batch) received(m taken) system.Received {
	got := system.Received{Partition: m.part, Payload: b.bytes[m.keyEnd:m.end:m.end]}
	if m.keyStart <= m.keyEnd {
		got.Key = b.bytes[m.keyStart:m.keyEnd:m.keyEnd]
	}
	return got
}

func (b *batch) clear() { b.bytes, b.all = b.bytes[:0], b.all[:0] }

// exchange is a round trip of prepared statements. Each transaction has a slot for its rows.
type exchange struct {
	pipe *pgconn.Pipeline
	read []func(row [][]byte) // by transaction; nil: no rows are expected
}

// binaryRows asks for rows in binary form.
var binaryRows = []int16{1}

func (l *link) exchange() *exchange { return &exchange{pipe: l.begin()} }

// add adds statements and a synchronization, so that the statements before BEGIN form a
// transaction. read, which may be nil, is called with each row.
func (x *exchange) add(read func(row [][]byte), name string, values ...[]byte) {
	x.pipe.SendQueryPrepared(name, values, nil, binaryRows)
	x.pipe.SendPipelineSync()
	x.read = append(x.read, read)
}

// do sends everything and reads the answers. Its error is the first.
func (x *exchange) do() error {
	err := x.pipe.Flush()
	for i := 0; err == nil && i < len(x.read); {
		var got any
		if got, err = x.pipe.GetResults(); err != nil {
			break
		}
		switch one := got.(type) {
		case *pgconn.ResultReader:
			for x.read[i] != nil && one.NextRow() {
				x.read[i](one.Values())
			}
			_, err = one.Close()
		case *pgconn.PipelineSync:
			i++
		default:
			err = errors.New("the primary's answers ended too early")
		}
	}
	if closed := x.pipe.Close(); err == nil {
		err = closed
	}
	return err
}
