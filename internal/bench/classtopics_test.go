package bench_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// postmark is a system that notes what comes to each topic, and drops every tenth message of the
// topics of one class on its way to consumers.
type postmark struct {
	*sim.System
	drops string // a part of the topics' names

	mu      sync.Mutex
	topics  map[string]int         // partitions
	sizes   map[string]map[int]int // messages of a topic, by size
	dropped int64
}

func (p *postmark) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c, err := p.System.Connect(ctx, o)
	return &marking{c, p}, err
}

type marking struct {
	system.Cluster
	*postmark
}

func (m *marking) CreateTopic(ctx context.Context, t system.Topic) error {
	m.mu.Lock()
	m.topics[t.Name], m.sizes[t.Name] = t.Partitions, map[int]int{}
	m.mu.Unlock()
	return m.Cluster.CreateTopic(ctx, t)
}

func (m *marking) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	receive := o.Receive
	o.Receive = func(r system.Received) {
		if len(r.Payload) == workload.StampBytes { // the proof of a partition
			receive(r)
			return
		}
		m.mu.Lock()
		sizes := m.sizes[o.Topic.Name]
		sizes[len(r.Payload)]++
		drop := strings.Contains(o.Topic.Name, m.drops) && sizes[len(r.Payload)]%10 == 0
		if drop {
			m.dropped++
		}
		m.mu.Unlock()
		if !drop {
			receive(r)
		}
	}
	return m.Cluster.OpenConsumer(ctx, o)
}

// Each class's rate and size arrive on its own topics and on no others, its account is exact, and
// what is lost on its topics is lost to it alone.
func TestTruthOfTopicsOfClasses(t *testing.T) {
	w, err := workload.Parse("w.yaml", []byte("{producers: 3, consumers: 2, warmup: 0s, "+
		"duration: 10s, durability: 4, load: {rate: 1k/s}, keys: random, classes: [{name: order, "+
		"share: 20%, size: 2000B, topics: 2, partitions: 6}, {name: event, share: 75%, size: "+
		"200B, topics: 3, keys: none}, {name: audit, share: 5%, size: 64B, topics: 1, "+
		"partitions: 1}]}"))
	if err != nil {
		t.Fatal(err)
	}
	p := &postmark{drops: "-order-", topics: map[string]int{}, sizes: map[string]map[int]int{}}
	runs := t.TempDir()
	var dir string
	synctest.Test(t, func(t *testing.T) {
		p.System = sim.New(clock.Timers(), nil)
		job := jobOn(t, p.System, runs, w, nil)
		job.System, job.Idle = p, time.Second
		if dir, err = bench.Run(context.Background(), job, silent{}); err != nil {
			t.Fatal(err)
		}
	})
	saved, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, saved)
	planned := map[string]struct{ partitions, size, messages int }{
		"-order-0": {6, 2000, 1000}, "-order-1": {6, 2000, 1000}, "-event-0": {4, 200, 2500},
		"-event-1": {4, 200, 2500}, "-event-2": {4, 200, 2500}, "-audit-0": {1, 64, 500},
	}
	if len(p.topics) != len(planned) {
		t.Errorf("the topics are %v", p.topics)
	}
	for topic, partitions := range p.topics {
		want := planned[topic[len(topic)-len("-order-0"):]]
		if sizes := p.sizes[topic]; partitions != want.partitions || len(sizes) != 1 ||
			sizes[want.size] != want.messages {
			t.Errorf("%s: %d partitions, messages by size %v, want %+v", topic, partitions,
				sizes, want)
		}
	}
	checkClasses(t, &saved.Run, p.dropped)
}

func checkClasses(t *testing.T, r *result.Run, dropped int64) {
	t.Helper()
	acked := []int64{2000, 7500, 500}
	if len(r.Classes) != len(acked) || dropped != 200 || r.Counters.Scheduled != 10_000 {
		t.Fatalf("%+v, %d dropped of %d", r.Classes, dropped, r.Counters.Scheduled)
	}
	for i, c := range r.Classes {
		lost := int64(0)
		if c.Name == "order" {
			lost = dropped
		}
		if c.Acked != acked[i] || c.Lost+c.Unread != lost || c.Publish.Count != acked[i] ||
			c.EndToEnd.Count != acked[i]-lost || c.EndToEnd.Missing.NotReceived != lost ||
			math.Abs(c.AckedRate-float64(acked[i])/10) > 0.1 || c.Producers != 3 {
			t.Errorf("%+v, want %d messages, %d of them lost", c, acked[i], lost)
		}
	}
	l := r.Ledger.Subscriptions[0]
	if l.Corrupt+l.Misplaced+l.Foreign > 0 || l.Lost+l.Unread != dropped {
		t.Errorf("%+v", l)
	}
	for _, lost := range l.LostRanges {
		if !strings.Contains(lost.Topic, "-order-") {
			t.Errorf("lost on %s", lost.Topic)
		}
	}
}
