package systemtest

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// noticeWithin bounds the wait for a consumer's failure: longer than the time for which any client
// looks for a server that has the topic.
const (
	noticeWithin = 3 * time.Minute
	leftWithin   = 30 * time.Second
)

// deletedTopic deletes a topic while a consumer waits for messages. The consumer must fail: one
// that only waits looks like a consumer of a topic without messages.
func (s *suite) deletedTopic(t *testing.T) {
	if _, embedded := s.System.(system.Embedded); embedded {
		t.Skip("the system is embedded: nobody else can delete its topics")
	}
	c := s.connect(t)
	topic := s.topic(t, c, 1)
	failed := make(chan error, 1)
	got := newArrivals()
	s.consumerFunc(t, c, system.ConsumerOptions{
		Topic: topic, Subscription: "deleted", Delivery: workload.AtLeastOnce,
		Receive: got.receive, Failed: func(err error) { failed <- err },
	})
	s.sendAll(t, c, topic, 0)
	must(t, "receiving", got.await(s.context(t), s.Messages))
	wait, refused := noticeWithin, c.DeleteTopic(s.context(t), topic)
	if refused != nil {
		wait = leftWithin // only the subscription may have been left
	}
	select {
	case err := <-failed:
		t.Log(err)
	case <-time.After(wait):
		if refused != nil {
			t.Skipf("a topic that has consumers is not deleted: %v", refused)
		}
		t.Fatal("the consumer did not fail")
	}
}
