package systemtest

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// existing tests that plimsoll can measure another application's topic: a subscription begins at
// the topic's end, for all of its consumers, and is deleted after them. The other application
// misses no message.
func (s *suite) existing(t *testing.T) {
	if why := s.System.Describe().WhyNotExisting(s.options[s.level].Settings); why != "" {
		t.Skip("the system measures only topics that plimsoll creates: ", why)
	}
	c, theirs := s.connect(t), s.connect(t)
	if _, embedded := s.System.(system.Embedded); embedded {
		theirs = c // each connection is a cluster of its own
	}
	finder, able := c.(system.TopicFinder)
	if !able {
		t.Fatal("the system shares topics and cannot find them")
	}
	if _, err := finder.FindTopic(s.context(t), numbered()); err == nil {
		t.Error("a topic that does not exist was found")
	}
	topic, others := s.topic(t, theirs, partitions), newArrivals()
	s.consumer(t, theirs, topic, "others", 0, workload.AtLeastOnce, others)
	s.sendAll(t, theirs, topic, 1)

	found, err := finder.FindTopic(s.context(t), topic.Name)
	must(t, "finding the topic", err)
	if found != topic {
		t.Fatalf("found %+v, which is %+v", found, topic)
	}
	ours := newArrivals()
	var open []system.Consumer
	for i := range 2 {
		open = append(open, s.consumerFunc(t, c, system.ConsumerOptions{
			Topic: found, Subscription: "ours", Index: i, Delivery: workload.AtLeastOnce,
			AtEnd: true, Receive: ours.receive, Failed: ours.fail}))
	}
	s.sendAll(t, c, found, 2)
	s.sendAll(t, theirs, topic, 3)
	must(t, "receiving", ours.await(s.context(t), 2*s.Messages))
	for message := range ours.seen {
		if message.producer == 1 {
			t.Fatalf("%v was sent before the subscription began", message)
		}
	}
	for _, one := range open {
		s.close(t, one)
	}
	for range 2 { // the second time it no longer exists
		must(t, "deleting the subscription", finder.DeleteSubscription(s.context(t), found, "ours"))
	}
	must(t, "the others' receiving", others.await(s.context(t), 3*s.Messages))
	if n := others.distinct(); n != 3*s.Messages {
		t.Errorf("others received %d messages of %d", n, 3*s.Messages)
	}
}
