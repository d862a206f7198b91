package postgres

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// Names of the producers' prepared statements.
const (
	stInsert = "insert"
	stNotify = "notify"
)

// maxInsert bounds the payload bytes of one INSERT. A batch of large messages becomes several
// INSERTs.
const maxInsert = 8 << 20

// producer sends to one topic over its own connection: one INSERT of many rows after another, each
// in its own transaction.
type producer struct {
	*driver.Batches[struct{}]
	of      *cluster
	link    *link
	notify  bool
	closing driver.Closing
	rows    rows
	values  [][]byte
	under   []*driver.Batched[struct{}] // messages of the running INSERT
}

// insert returns the statement of a shape. The arrays are unnested in parallel while the rows are
// written, without a copy, so their order is the order of the ids.
func (t table) insert() string {
	if t.shape == shapeLog {
		return t.named(`INSERT INTO MESSAGES (part, key, payload)
		 SELECT unnest($1::int[]), unnest($2::bytea[]), unnest($3::bytea[])`)
	}
	return t.named(`INSERT INTO MESSAGES (subscription, part, key, payload)
	 SELECT id, unnest($1::int[]), unnest($2::bytea[]), unnest($3::bytea[]) FROM READERS`)
}

// notification returns a separate transaction for after the commit that it announces. Within the
// commit it would hold a lock of the whole database while the commit waits for standbys, so that
// no two producers could commit at once.
func notification(topic string) string {
	return "SELECT set_config('synchronous_commit', 'off', true), pg_notify(" + literal(topic) +
		", '')"
}

// OpenProducer opens a producer with its own connection.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (
	system.Producer, error,
) {
	t, err := c.open(ctx, o.Topic)
	if err != nil {
		return nil, err
	}
	statements := map[string]string{stInsert: t.insert()}
	p := &producer{of: c, notify: c.Text(setWake) == wakeNotify, values: make([][]byte, 3)}
	if p.notify {
		statements[stNotify] = notification(t.name)
	}
	p.link = c.link(statements)
	if err := p.link.open(ctx); err != nil {
		return nil, c.explain(err)
	}
	p.Batches = driver.NewBatches(driver.Batching[struct{}]{
		InFlight: o.InFlight, Most: int(c.Count(setBatch)), Linger: c.Duration(setLinger),
		Answered:   o.Answered,
		Partitions: o.Topic.Partitions, Deliver: p.deliver,
		Create: func(*struct{}) {}, Fill: func(*driver.Batched[struct{}]) {},
		Abort: func() error {
			p.link.sever()
			return nil
		},
	})
	return p, c.clients.Keep(ctx, p)
}

// deliver inserts a batch, in parts if its messages are large, and reports the outcome of each
// message.
func (p *producer) deliver(life context.Context, batch []*driver.Batched[struct{}]) {
	for len(batch) > 0 {
		n := p.rows.fill(batch)
		p.under = batch[:n]
		p.end(p.insertKept(life, p.under))
		batch = batch[n:]
	}
}

// end ends the messages of the running INSERT, once.
func (p *producer) end(err error) {
	p.EndAll(p.under, err)
	p.under = nil
}

// insertKept inserts, and retries for delivery_timeout if nothing reached the primary.
func (p *producer) insertKept(life context.Context, batch []*driver.Batched[struct{}]) error {
	var err error
	driver.Resend(life, p.of.Duration(setDelivery), func() bool {
		err = p.insert(life, batch)
		return unsent(err) && passing(err)
	})
	if err != nil && life.Err() != nil && !unsent(err) && state(err) == "" {
		return driver.ErrUnanswered
	}
	return p.of.outcome(err)
}

// insert inserts once, waits for the commit and ends the messages. The notification follows in the
// same round trip. The next batch waits for it, but no message's result does.
func (p *producer) insert(life context.Context, batch []*driver.Batched[struct{}]) error {
	if err := p.link.ready(life); err != nil {
		return err
	}
	p.link.warning = nil
	pipe := p.link.begin()
	pipe.SendQueryPrepared(stInsert, p.rows.values(p.values), binaryFormat, nil)
	pipe.SendPipelineSync()
	if p.notify {
		pipe.SendQueryPrepared(stNotify, nil, nil, nil)
		pipe.SendPipelineSync()
	}
	err := pipe.Flush()
	if err == nil {
		err = committed(pipe)
	}
	if err == nil {
		err = p.of.unreplicated(p.link)
	}
	if err == nil {
		p.end(nil)
	}
	_ = pipe.Close() // only the notification's answer is left
	return err
}

var binaryFormat = []int16{1, 1, 1}

// committed reads the answers up to the end of a transaction.
func committed(pipe *pgconn.Pipeline) error {
	for {
		got, err := pipe.GetResults()
		if err != nil {
			return err
		}
		switch one := got.(type) {
		case *pgconn.ResultReader:
			if _, err := one.Close(); err != nil {
				return err
			}
		case *pgconn.PipelineSync:
			return nil
		default:
			return errors.New("the primary's answers ended before the commit's")
		}
	}
}

// Close waits within ctx for the outstanding answers.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error {
		err := p.Batches.Close(ctx)
		p.link.drop()
		return err
	})
}

// rows holds the three arrays of an INSERT in PostgreSQL's binary format, in reused memory.
type rows struct{ parts, keys, payloads array }

// array is an array of one dimension in binary form.
type array []byte

// Types (OID) of the arrays' elements.
const (
	oidInt4  = 23
	oidBytea = 17
)

// arrayHead is the length of an array's head, and countAt the offset of its count.
const (
	arrayHead = 20
	countAt   = 12
)

// begin empties the array. Its head says: one dimension, NULL allowed, the elements' type, their
// number, the first index 1.
func (a *array) begin(oid uint32) {
	b := (*a)[:0]
	for _, word := range [...]uint32{1, 1, oid, 0, 1} {
		b = binary.BigEndian.AppendUint32(b, word)
	}
	*a = b
}

// add appends an element; nil is NULL.
func (a *array) add(value []byte) {
	if value == nil {
		*a = binary.BigEndian.AppendUint32(*a, 0xffffffff)
		return
	}
	*a = append(binary.BigEndian.AppendUint32(*a, uint32(len(value))), value...)
}

// fill takes messages up to maxInsert, at least one, and returns their number.
func (r *rows) fill(batch []*driver.Batched[struct{}]) int {
	r.parts.begin(oidInt4)
	r.keys.begin(oidBytea)
	r.payloads.begin(oidBytea)
	n := 0
	for _, one := range batch {
		m := one.Message
		if n > 0 && len(r.payloads)+len(r.keys)+len(m.Payload) > maxInsert {
			break
		}
		r.parts = binary.BigEndian.AppendUint32(r.parts, 4)
		r.parts = binary.BigEndian.AppendUint32(r.parts, uint32(m.Partition))
		r.keys.add(m.Key)
		r.payloads = binary.BigEndian.AppendUint32(r.payloads, uint32(len(m.Payload)))
		r.payloads = append(r.payloads, m.Payload...)
		n++
	}
	for _, a := range []array{r.parts, r.keys, r.payloads} {
		binary.BigEndian.PutUint32(a[countAt:], uint32(n))
	}
	return n
}

// values returns the statement's parameters.
func (r *rows) values(into [][]byte) [][]byte {
	into[0], into[1], into[2] = r.parts, r.keys, r.payloads
	return into
}
