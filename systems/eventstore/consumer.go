package eventstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kurrent-io/KurrentDB-Client-Go/kurrentdb"
	"google.golang.org/grpc/codes"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// streamsPerConnection is below the 100 streams that the server's web server allows.
	streamsPerConnection = 64
	// flushPause and flushWithin bound how long a consumer that closes waits until the server has
	// taken the last acknowledgements. The server confirms none of them, and those that are still
	// on their way are lost when the library cancels the subscription.
	flushPause  = 20 * time.Millisecond
	flushWithin = time.Second
	// ackMost is the most acknowledgements of one request; the server takes 2,000.
	ackMost = 1000
)

// consumer subscribes to a group on each stream of a topic. It has a receiving goroutine for each
// stream, which call Receive one at a time, and another that acknowledges.
type consumer struct {
	driver.Receiver
	of      *cluster
	closing driver.Closing
	links   []*link
	readers []*reader

	handling sync.Mutex // held during Receive
	wake     driver.Signal
	life     context.Context // ends when the consumer must stop receiving
	cancel   context.CancelFunc
	acking   context.Context // ends when it must stop acknowledging
	stopAcks context.CancelFunc
	running  sync.WaitGroup
	acker    chan struct{} // closed when acknowledge has ended
}

// reader receives from one stream's group.
type reader struct {
	*consumer
	stream    string
	partition int32
	link      *link

	mu      sync.Mutex
	current *kurrentdb.PersistentSubscription // nil: none is open
	end     context.CancelFunc                // of current
	handled []*kurrentdb.ResolvedEvent        // to be acknowledged to current
}

// OpenConsumer creates the subscription's groups, unless they exist, and subscribes to them.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, error,
) {
	streams, err := c.streams(ctx, o.Topic)
	if err != nil {
		return nil, err
	}
	if err := c.makeGroups(ctx, o, streams); err != nil {
		return nil, fmt.Errorf("create persistent subscription %s: %w", o.Subscription, err)
	}
	r := &consumer{Receiver: driver.Receiver{Options: o}, of: c, wake: driver.NewSignal(),
		acker: make(chan struct{})}
	r.life, r.cancel = context.WithCancel(context.Background())
	r.acking, r.stopAcks = context.WithCancel(context.Background())
	go r.acknowledge()
	for i, stream := range streams {
		if i%streamsPerConnection == 0 {
			r.links = append(r.links, c.newLink())
		}
		one := &reader{consumer: r, stream: stream, partition: int32(i),
			link: r.links[len(r.links)-1]}
		if err := one.subscribe(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("subscribe to %s: %w", one.stream, c.explain(err)),
				r.Close(ctx))
		}
		r.readers = append(r.readers, one)
	}
	for _, one := range r.readers {
		r.running.Go(one.run)
	}
	return r, c.clients.Keep(ctx, r)
}

// makeGroups creates the missing groups, once for each subscription.
func (c *cluster) makeGroups(
	ctx context.Context, o system.ConsumerOptions, streams []string,
) error {
	made := c.groups.Of(o.Topic, o.Subscription, func() *driver.Made { return &driver.Made{} })
	return made.Once(func() error {
		return c.each(ctx, streams, func(
			ctx context.Context, client *kurrentdb.Client, stream string,
		) error {
			return c.makeGroup(ctx, client, stream, o.Subscription)
		})
	})
}

// makeGroup creates a group that begins at the start of the stream, unless it exists.
func (c *cluster) makeGroup(
	ctx context.Context, client *kurrentdb.Client, stream, name string,
) error {
	s := kurrentdb.SubscriptionSettingsDefault()
	s.ReadBatchSize, s.HistoryBufferSize = int32(c.Count(setReadBatch)), int32(c.Count(setHistory))
	s.LiveBufferSize, s.MaxRetryCount = int32(c.Count(setLive)), int32(c.Count(setRetries))
	s.MessageTimeout = int32(c.Duration(setTimeout).Milliseconds())
	s.CheckpointAfter = int32(c.Duration(setCheckAfter).Milliseconds())
	s.CheckpointLowerBound = int32(c.Count(setCheckMin))
	s.CheckpointUpperBound = int32(c.Count(setCheckMax))
	s.ConsumerStrategyName = kurrentdb.ConsumerStrategy(c.Text(setStrategy))
	err := client.CreatePersistentSubscription(ctx, stream, name,
		kurrentdb.PersistentStreamSubscriptionOptions{Settings: &s, StartFrom: kurrentdb.Start{}})
	if codeOf(err) == kurrentdb.ErrorCodeResourceAlreadyExists {
		return nil
	}
	return err
}

// subscribe joins the group. ctx bounds the wait for the server's confirmation.
func (r *reader) subscribe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.of.Duration(setRequest))
	defer cancel()
	return r.link.callUnbounded(ctx, func(client *kurrentdb.Client) error {
		// The subscription lives as long as the context that it is created with.
		life, end := context.WithCancel(r.acking)
		inTime := context.AfterFunc(ctx, end)
		s, err := client.SubscribeToPersistentSubscription(life, r.stream, r.Options.Subscription,
			kurrentdb.SubscribeToPersistentSubscriptionOptions{
				BufferSize: uint32(r.of.Count(setBuffer))})
		if err == nil && !inTime() {
			err = errors.Join(ctx.Err(), s.Close())
		}
		if err != nil {
			end()
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.current, r.end = s, end
		return nil
	})
}

// run receives until the consumer closes or cannot go on.
func (r *reader) run() {
	for r.life.Err() == nil {
		err := r.receive()
		for err != nil && r.life.Err() == nil {
			if final(err) {
				r.Fail(r.of.explain(err))
				return
			}
			clock.Sleep(r.life, driver.RetryPause)
			err = r.subscribe(r.life)
		}
	}
}

// final reports whether an error is a server's answer that a retry cannot change.
func final(err error) bool {
	switch grpcCode(err) {
	case codes.NotFound, codes.PermissionDenied, codes.Unauthenticated, codes.InvalidArgument,
		codes.Unimplemented:
		return true
	}
	return false
}

// receive hands over events until the subscription ends, and returns the reason.
func (r *reader) receive() error {
	for {
		got := r.current.Recv()
		if got.SubscriptionDropped != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			_ = r.current.Close() // it returns nil
			r.end()
			r.current, r.handled = nil, nil // the server redelivers unacknowledged events
			return got.SubscriptionDropped.Error
		}
		if got.EventAppeared == nil || !r.handle(got.EventAppeared.Event) {
			return errors.New("the consumer is closed")
		}
	}
}

// handle hands over one event and queues its acknowledgement.
func (r *reader) handle(e *kurrentdb.ResolvedEvent) bool {
	if e.Event != nil { // nil: deleted before it was delivered
		m := system.Received{Payload: e.Event.Data, Partition: r.partition}
		if len(e.Event.UserMetadata) > 0 {
			m.Key = e.Event.UserMetadata
		}
		r.handling.Lock()
		took := r.life.Err() == nil && r.Handle(m)
		r.handling.Unlock()
		if !took {
			return false
		}
	}
	r.mu.Lock()
	r.handled = append(r.handled, e)
	r.mu.Unlock()
	r.wake.Give()
	return true
}

// acknowledge sends acknowledgements. Events handled during a send go with the next one.
func (r *consumer) acknowledge() {
	defer close(r.acker)
	for {
		select {
		case <-r.wake:
			r.sendAcks()
		case <-r.life.Done():
			return
		}
	}
}

// sendAcks acknowledges the handled events. An event that cannot be acknowledged is redelivered.
func (r *consumer) sendAcks() {
	for _, one := range r.readers {
		one.mu.Lock()
		for len(one.handled) > 0 && one.current != nil {
			n := min(len(one.handled), ackMost)
			_ = one.current.Ack(one.handled[:n]...) // an error ends the subscription as well
			one.handled = one.handled[n:]
		}
		one.handled = nil
		one.mu.Unlock()
	}
}

// flush waits until the server has taken the acknowledgements that were sent. It reads an event
// over each connection, because a busy server answers that late too, and pauses. It does both
// twice: the server may have been busy, or stopped, during the first pause.
func (r *consumer) flush() {
	ctx, cancel := context.WithTimeout(r.acking, flushWithin)
	defer cancel()
	for range 2 {
		var asked *link
		for _, one := range r.readers {
			if one.link != asked && one.subscribed() {
				asked = one.link
				_, _ = asked.readLast(ctx, one.stream) // if it fails, the server redelivers
			}
		}
		clock.Sleep(r.acking, flushPause)
	}
}

// subscribed reports whether the subscription is open.
func (r *reader) subscribed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current != nil
}

// Close stops receiving, and waits within ctx until the received messages are handled and
// acknowledged. The server delivers the rest to other consumers.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		outOfTime := context.AfterFunc(ctx, r.stopAcks)
		defer outOfTime()
		r.cancel()
		handled := make(chan struct{})
		go func() {
			defer close(handled)
			<-r.acker
			r.handling.Lock() // waits until Receive has returned
			r.sendAcks()
			r.handling.Unlock()
			r.flush()
			r.stopAcks()
			r.running.Wait()
		}()
		errs := []error{driver.AwaitHandled(ctx, handled)}
		r.Stop()
		r.stopAcks()
		for _, l := range r.links {
			errs = append(errs, l.close())
		}
		return errors.Join(errs...)
	})
}

// OpenReplay recreates the groups, so that they begin at the start of the streams.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, string, error,
) {
	streams, err := c.streams(ctx, o.Topic)
	if err != nil {
		return nil, "", err
	}
	err = c.each(ctx, streams, func(
		ctx context.Context, client *kurrentdb.Client, stream string,
	) error {
		if err := deleteGroup(ctx, client, stream, o.Subscription); err != nil {
			return err
		}
		return c.makeGroup(ctx, client, stream, o.Subscription)
	})
	if err != nil {
		return nil, "", fmt.Errorf("recreate persistent subscription %s: %w", o.Subscription,
			err)
	}
	r, err := c.OpenConsumer(ctx, o)
	return r, "", err
}
