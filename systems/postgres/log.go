package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system"
)

// log reads one partition after another, each from the subscription's position.
//
// A position is a pair: the transaction that wrote a row (tx) and the row's number (id). An id
// alone is not enough. It is assigned when a row is written, but rows become visible when their
// transactions commit, in another order: a reader at id 7 would skip a row 6 that commits later.
// So a reader takes only rows of transactions below pg_snapshot_xmin, the oldest open transaction.
// All transactions below it have ended, so their rows are visible now or never. In the order of
// (tx, id), no row can appear below a position.
//
// The cost: a transaction that stays open anywhere on the server, even a prepared one, holds back
// all readers. The alternative is to assign positions under a lock of the partition that is held
// until the commit. Then producers of a partition commit one at a time, each waiting for the disk
// and the standbys.
//
// An advisory lock of the connection gives a partition to one consumer of a subscription at a
// time. A row lock would work too, but it needs a transaction, which would hold back all readers
// while the messages are handled.
type log struct {
	link         *link
	batch        *batch
	table        table
	subscription []byte
	lock         []byte // the first key of the advisory locks; the second is the partition
	most         []byte // rows of one take

	next    int    // the partition to take from next
	idle    int    // consecutive partitions without messages
	held    []byte // the partition that is locked, as text; nil: none
	tx, id  []byte // of the last row taken, as text
	pending bool   // the row was handled, and the position is not yet written
}

const (
	stPosition = "position"
	stLock     = "lock"
	stUnlock   = "unlock"
)

func (c *cluster) newLog(ctx context.Context, t table, o system.ConsumerOptions, l *link,
	b *batch,
) (*log, error) {
	err := c.change(ctx, "create the subscription", t.named(fmt.Sprintf(
		`INSERT INTO READERS SELECT %s, part, '0', 0 FROM generate_series(0, %d) AS part
		 ON CONFLICT DO NOTHING`, literal(o.Subscription), t.partitions-1)))
	if err != nil {
		return nil, err
	}
	key := fnv.New32a()
	_, _ = key.Write([]byte(t.name + "\x00" + o.Subscription)) // it cannot fail
	return &log{link: l, batch: b, table: t, subscription: []byte(o.Subscription),
		lock: strconv.AppendInt(nil, int64(int32(key.Sum32())), 10),
		most: strconv.AppendInt(nil, c.Count(setFetch), 10), next: o.Index % t.partitions}, nil
}

func (g *log) statements() map[string]string {
	return map[string]string{
		stTake: g.table.named(`SELECT m.part, m.key, m.payload, m.tx, m.id
		 FROM READERS r, MESSAGES m WHERE r.name = $1 AND r.part = $2::int AND m.part = $2::int
		 AND (m.tx, m.id) > (r.tx, r.id) AND m.tx < pg_snapshot_xmin(pg_current_snapshot())
		 AND current_setting('plimsoll.held') = 'true' ORDER BY m.tx, m.id LIMIT $3::bigint`),
		stPosition: g.table.named(`UPDATE READERS SET tx = $3::text::xid8, id = $4::bigint
		 WHERE name = $1 AND part = $2::int`),
		stLock: `SELECT set_config('plimsoll.held',
		 pg_try_advisory_lock($1::int, $2::int)::text, false)`,
		stUnlock: `SELECT pg_advisory_unlock($1::int, $2::int)`,
	}
}

// take writes the position, releases the partition, and reads the next one. The lock and the read
// are two transactions, because the read must see the position that the lock's last holder wrote.
// Both are sent together: a session setting tells the read whether the lock was obtained; if not,
// the server reads no row.
func (g *log) take() (empty bool, err error) {
	g.batch.clear()
	x := g.link.exchange()
	g.release(x)
	part := strconv.AppendInt(nil, int64(g.next), 10)
	g.next = (g.next + 1) % g.table.partitions
	locked := false
	x.add(func(row [][]byte) { locked = string(row[0]) == "true" }, stLock, g.lock, part)
	x.add(func(row [][]byte) {
		g.batch.add(row)
		g.tx = strconv.AppendUint(g.tx[:0], binary.BigEndian.Uint64(row[colTx]), 10)
		g.id = strconv.AppendInt(g.id[:0], int64(binary.BigEndian.Uint64(row[colID])), 10)
	}, stTake, g.subscription, part, g.most)
	if err := x.do(); err != nil {
		return false, err
	}
	if locked {
		g.held = part
	}
	if g.idle++; len(g.batch.all) > 0 {
		g.idle = 0
	}
	if g.idle < g.table.partitions {
		return false, nil
	}
	g.idle = 0
	return true, g.rest()
}

// release adds the statements that write the position and release the partition.
func (g *log) release(x *exchange) {
	if g.pending {
		x.add(nil, stPosition, g.subscription, g.held, g.tx, g.id)
	}
	if g.held != nil {
		x.add(nil, stUnlock, g.lock, g.held)
	}
	g.pending, g.held = false, nil
}

func (g *log) secure() error {
	x := g.link.exchange()
	x.add(nil, stPosition, g.subscription, g.held, g.tx, g.id)
	return x.do()
}

func (g *log) handled() { g.pending = true }

func (g *log) rest() error {
	if g.held == nil {
		return nil
	}
	x := g.link.exchange()
	g.release(x)
	return x.do()
}

func (g *log) lost() {
	g.pending, g.held, g.idle = false, nil, 0
	g.batch.clear()
}
