package systemtest

import (
	"context"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// crowd is the number of topics that are created and used at once.
const crowd = 6

// manyTopics creates many topics at once, opens their clients at once, and deletes them, like a
// run with many topics.
func (s *suite) manyTopics(t *testing.T) {
	c := s.connect(t)
	topics := make([]system.Topic, crowd)
	for i := range topics {
		topics[i] = system.Topic{Name: numbered(), Partitions: 1 + i%2}
	}
	keeper, keeps := c.(system.BatchAdmin)
	if keeps {
		must(t, "creating the topics", keeper.CreateTopics(s.context(t), topics))
		if err := keeper.CreateTopics(s.context(t), topics[crowd-1:]); err == nil {
			t.Error("a topic that exists was created again")
		}
	} else {
		s.each(t, "creating the topics",
			func(ctx context.Context, i int) error { return c.CreateTopic(ctx, topics[i]) })
	}
	inboxes, consumers := make([]*arrivals, crowd), make([]system.Consumer, crowd)
	s.each(t, "opening the consumers", func(ctx context.Context, i int) (err error) {
		inboxes[i] = newArrivals()
		consumers[i], err = c.OpenConsumer(ctx, system.ConsumerOptions{
			Topic: topics[i], Subscription: "all", Delivery: workload.AtLeastOnce,
			Receive: inboxes[i].receive, Failed: inboxes[i].fail,
		})
		return err
	})
	for i, topic := range topics {
		p := s.sender(t, c, topic, 0)
		ctx := s.context(t)
		must(t, "sending", p.sendMany(ctx, topic.Partitions))
		must(t, "waiting for acknowledgements", p.await(ctx))
		p.mustAll(t)
		must(t, "receiving from "+topic.Name, inboxes[i].await(ctx, topic.Partitions))
		s.close(t, p.producer)
	}
	s.each(t, "closing the consumers",
		func(ctx context.Context, i int) error { return consumers[i].Close(ctx) })
	if !keeps {
		for _, topic := range topics {
			must(t, "deleting a topic", c.DeleteTopic(s.context(t), topic))
		}
		return
	}
	must(t, "deleting half of the topics", keeper.DeleteTopics(s.context(t), topics[:crowd/2]))
	must(t, "deleting all of the topics, half of which are gone",
		keeper.DeleteTopics(s.context(t), topics))
}

func (s *suite) each(t *testing.T, doing string, do func(ctx context.Context, i int) error) {
	t.Helper()
	must(t, doing, system.Each(s.context(t), crowd, crowd, nil, do))
}
