package mongodb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// done marks a message that a subscription has handled: a lease that never ends.
var done = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// consumer takes messages one by one. One goroutine uses it until it ends.
type consumer struct {
	driver.Receiver
	of         *cluster
	collection *mongo.Collection
	closing    driver.Closing
	number     int  // of the subscription
	once       bool // at most once

	fresh, passed *query          // take messages without a lease, and with an expired lease
	handled       []bson.ObjectID // to be acknowledged
	claimed       time.Time       // when it last looked for expired leases
	known         int             // number of the topic's subscriptions
	looked        time.Time       // the time before known was read
	last          time.Time       // when it took a message, or found its topic to exist

	work  context.Context // ends when running requests must end
	abort context.CancelFunc
}

// query is a prepared findOneAndUpdate: which message to take, and its lease. Each take overwrites
// the times in its bytes, so that only the library allocates.
type query struct {
	filter, update bson.Raw
	filterTime     []byte // 8 bytes of filter; nil: the filter has no time
	updateTime     []byte // 8 bytes of update
}

// newQuery returns a query for messages whose lease fits the condition.
func newQuery(field string, condition any, hasTime bool) (*query, error) {
	filter, err := bson.Marshal(bson.D{{Key: field, Value: condition}})
	if err != nil {
		return nil, err
	}
	update, err := bson.Marshal(bson.D{{Key: "$set", Value: bson.D{{Key: field, Value: done}}}})
	if err != nil {
		return nil, err
	}
	q := &query{filter: filter, update: update, updateTime: lastTime(update)}
	if hasTime {
		q.filterTime = lastTime(filter)
	}
	return q, nil
}

// lastTime returns the bytes of a time at the end of a nested document. Both documents end with a
// zero byte.
func lastTime(raw bson.Raw) []byte {
	const size, zeros = 8, 2
	end := len(raw) - zeros
	return raw[end-size : end]
}

func putTime(at []byte, t time.Time) {
	binary.LittleEndian.PutUint64(at, uint64(t.UnixMilli()))
}

// OpenConsumer creates the subscription, unless it exists, and takes messages.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, error,
) {
	number, err := c.subscribe(ctx, o.Topic, o.Subscription)
	if err != nil {
		return nil, err
	}
	r := &consumer{
		Receiver: driver.Receiver{Options: o}, of: c, number: number,
		once: o.Delivery == workload.AtMostOnce,
	}
	concern := writeconcern.W1()
	if r.once {
		concern = concernOf(c.level)
	}
	r.collection = c.database().Collection(o.Topic.Name,
		options.Collection().SetWriteConcern(concern))
	field := leaseField(number)
	r.fresh, err = newQuery(field, nil, false)
	if err == nil {
		r.passed, err = newQuery(field, bson.D{{Key: "$lte", Value: done}}, true)
	}
	if err != nil {
		return nil, fmt.Errorf("write the consumer's query: %w", err)
	}
	r.last = time.Now()
	r.work, r.abort = context.WithCancel(context.Background())
	r.Begin(r.run)
	return r, c.clients.Keep(ctx, r)
}

// claimEvery returns how often a consumer looks for expired leases.
func claimEvery(lease time.Duration) time.Duration { return min(lease, time.Second) }

// run takes messages until the consumer closes or cannot go on.
func (r *consumer) run() {
	for r.Life.Err() == nil {
		taken, err := r.round()
		if err == nil && taken == 0 {
			err = r.exists()
		}
		switch {
		case err != nil && final(err):
			r.Fail(r.of.explain(err))
			return
		case err != nil:
			clock.Sleep(r.Life, driver.RetryPause)
		case taken > 0:
			r.last = time.Now()
		default:
			clock.Sleep(r.Life, r.of.Duration(setPoll))
		}
	}
	ctx, cancel := r.request()
	defer cancel()
	// Messages that can no longer be acknowledged go to other consumers.
	_ = r.acknowledge(ctx)
}

// final reports whether an error is a server's answer that a retry cannot change.
func final(err error) bool {
	var answer mongo.CommandError
	return errors.Is(err, errNoTopic) || errors.As(err, &answer) && refusals[answer.Code]
}

// lookEvery is how often a consumer that takes nothing looks its topic up: a collection that was
// deleted looks like an empty one.
const lookEvery = 5 * time.Second

// exists returns an error that wraps errNoTopic when the topic was deleted.
func (r *consumer) exists() error {
	if time.Since(r.last) < lookEvery {
		return nil
	}
	ctx, cancel := r.request()
	defer cancel()
	_, err := r.of.readTopic(ctx, r.Options.Topic.Name)
	if err == nil {
		r.last = time.Now()
	}
	return err
}

// request returns a context that bounds the requests of one round.
func (r *consumer) request() (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.work, r.of.Duration(setRequest))
}

// round takes messages, hands each over, and acknowledges them together.
func (r *consumer) round() (taken int, err error) {
	ctx, cancel := r.request()
	defer cancel()
	q := r.fresh
	if lease := r.of.Duration(setLease); !r.once && time.Since(r.claimed) >= claimEvery(lease) {
		q = r.passed
	}
	most := int(r.of.Count(setReceive))
	for taken < most && len(r.handled) < most && r.Life.Err() == nil {
		found, err := r.take(ctx, q)
		if err != nil {
			return taken, err
		}
		switch {
		case found:
			taken++
		case q == r.passed:
			q, r.claimed = r.fresh, time.Now()
		default:
			return taken, r.acknowledge(ctx)
		}
	}
	return taken, r.acknowledge(ctx)
}

// The oldest message comes first.
var (
	updateOldest = options.FindOneAndUpdate().SetSort(bson.D{{Key: fieldID, Value: 1}})
	deleteOldest = options.FindOneAndDelete().SetSort(bson.D{{Key: fieldID, Value: 1}})
)

// take takes a message and hands it over. With at most once, the message is deleted before.
func (r *consumer) take(ctx context.Context, q *query) (found bool, err error) {
	now := time.Now()
	if q.filterTime != nil {
		putTime(q.filterTime, now)
	}
	if r.once {
		if err := r.look(ctx); err != nil {
			return false, err
		}
	} else {
		putTime(q.updateTime, now.Add(r.of.Duration(setLease)))
	}
	var answer *mongo.SingleResult
	if r.once && r.known == 1 {
		answer = r.collection.FindOneAndDelete(ctx, q.filter, deleteOldest)
	} else {
		answer = r.collection.FindOneAndUpdate(ctx, q.filter, q.update, updateOldest)
	}
	raw, err := answer.Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	if err == nil {
		r.handle(raw)
	}
	return err == nil, err
}

// handle hands over a message. Nothing else uses the document's bytes.
func (r *consumer) handle(raw bson.Raw) {
	m := system.Received{Partition: raw.Lookup(fieldPartition).Int32()}
	_, m.Payload, _ = raw.Lookup(fieldPayload).BinaryOK()
	if key, err := raw.LookupErr(fieldKey); err == nil {
		_, m.Key, _ = key.BinaryOK()
	}
	if r.Handle(m) && (!r.once || r.known > 1) {
		r.handled = append(r.handled, raw.Lookup(fieldID).ObjectID())
	}
}

// look reads the number of the topic's subscriptions, unless it was read recently.
func (r *consumer) look(ctx context.Context) error {
	began := time.Now()
	if began.Sub(r.looked) < viewFor {
		return nil
	}
	t, err := r.of.readTopic(ctx, r.Options.Topic.Name)
	if err == nil {
		r.known, r.looked = len(t.Subscriptions), began
	}
	return err
}

// acknowledge deletes the handled messages. With several subscriptions it marks them, and deletes
// the messages that all subscriptions have marked.
func (r *consumer) acknowledge(ctx context.Context) error {
	if len(r.handled) == 0 {
		return nil
	}
	if err := r.look(ctx); err != nil {
		return err
	}
	which := bson.D{{Key: fieldID, Value: bson.D{{Key: "$in", Value: r.handled}}}}
	if r.known > 1 {
		mark := bson.D{{Key: "$set", Value: bson.D{{Key: leaseField(r.number), Value: done}}}}
		if _, err := r.collection.UpdateMany(ctx, which, mark); err != nil {
			return fmt.Errorf("acknowledge: %w", err)
		}
		for i := range r.known {
			which = append(which, bson.E{Key: leaseField(i), Value: done})
		}
	}
	if _, err := r.collection.DeleteMany(ctx, which); err != nil {
		return fmt.Errorf("acknowledge: %w", err)
	}
	r.handled = r.handled[:0]
	return nil
}

// Close stops taking messages, and waits within ctx until the taken ones are handled and
// acknowledged. If ctx ends first, the rest goes to other consumers after the lease.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		defer r.abort()
		return r.End(ctx)
	})
}
