package systemtest

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// soon is how often clients look for partitions, at most, for a test to wait for that.
const soon = 2 * time.Second

// added gives a topic more partitions while it has a producer and a consumer. Messages to all of
// them are acknowledged, and the subscription receives all: by the consumer that was there before
// or, where consumers look for partitions too seldom for a test, by the one that comes after it.
func (s *suite) added(t *testing.T) {
	if why := s.System.Describe().WhyNoAdding(s.options[s.level].Settings); why != "" {
		t.Skip(why)
	}
	c := s.connect(t)
	adder, able := c.(system.PartitionAdder)
	if !able {
		t.Fatal("Description.RefuseAdding refuses nothing, and the cluster is no PartitionAdder")
	}
	before := s.topic(t, c, partitions/2)
	grown := system.Topic{Name: before.Name, Partitions: partitions}
	b := newArrivals()
	first := s.consumer(t, c, before, "grows", 0, workload.AtLeastOnce, b)
	p := s.sender(t, c, grown, 0)
	ctx := s.context(t)
	must(t, "sending", p.send(ctx, 0, nil, 64))
	must(t, "receiving", b.await(ctx, 1))
	must(t, "adding partitions", adder.AddPartitions(ctx, []system.Topic{grown}))
	must(t, "sending", p.sendMany(ctx, s.Messages/4))
	must(t, "waiting for acknowledgements", p.await(ctx))
	p.mustAll(t)
	d := s.System.Describe()
	if d.Discovery == "" || s.options[s.level].Settings.Duration(d.Discovery) <= soon {
		must(t, "receiving", b.await(ctx, 1+s.Messages/4))
	}
	s.close(t, first)
	s.consumer(t, c, grown, "grows", 0, workload.AtLeastOnce, b)
	must(t, "receiving", b.await(ctx, 1+s.Messages/4))
	evidence, err := c.ReadDurability(ctx, []system.Topic{grown})
	must(t, "reading the durability of a topic with added partitions", err)
	if evidence.Level != s.level {
		t.Errorf("the topic has level %d with the added partitions, and %d without", evidence.Level,
			s.level)
	}
}
