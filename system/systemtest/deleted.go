package systemtest

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// noticeWithin bounds the wait for a consumer's failure: longer than the time for which any client
// looks for a server that has the topic.
const noticeWithin = 3 * time.Minute

// deletedTopic deletes a topic while a consumer waits for messages. The consumer must fail: one
// that only waits looks like a consumer of a topic without messages.
func (s *suite) deletedTopic(t *testing.T) {
	c := s.connect(t)
	deleter, able := c.(system.TopicDeleter)
	if !able {
		t.Skip("the system cannot delete topics")
	}
	topic := s.topic(t, c, 1)
	failed := make(chan error, 1)
	got := newArrivals()
	s.consumerFunc(t, c, system.ConsumerOptions{
		Topic: topic, Subscription: "deleted", Delivery: workload.AtLeastOnce,
		Receive: got.receive, Failed: func(err error) { failed <- err },
	})
	s.sendAll(t, c, topic, 0)
	must(t, "receiving", got.await(s.context(t), s.Messages))
	if err := deleter.DeleteTopic(s.context(t), topic); err != nil {
		t.Skipf("a topic that has consumers cannot be deleted: %v", err)
	}
	select {
	case err := <-failed:
		t.Log(err)
	case <-time.After(noticeWithin):
		t.Fatal("the consumer did not fail")
	}
}
