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

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// done marks a message that a subscription has handled: a lease that does not pass.
var done = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// consumer takes messages one by one. One goroutine uses it until it ends.
type consumer struct {
	driver.Receiver
	of         *cluster
	collection *mongo.Collection
	closing    driver.Closing
	number     int  // of the subscription
	once       bool // at most once

	fresh, passed *query          // messages without a lease, and with a lease that has passed
	handled       []bson.ObjectID // to acknowledge
	claimed       time.Time       // when it last looked for leases that have passed
	known         int             // subscriptions of the topic
	looked        time.Time       // before it was read

	life   context.Context // ends when the consumer is to take no more
	cancel context.CancelFunc
	work   context.Context // ends when what is under way is to end
	abort  context.CancelFunc
	ended  chan struct{} // closed when run has ended
}

// query is a take: which message, and the lease that it gets. The times in its bytes are
// written anew for each take, so that a take costs no more allocations than the library
// makes.
type query struct {
	filter, update bson.Raw
	filterTime     []byte // 8 bytes of filter; nil: it has no time
	updateTime     []byte // 8 bytes of update
}

// newQuery returns a take of messages whose lease fits the condition.
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

// lastTime returns the bytes of the time that ends a document within a document. Each of
// the two ends with a zero.
func lastTime(raw bson.Raw) []byte {
	const size, zeros = 8, 2
	end := len(raw) - zeros
	return raw[end-size : end]
}

func putTime(at []byte, t time.Time) {
	binary.LittleEndian.PutUint64(at, uint64(t.UnixMilli()))
}

// OpenConsumer makes the subscription, unless it is there, and takes messages.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, error,
) {
	number, err := c.subscribe(ctx, o.Topic, o.Subscription)
	if err != nil {
		return nil, err
	}
	r := &consumer{
		Receiver: driver.Receiver{Options: o}, of: c, number: number,
		once: o.Delivery == workload.AtMostOnce, ended: make(chan struct{}),
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
		return nil, fmt.Errorf("writing the consumer's query: %w", err)
	}
	r.life, r.cancel = context.WithCancel(context.Background())
	r.work, r.abort = context.WithCancel(context.Background())
	go r.run()
	if err := c.clients.Keep(ctx, r); err != nil {
		return nil, err
	}
	return r, nil
}

// claimEvery is how often a consumer looks for leases that have passed.
func claimEvery(lease time.Duration) time.Duration { return min(lease, time.Second) }

// run takes messages until the consumer closes or cannot go on.
func (r *consumer) run() {
	defer close(r.ended)
	for r.life.Err() == nil {
		taken, err := r.round()
		switch {
		case err != nil && final(err):
			r.Fail(r.of.explain(err))
			return
		case err != nil:
			clock.Sleep(r.life, driver.RetryPause)
		case taken == 0:
			clock.Sleep(r.life, r.of.Duration(setPoll))
		}
	}
	ctx, cancel := r.request()
	defer cancel()
	// What cannot be acknowledged any more comes to others.
	_ = r.acknowledge(ctx)
}

// final reports whether an error is an answer of the server that will not change.
func final(err error) bool {
	var answer mongo.CommandError
	return errors.As(err, &answer) && refusals[answer.Code]
}

// request bounds what one round asks of the server.
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
	for taken < most && len(r.handled) < most && r.life.Err() == nil {
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

// take takes a message and hands it over. At most once, the message is gone before.
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

// handle hands a message over. The document is the library's, and nobody else's.
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

// look reads how many subscriptions the topic has, unless that was read just now.
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

// acknowledge deletes what was handled. With several subscriptions, it marks that first,
// and deletes what all of them have marked.
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
			return fmt.Errorf("acknowledging: %w", err)
		}
		for i := range r.known {
			which = append(which, bson.E{Key: leaseField(i), Value: done})
		}
	}
	if _, err := r.collection.DeleteMany(ctx, which); err != nil {
		return fmt.Errorf("acknowledging: %w", err)
	}
	r.handled = r.handled[:0]
	return nil
}

// Close takes no more and waits within ctx until what was taken is handled and
// acknowledged. When ctx ends first, the rest comes to others after their lease.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		defer r.abort()
		return r.End(ctx, r.cancel, r.ended)
	})
}
