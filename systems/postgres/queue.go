package postgres

import (
	"context"
	"fmt"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system"
)

// queue takes and deletes the oldest rows of a subscription that no other transaction holds. The
// transaction stays open while they are handled: its COMMIT acknowledges them, and the loss of the
// connection returns them.
//
// The alternative is a lease: a row is marked as taken until a time, and deleted later. A lease
// makes two dead rows for each message instead of one, needs a time-out that also takes messages
// from slow consumers, and returns a dead consumer's messages only after the time-out. The cost of
// the open transaction: while messages are handled, VACUUM cannot remove rows that died after it
// began.
type queue struct {
	link  *link
	batch *batch
	table table
	id    []byte // of the subscription
	most  []byte // rows of one take
	open  bool   // whether a transaction is open
}

// subscribe returns statements that give the first subscription the topic's initial row of
// readers, and each further subscription a new row.
func subscribe(t table, name string) string {
	n := literal(name)
	return t.named(`UPDATE READERS SET name = ` + n + ` WHERE name IS NULL
	 AND NOT EXISTS (SELECT FROM READERS WHERE name = ` + n + `);
	INSERT INTO READERS (name) SELECT ` + n + ` WHERE NOT EXISTS
	 (SELECT FROM READERS WHERE name = ` + n + `) ON CONFLICT DO NOTHING`)
}

func (c *cluster) newQueue(ctx context.Context, t table, o system.ConsumerOptions, l *link,
	b *batch,
) (*queue, error) {
	if err := c.change(ctx, "create the subscription", subscribe(t, o.Subscription)); err != nil {
		return nil, err
	}
	rows, err := c.ask(ctx, t.named("SELECT id::text FROM READERS WHERE name = $1"), o.Subscription)
	if err != nil || len(rows) != 1 {
		return nil, fmt.Errorf("subscription %s was not created: %w", o.Subscription, err)
	}
	most := strconv.FormatInt(c.Count(setFetch), 10)
	return &queue{link: l, batch: b, table: t, id: []byte(rows[0][0]), most: []byte(most)}, nil
}

func (q *queue) statements() map[string]string {
	return map[string]string{stTake: q.table.named(`WITH taken AS (
	 DELETE FROM MESSAGES WHERE subscription = $1::int AND id = ANY(ARRAY(
	  SELECT id FROM MESSAGES WHERE subscription = $1::int ORDER BY id
	  LIMIT $2::bigint FOR UPDATE SKIP LOCKED))
	 RETURNING part, key, payload, id)
	SELECT part, key, payload FROM taken ORDER BY id`)}
}

func (q *queue) take() (empty bool, err error) {
	q.batch.clear()
	x := q.link.exchange()
	if q.open {
		x.add(nil, stCommit)
	}
	x.add(nil, stBegin)
	x.add(q.batch.add, stTake, q.id, q.most)
	q.open = true
	if err := x.do(); err != nil || len(q.batch.all) > 0 {
		return false, err
	}
	return true, q.secure() // no transaction is open while there is nothing to do
}

func (q *queue) secure() error { return q.rest() }

// handled does nothing: the next COMMIT acknowledges.
func (q *queue) handled() {}

func (q *queue) rest() error {
	if !q.open {
		return nil
	}
	q.open = false
	x := q.link.exchange()
	x.add(nil, stCommit)
	return x.do()
}

func (q *queue) lost() {
	q.open = false
	q.batch.clear()
}
