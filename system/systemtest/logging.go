package systemtest

import (
	"os"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// leastLine is the length in bytes of the shortest line that a server could log for a message.
const leastLine = 64

// logging tests that the servers do not log each message: a log of messages, which most systems'
// own settings do not have, would take most of their time. Servers also log what they create, for
// the first messages and for other tests, so one quiet batch of several is enough.
func (s *suite) logging(t *testing.T) {
	nodes := slices.DeleteFunc(slices.Clone(s.nodes[s.level]),
		func(n system.Node) bool { return n.Log == "" })
	if len(nodes) == 0 {
		t.Skip("the servers have no logs here")
	}
	logs := func() (size int64) {
		for _, n := range nodes {
			info, err := os.Stat(n.Log)
			must(t, "looking at the log of "+n.Name, err)
			size += info.Size()
		}
		return size
	}
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	b := newArrivals()
	s.consumer(t, c, topic, "logging", 0, workload.AtLeastOnce, b)
	const batches = 4
	grown, most := int64(0), int64(s.Messages*leastLine)
	for batch := range batches {
		before := logs()
		s.sendAll(t, c, topic, batch)
		must(t, "receiving", b.await(s.context(t), (batch+1)*s.Messages))
		if grown = logs() - before; grown <= most {
			return
		}
	}
	t.Errorf("the servers logged %d bytes while %d messages passed; at most %d were expected",
		grown, s.Messages, most)
}
