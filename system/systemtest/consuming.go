package systemtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// sendAll sends the suite's number of messages from one new producer and waits
// until all are acknowledged.
func (s *suite) sendAll(t *testing.T, c system.Cluster, topic system.Topic, id int) {
	t.Helper()
	p := s.sender(t, c, topic, id)
	ctx := s.context(t)
	must(t, "sending", p.sendMany(ctx, messages))
	must(t, "waiting for acknowledgements", p.await(ctx))
	p.mustAll(t)
	s.close(t, p.producer)
}

func (s *suite) subscriptions(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	all := make([]*inbox, 3)
	for i := range all {
		all[i] = newInbox()
		s.consumer(t, c, topic, fmt.Sprintf("each-%d", i), 0, workload.AtLeastOnce, all[i])
	}
	s.sendAll(t, c, topic, 0)
	for i, b := range all {
		must(t, fmt.Sprintf("subscription %d", i), b.await(s.context(t), messages))
	}
}

func (s *suite) sharing(t *testing.T) {
	const consumers = 3
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	together := newInbox()
	for i := range consumers {
		s.consumer(t, c, topic, "shared", i, workload.AtLeastOnce, together)
	}
	s.sendAll(t, c, topic, 0)
	must(t, "receiving", together.await(s.context(t), messages))
}

func (s *suite) delivers(t *testing.T, d workload.Delivery) {
	if !slices.Contains(s.System.Describe().Delivery, d) {
		t.Skip("the system does not claim it")
	}
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	b := newInbox()
	s.consumer(t, c, topic, "delivers", 0, d, b)
	s.sendAll(t, c, topic, 0)
	must(t, "receiving", b.await(s.context(t), messages))
	if d == workload.AtLeastOnce {
		return
	}
	for one, times := range b.seen {
		if times > 1 {
			t.Errorf("message %v arrived %d times, delivery %s", one, times, d)
		}
	}
}

// exactlyOnce runs what a producer must hold with one that sends in
// transactions, where the system has them.
func (s *suite) exactlyOnce(t *testing.T) {
	if !slices.Contains(s.System.Describe().Delivery, workload.ExactlyOnce) {
		t.Skip("the system does not claim it")
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

// restart closes a consumer amid the stream and opens another: what the first
// had and did not acknowledge must come to the second.
func (s *suite) restart(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	both := newInbox()
	first := s.consumer(t, c, topic, "restart", 0, workload.AtLeastOnce, both)
	ctx := s.context(t)
	p := s.sender(t, c, topic, 0)
	sent := make(chan error, 1)
	go func() { sent <- p.sendMany(ctx, messages) }()
	must(t, "receiving a third", both.await(ctx, messages/3))
	s.close(t, first)
	atClose := both.distinct()
	s.consumer(t, c, topic, "restart", 0, workload.AtLeastOnce, both)
	must(t, "sending", <-sent)
	must(t, "waiting for acknowledgements", p.await(ctx))
	p.mustAll(t)
	must(t, fmt.Sprintf("receiving the rest after %d", atClose), both.await(s.context(t), messages))
	t.Logf("%d before the restart; %d deliveries of %d messages", atClose, len(both.order),
		messages)
}

// reserved makes a subscription by a consumer that closes before anything is
// sent: those who open afterwards get all of it. Where subscriptions can begin
// again they do so on a topic to which nothing was sent, too.
func (s *suite) reserved(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	early := newInbox()
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
	late := newInbox()
	for i := range 2 {
		s.consumer(t, c, topic, "reserved", i, workload.AtLeastOnce, late)
	}
	must(t, "receiving what waited", late.await(s.context(t), messages))
	if n := early.distinct(); n > 0 {
		t.Errorf("a consumer that had closed received %d messages", n)
	}
}

// noReceiveAfterClose closes one of two consumers while messages flow: it must
// be silent from then on, and the other must get everything else.
func (s *suite) noReceiveAfterClose(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	both := newInbox()
	var closed, late atomic.Int64
	leaving := s.consumerFunc(t, c, system.ConsumerOptions{
		Topic: topic, Subscription: "silent", Index: 0, Delivery: workload.AtLeastOnce,
		Receive: func(m system.Received) { late.Add(closed.Load()); both.receive(m) },
		Failed:  both.fail,
	})
	s.consumer(t, c, topic, "silent", 1, workload.AtLeastOnce, both)
	ctx := s.context(t)
	p := s.sender(t, c, topic, 0)
	sent := make(chan error, 1)
	go func() { sent <- p.sendMany(ctx, messages) }()
	must(t, "receiving a third", both.await(ctx, messages/3))
	s.close(t, leaving)
	closed.Store(1)
	must(t, "sending", <-sent)
	must(t, "waiting for acknowledgements", p.await(ctx))
	p.mustAll(t)
	must(t, "receiving", both.await(s.context(t), messages))
	if n := late.Load(); n > 0 {
		t.Errorf("Receive was called %d times after Close had returned", n)
	}
}

// noReceiveAfterCloseWithoutTime closes a consumer amid the stream with a
// context that has ended. What it had fetched may come to others only much
// later, so that is not waited for.
func (s *suite) noReceiveAfterCloseWithoutTime(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	b := newInbox()
	var closed, late atomic.Int64
	leaving := s.consumerFunc(t, c, system.ConsumerOptions{
		Topic: topic, Subscription: "hasty", Index: 0, Delivery: workload.AtLeastOnce,
		Receive: func(m system.Received) { late.Add(closed.Load()); b.receive(m) },
		Failed:  b.fail,
	})
	ctx := s.context(t)
	p := s.sender(t, c, topic, 0)
	sent := make(chan error, 1)
	go func() { sent <- p.sendMany(ctx, messages) }()
	must(t, "receiving a third", b.await(ctx, messages/3))
	over, cancel := context.WithCancel(ctx)
	cancel()
	gaveUp := leaving.Close(over)
	closed.Store(1)
	must(t, "sending", <-sent)
	must(t, "waiting for acknowledgements", p.await(ctx))
	p.mustAll(t)
	allowed := int64(0)
	if gaveUp != nil {
		allowed = 1 // the message that was being handled when Close gave up
	}
	if n := late.Load(); n > allowed {
		t.Errorf("Receive was called %d times after Close had returned", n)
	}
}
