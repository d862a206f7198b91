package rocketmq

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// assignEvery is the longest time between two looks at the group's members.
	assignEvery = time.Second
	// heartbeatEvery is far below the two minutes after which a broker forgets a member.
	heartbeatEvery = 10 * time.Second
	// leaveWithin bounds what a consumer that closes still asks.
	leaveWithin = time.Second
)

// consumer is a member of a consumer group. It has a connection to each broker of the topic, and a
// reader for each of its queues.
type consumer struct {
	driver.Receiver
	of        *cluster
	group, id string
	places    []place
	shares    *driver.Shares[*consumer]
	early     bool // the group's offset moves before a message is handled
	closing   driver.Closing
	handling  sync.Mutex // held around Handle
	wake      driver.Signal
	links     map[string]*link // by broker
	readers   map[int32]*reader
	abandoned atomic.Bool // closed without time: nothing more is committed
}

// OpenConsumer creates the subscription's group, unless it exists, and joins it.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	return c.openConsumer(ctx, o, false)
}

// OpenReplay sets the group's offsets to the start of the queues.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	string, error) {
	r, err := c.openConsumer(ctx, o, true)
	return r, "", err
}

func (c *cluster) openConsumer(ctx context.Context, o system.ConsumerOptions, replay bool) (
	system.Consumer, error) {
	places, err := c.createGroup(ctx, o, replay)
	if err != nil {
		return nil, err
	}
	r := &consumer{Receiver: driver.Receiver{Options: o}, of: c, places: places,
		group: groupName(o.Topic.Name, o.Subscription),
		id:    fmt.Sprintf("%06d@%s", o.Index, rand.Text()[:10]),
		early: o.Delivery == workload.AtMostOnce,
		shares: c.groups.Of(o.Topic, o.Subscription, func() *driver.Shares[*consumer] {
			return driver.NewShares[*consumer](o)
		}),
		wake: driver.NewSignal(), links: make(map[string]*link),
		readers: make(map[int32]*reader)}
	for _, p := range places {
		r.links[p.broker] = &link{of: r, broker: p.broker}
	}
	r.shares.Join(r)
	for _, l := range r.links {
		_, joined := l.connection(ctx)
		err = errors.Join(err, joined)
	}
	r.Begin(r.run)
	if err != nil {
		return nil, errors.Join(c.explain(err), r.Close(ctx))
	}
	return r, c.clients.Keep(ctx, r)
}

// AwaitAssignment waits until the queues are with the subscription's consumers evenly.
func (r *consumer) AwaitAssignment(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return r.shares.AwaitEven(ctx, 20*time.Millisecond)
}

// run follows the group's members until the consumer closes.
func (r *consumer) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for r.Life.Err() == nil {
		if err := r.assign(); final(err) {
			r.Fail(r.of.explain(err))
			break
		}
		timer.Reset(assignEvery)
		select {
		case <-r.wake:
		case <-timer.C:
		case <-r.Life.Done():
		}
	}
	r.Cancel()
	for p := range r.readers {
		r.release(p)
	}
	for _, l := range r.links {
		l.leave()
	}
}

// final reports whether an error is an answer that a retry cannot change.
func final(err error) bool { return says(err, saysNoTopic, saysNoSuchGroup) }

// assign gives each queue that is this member's a reader, and ends the other readers. Each member
// computes the same from the list of members, as the vendor's clients do.
func (r *consumer) assign() error {
	members, err := r.members()
	if err != nil {
		return err
	}
	mine := slices.Index(members, r.id)
	for i := range r.places {
		p := int32(i)
		switch has := r.readers[p] != nil; {
		case mine >= 0 && i%len(members) == mine && !has:
			q := &reader{of: r, link: r.links[r.places[i].broker], partition: p,
				queue: queueFields(r.group, r.Options.Topic.Name, r.places[i].queue),
				ended: make(chan struct{})}
			q.life, q.cancel = context.WithCancel(r.Life)
			r.readers[p] = q
			r.shares.Change(r, true, p)
			go q.run()
		case (mine < 0 || i%len(members) != mine) && has:
			r.release(p)
		}
	}
	return nil
}

// release ends a reader, which commits its offset.
func (r *consumer) release(p int32) {
	q := r.readers[p]
	q.cancel()
	<-q.ended
	delete(r.readers, p)
	r.shares.Change(r, false, p)
}

// members returns the ids of the group's members, sorted, from the first broker that answers.
func (r *consumer) members() (ids []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(r.links)) {
		var k *conn
		if k, err = r.links[name].connection(r.Life); err != nil {
			continue
		}
		var f frame
		f, err = k.ask(r.Life, askMembers, fields{"consumerGroup": r.group}, nil)
		if err != nil {
			continue
		}
		var list struct {
			IDs []string `json:"consumerIdList"`
		}
		if err = json.Unmarshal(f.body, &list); err == nil {
			slices.Sort(list.IDs)
			ids = list.IDs
			break
		}
	}
	for _, l := range r.links {
		l.beat()
	}
	return ids, err
}

// link is a member's connection to a broker's master, which it makes again when it is lost.
type link struct {
	of     *consumer
	broker string
	mu     sync.Mutex
	conn   *conn
	beaten time.Time
}

// connection returns the connection. On a new one the member has told the broker that it is there.
func (l *link) connection(ctx context.Context) (*conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil && l.conn.alive() {
		return l.conn, nil
	}
	at, err := l.of.of.master(ctx, l.broker)
	if err != nil {
		return nil, err
	}
	k, err := l.of.of.dial(ctx, at, l.of.of.options.Credentials, l.of.wake.Give)
	if err != nil {
		return nil, err
	}
	if err := l.of.greet(ctx, k); err != nil {
		return nil, errors.Join(err, k.close())
	}
	l.conn, l.beaten = k, time.Now()
	return k, nil
}

// greet tells a broker that the member is there.
func (r *consumer) greet(ctx context.Context, k *conn) error {
	body, err := json.Marshal(map[string]any{"clientID": r.id, "producerDataSet": []any{},
		"consumerDataSet": []any{map[string]any{
			"groupName": r.group, "consumeType": "CONSUME_PASSIVELY", "messageModel": "CLUSTERING",
			"consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
			"subscriptionDataSet": []any{map[string]any{"topic": r.Options.Topic.Name,
				"subString": "*", "expressionType": "TAG"}},
		}}})
	if err == nil {
		_, err = k.ask(ctx, askHeartbeat, nil, body)
	}
	return err
}

// beat sends a heartbeat, if it is due. A connection that does not carry it is given up.
func (l *link) beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil || time.Since(l.beaten) < heartbeatEvery {
		return
	}
	l.beaten = time.Now()
	if err := l.of.greet(l.of.Life, l.conn); err != nil {
		l.conn.cut()
	}
}

// leave takes the member out of the group.
func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return
	}
	if !l.of.abandoned.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
		defer cancel()
		_, _ = l.conn.ask(ctx, askLeave, fields{"clientID": l.of.id, "consumerGroup": l.of.group},
			nil) // the end of the connection does the same
	}
	_ = l.conn.close() // it never fails
}

// reader receives from one queue.
type reader struct {
	of        *consumer
	link      *link
	partition int32
	queue     fields // that name it
	life      context.Context
	cancel    context.CancelFunc
	ended     chan struct{} // closed when run has ended
	next      int64         // offset of the next message to ask for
	handled   int64         // offset behind the last message that was handled
}

// run receives until the consumer closes or the queue goes to another member.
func (q *reader) run() {
	defer close(q.ended)
	begun := false
	for q.life.Err() == nil {
		k, err := q.link.connection(q.life)
		if err == nil && !begun {
			err = q.begin(k)
			begun = err == nil
		}
		if err == nil {
			err = q.receive(k)
		}
		switch {
		case q.life.Err() != nil:
		case final(err):
			q.of.Fail(q.of.of.explain(err))
			return
		default:
			q.next = q.handled
			clock.Sleep(q.life, driver.RetryPause)
		}
	}
	if begun && !q.of.abandoned.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
		defer cancel()
		if k, err := q.link.connection(ctx); err == nil {
			_ = q.commit(ctx, k) // what is not committed comes again
		}
	}
}

// begin reads the group's offset.
func (q *reader) begin(k *conn) error {
	f, err := k.ask(q.life, askOffset, q.queue, nil)
	if err == nil {
		q.handled, err = strconv.ParseInt(f.Fields["offset"], 10, 64)
	}
	q.next = q.handled
	return err
}

func (q *reader) commit(ctx context.Context, k *conn) error {
	with := maps.Clone(q.queue)
	with["commitOffset"] = strconv.FormatInt(q.handled, 10)
	_, err := k.ask(ctx, askSetOffset, with, nil)
	return err
}

// receive pulls and hands over messages until an error. While it hands over a full answer, the next
// pull is under way already.
func (q *reader) receive(k *conn) error {
	p, err := q.pull(k)
	for err == nil {
		var all []stored
		if all, err = q.messages(k, p); err != nil {
			break
		}
		ahead := len(all) == pullMost && !q.of.early
		switch {
		case ahead:
			p, err = q.pull(k)
		case q.of.early && len(all) > 0:
			q.handled = q.next
			err = q.commit(q.life, k)
		}
		if err == nil && !q.handle(all) {
			if ahead {
				q.outlast(p)
			}
			return errStopped
		}
		if err == nil && !ahead {
			p, err = q.pull(k)
		}
	}
	return err
}

// outlast waits for the answer to the pull that is under way: the broker commits the older offset
// of that pull, and must not do so after the last commit.
func (q *reader) outlast(p pending) {
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	if !q.of.abandoned.Load() {
		_, _ = p.await(ctx) // what it brings is not handled
	}
}

// errStopped is the error of a reader that must stop.
var errStopped = errors.New("the consumer is closed")

// messages waits for the answer to a pull, and sets the offset of the next one. A broker that has
// lost messages names a lower offset, and one that has deleted some a higher one.
func (q *reader) messages(k *conn, p pending) (all []stored, err error) {
	f, err := q.answer(k, p)
	if err != nil && !says(err, saysNothing, saysPullAgain, saysOffsetMoved) {
		return nil, err
	}
	for rest := f.body; err == nil && len(rest) > 0; {
		var m stored
		if m, rest, err = readStored(rest); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	q.next, err = strconv.ParseInt(f.Fields["nextBeginOffset"], 10, 64)
	if len(all) == 0 {
		q.handled = q.next
	}
	return all, err
}

// pullMost is the most messages that a broker sends at once (maxTransferCountOnMessageInMemory).
const pullMost = 32

// Flags of a pull: it commits an offset, may wait for messages, and says what it subscribes to.
const pullFlags = 1 | 2 | 4

func (q *reader) pull(k *conn) (pending, error) {
	with := maps.Clone(q.queue)
	maps.Copy(with, fields{
		"queueOffset": strconv.FormatInt(q.next, 10), "maxMsgNums": strconv.Itoa(pullMost),
		"sysFlag": strconv.Itoa(pullFlags), "commitOffset": strconv.FormatInt(q.handled, 10),
		"suspendTimeoutMillis": strconv.FormatInt(q.of.of.Duration(setPollTimeout).Milliseconds(),
			10),
		"subscription": "*", "subVersion": "0", "expressionType": "TAG",
	})
	return k.begin(askPull, with, nil)
}

// answer waits for the answer to a pull. A connection that does not bring it is given up.
func (q *reader) answer(k *conn, p pending) (frame, error) {
	within := q.of.of.Duration(setPollTimeout) + q.of.of.Duration(setRequest)
	ctx, cancel := context.WithTimeout(q.life, within)
	defer cancel()
	f, err := p.await(ctx)
	if err != nil && ctx.Err() != nil && q.life.Err() == nil {
		k.cut()
	}
	return f, err
}

// handle hands over messages; false: the reader must stop.
func (q *reader) handle(all []stored) bool {
	for _, m := range all {
		q.of.handling.Lock()
		handled := q.life.Err() == nil && q.of.Handle(system.Received{Payload: m.payload,
			Key: m.key, Partition: q.partition})
		q.of.handling.Unlock()
		if !handled {
			return false
		}
		if !q.of.early {
			q.handled = m.offset + 1
		}
	}
	return true
}

// Close stops receiving, waits within ctx until the message that is handled has ended, commits the
// offsets and leaves the group. If ctx ends first, messages that were handled may come again.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		r.abandoned.Store(ctx.Err() != nil)
		err := r.End(ctx)
		if err != nil {
			for _, l := range r.links {
				l.cut()
			}
		}
		r.shares.Leave(r)
		return err
	})
}

// cut ends the connection at once, so that the group's other members get the queues.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.cut()
	}
}
