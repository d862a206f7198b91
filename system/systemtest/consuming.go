package systemtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// sendAll sends the suite's number of messages from a new producer and waits
// until all are acknowledged.
func (s *suite) sendAll(t *testing.T, c system.Cluster, topic system.Topic, id int) {
	t.Helper()
	s.sendAllAmid(t, c, topic, id, func(context.Context) {})
}

// sendAllAmid is sendAll that calls amid while messages are sent.
func (s *suite) sendAllAmid(t *testing.T, c system.Cluster, topic system.Topic, id int,
	amid func(context.Context)) {
	t.Helper()
	p := s.sender(t, c, topic, id)
	ctx := s.context(t)
	sent := make(chan error, 1)
	go func() { sent <- p.sendMany(ctx, s.Messages) }()
	amid(ctx)
	must(t, "sending", <-sent)
	must(t, "waiting for acknowledgements", p.await(ctx))
	p.mustAll(t)
	s.close(t, p.producer)
}

func (s *suite) subscriptions(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	all := make([]*arrivals, 3)
	for i := range all {
		all[i] = newArrivals()
		s.consumer(t, c, topic, fmt.Sprintf("each-%d", i), 0, workload.AtLeastOnce, all[i])
	}
	s.sendAll(t, c, topic, 0)
	for i, b := range all {
		must(t, fmt.Sprintf("subscription %d", i), b.await(s.context(t), s.Messages))
	}
}

func (s *suite) sharing(t *testing.T) {
	const consumers = 3
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	together := newArrivals()
	for i := range consumers {
		s.consumer(t, c, topic, "shared", i, workload.AtLeastOnce, together)
	}
	s.sendAll(t, c, topic, 0)
	must(t, "receiving", together.await(s.context(t), s.Messages))
}

// sharingConnections opens two consumers of a subscription on one connection and the third on
// another, as workers of a fleet do. Together they must receive every message, and each connection
// some.
func (s *suite) sharingConnections(t *testing.T) {
	if _, embedded := s.System.(system.Embedded); embedded {
		t.Skip("the system is embedded: each connection is a cluster of its own")
	}
	first, second := s.connect(t), s.connect(t)
	topic := s.topic(t, first, partitions)
	together := newArrivals()
	var counts [2]atomic.Int64 // deliveries by connection
	on := []int{0, 0, 1}       // the connection of each consumer
	consumers := make([]system.Consumer, len(on))
	for i, connection := range on {
		consumers[i] = s.consumerFunc(t, []system.Cluster{first, second}[connection],
			system.ConsumerOptions{
				Topic: topic, Subscription: "workers", Index: i, Members: len(on),
				Delivery: workload.AtLeastOnce, Failed: together.fail,
				Receive: func(m system.Received) {
					counts[connection].Add(1)
					together.receive(m)
				},
			})
	}
	must(t, "sharing out the partitions", awaitAssignments(s.context(t), consumers))
	s.sendAll(t, first, topic, 0)
	must(t, "receiving", together.await(s.context(t), s.Messages))
	received := []int64{counts[0].Load(), counts[1].Load()}
	t.Logf("%d deliveries of %d messages: %v by connection", received[0]+received[1], s.Messages,
		received)
	if slices.Contains(received, 0) {
		t.Errorf("a connection received nothing: %v deliveries by connection", received)
	}
}

// awaitAssignments waits for the partitions of all consumers at the same time, if they have to be
// assigned.
func awaitAssignments(ctx context.Context, consumers []system.Consumer) error {
	errs := make([]error, len(consumers))
	var waiting sync.WaitGroup
	for i, one := range consumers {
		if waiter, able := one.(system.AssignmentWaiter); able {
			waiting.Go(func() { errs[i] = waiter.AwaitAssignment(ctx) })
		}
	}
	waiting.Wait()
	return errors.Join(errs...)
}

func (s *suite) delivers(t *testing.T, d workload.Delivery) {
	if !slices.Contains(s.System.Describe().Delivery, d) {
		t.Skip("the system does not offer this delivery")
	}
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	b := newArrivals()
	s.consumer(t, c, topic, "delivers", 0, d, b)
	s.sendAll(t, c, topic, 0)
	must(t, "receiving", b.await(s.context(t), s.Messages))
	if d == workload.AtLeastOnce {
		return
	}
	for message, times := range b.seen {
		if times > 1 {
			t.Errorf("message %v arrived %d times, delivery %s", message, times, d)
		}
	}
}

// exactlyOnce repeats the tests of producers with transactions, if the system has them.
func (s *suite) exactlyOnce(t *testing.T) {
	if !slices.Contains(s.System.Describe().Delivery, workload.ExactlyOnce) {
		t.Skip("the system does not offer this delivery")
	}
	transactional := *s
	transactional.delivery = workload.ExactlyOnce
	runAll(t, []namedTest{
		{"delivers", func(t *testing.T) { transactional.delivers(t, workload.ExactlyOnce) }},
		{"transactions_are_numbered", transactional.transactions},
		{"arrival_order_is_send_order", transactional.ordering},
		{"every_send_ends_once", transactional.everySendEndsOnce},
		{"close_while_sending", transactional.closeWhileSending},
		{"close_without_time_while_sending", transactional.closeWithoutTime},
		{"close_without_time_ends_what_is_in_flight", transactional.closeEndsAll},
	})
}

// restart closes a consumer while messages arrive and opens another. The second
// must receive the messages that the first did not acknowledge.
func (s *suite) restart(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	both := newArrivals()
	first := s.consumer(t, c, topic, "restart", 0, workload.AtLeastOnce, both)
	var atClose int
	s.sendAllAmid(t, c, topic, 0, func(ctx context.Context) {
		must(t, "receiving a third", both.await(ctx, s.Messages/3))
		s.close(t, first)
		atClose = both.distinct()
		s.consumer(t, c, topic, "restart", 0, workload.AtLeastOnce, both)
	})
	if err := both.awaitEach(s.Messages, comesAgainWithin); err != nil {
		t.Fatalf("%d of %d messages arrived, %d of them before a consumer was closed, and no "+
			"other for %s (%v); system.Consumer: messages without an acknowledgement go to "+
			"another consumer when Close has returned, not after a time-out", both.distinct(),
			s.Messages, atClose, comesAgainWithin, err)
	}
	t.Logf("%d before the restart; %d deliveries of %d messages", atClose, len(both.order),
		s.Messages)
}

// reserved creates a subscription by a consumer that closes before the first
// message is sent. Consumers that open later must receive all messages. If a subscription can
// begin again, it must do so on an empty topic too.
func (s *suite) reserved(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	early := newArrivals()
	s.close(t, s.consumer(t, c, topic, "reserved", 0, workload.AtLeastOnce, early))
	if replayer, able := c.(system.Replayer); able {
		k, _, err := replayer.OpenReplay(s.context(t), system.ConsumerOptions{
			Topic: topic, Subscription: "reserved", Delivery: workload.AtLeastOnce,
			Receive: early.receive, Failed: early.fail,
		})
		var lacking *system.NotSupported
		switch {
		case err == nil:
			s.close(t, k)
		case !errors.As(err, &lacking):
			t.Fatalf("beginning again on an empty topic: %v", err)
		}
	}
	s.sendAll(t, c, topic, 0)
	late := newArrivals()
	for i := range 2 {
		s.consumer(t, c, topic, "reserved", i, workload.AtLeastOnce, late)
	}
	must(t, "receiving what waited", late.await(s.context(t), s.Messages))
	if n := early.distinct(); n > 0 {
		t.Errorf("a consumer that had closed received %d messages", n)
	}
}

// noReceiveAfterClose closes one of two consumers while messages arrive. It must
// receive nothing afterwards, and the other must receive all the rest.
func (s *suite) noReceiveAfterClose(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	both := newArrivals()
	leaving := s.leaver(t, c, topic, both)
	s.consumer(t, c, topic, "silent", 1, workload.AtLeastOnce, both)
	s.sendAllAmid(t, c, topic, 0, func(ctx context.Context) {
		must(t, "receiving a third", both.await(ctx, s.Messages/3))
		must(t, "closing", leaving.close(s.context(t)))
	})
	must(t, "receiving", both.await(s.context(t), s.Messages))
	leaving.mustBeSilent(t, 0)
}

// leaver is a consumer that counts its messages after Close has returned.
type leaver struct {
	system.Consumer
	closed, late atomic.Int64
}

// leaver opens consumer 0 of the subscription named silent.
func (s *suite) leaver(t *testing.T, c system.Cluster, topic system.Topic, got *arrivals) *leaver {
	t.Helper()
	l := &leaver{}
	l.Consumer = s.consumerFunc(t, c, system.ConsumerOptions{
		Topic: topic, Subscription: "silent", Index: 0, Delivery: workload.AtLeastOnce,
		Receive: func(m system.Received) { l.late.Add(l.closed.Load()); got.receive(m) },
		Failed:  got.fail,
	})
	return l
}

func (l *leaver) close(ctx context.Context) error {
	err := l.Close(ctx)
	l.closed.Store(1)
	return err
}

func (l *leaver) mustBeSilent(t *testing.T, allowed int64) {
	t.Helper()
	if n := l.late.Load(); n > allowed {
		t.Errorf("Receive was called %d times after Close had returned", n)
	}
}

// noReceiveAfterCloseWithoutTime closes a consumer with a context that has ended
// while messages arrive. Other consumers may get the messages that it had fetched
// only much later, so the test does not wait for them.
func (s *suite) noReceiveAfterCloseWithoutTime(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	got := newArrivals()
	leaving := s.leaver(t, c, topic, got)
	allowed := int64(0)
	s.sendAllAmid(t, c, topic, 0, func(ctx context.Context) {
		must(t, "receiving a third", got.await(ctx, s.Messages/3))
		if err := leaving.close(ended(ctx)); err != nil {
			allowed = 1 // the message that was being handled when Close gave up
		}
	})
	leaving.mustBeSilent(t, allowed)
}
