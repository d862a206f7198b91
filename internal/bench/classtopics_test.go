package bench_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// postmark is a system that notes what comes to each topic, and drops the first 200 messages of the
// last partitions of one class's topics on their way to consumers.
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
		m.sizes[o.Topic.Name][len(r.Payload)]++
		drop := strings.Contains(o.Topic.Name, m.drops) && r.Partition == 5 && m.dropped < 200
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

// unlike returns a workload of two topics with 12 partitions and eight with 4.
func unlike(t *testing.T, more string) *workload.Workload {
	t.Helper()
	w, err := workload.Parse("w.yaml", []byte("{warmup: 0s, duration: 1s, durability: 4, load: "+
		"{rate: 1k/s}, "+more+"classes: [{name: order, share: 20%, size: 10KB, topics: 2, "+
		"partitions: 12}, {name: event, share: 80%, size: 1KB, topics: 8}]}"))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// charged is a system whose provider charges for partitions and for bytes.
type charged struct {
	*sim.System
	asked *[]system.Expected
}

func (c charged) Describe() system.Description {
	d := c.System.Describe()
	d.EstimateBill = func(_ system.Settings, _ *target.Target, l system.Expected) (system.Bill,
		bool) {
		*c.asked = append(*c.asked, l)
		return system.Bill{Requests: int64(l.Topics * l.Partitions),
			USD: float64(l.Messages * l.MessageBytes), Price: "a price"}, true
	}
	return d
}

// A run's bill is the sum over the kinds of its topics, and its memory follows from all lanes.
func TestEstimatesOfTopicsOfClasses(t *testing.T) {
	w := unlike(t, "")
	s := sim.New(clock.Timers(), nil)
	job := jobOn(t, s, t.TempDir(), w, nil)
	var asked []system.Expected
	job.System = charged{s, &asked}
	b, charges := job.EstimateBill()
	if !charges || b.Requests != 2*12+8*4 || b.USD != 200*10<<10+800<<10 || len(asked) != 2 ||
		asked[0].Topics != 2 || asked[1].Messages != 800 {
		t.Errorf("%+v, %v, asked for %+v", b, charges, asked)
	}
	memory := func(order, event int) int64 {
		w.Classes[0].Partitions, w.Classes[1].Partitions = order, event
		return job.Estimate().MemoryBytes
	}
	if got, least, most := memory(12, 4), memory(4, 4), memory(12, 12); got <= least ||
		got-least >= most-got {
		t.Errorf("%d bytes of memory, with 4 partitions %d and with 12 %d", got, least, most)
	}
}

// An audit asks for the partitions that each topic has, and for no others.
func TestAuditOfTopicsOfClasses(t *testing.T) {
	w := unlike(t, "audit: true, ")
	s := onSimAs(t, w, nil, func(job *bench.Job, s *sim.System) {
		job.System = amnesiac{System: s, gone: map[int]bool{3: true, 5: true}}
		job.Idle = time.Second
	})
	if n := s.Run.Ledger.GonePartitions; n != 10+2 {
		t.Errorf("%d partitions are gone, want the fourth of ten topics and the sixth of two", n)
	}
}

// Each class's rate and size arrive on its own topics and on no others, its account is exact, and
// what is lost on its topics is lost to it alone.
func TestTruthOfTopicsOfClasses(t *testing.T) {
	w, err := workload.Parse("w.yaml", []byte("{producers: 3, consumers: 2, warmup: 0s, "+
		"duration: 10s, durability: 4, load: {rate: 1k/s}, keys: random, classes: [{name: event, "+
		"share: 75%, size: 200B, topics: 3, keys: none}, {name: order, share: 20%, size: 2000B, "+
		"topics: 2, partitions: 6}, {name: audit, share: 5%, size: 64B, topics: 1, "+
		"partitions: 1}]}"))
	if err != nil {
		t.Fatal(err)
	}
	p := &postmark{drops: "-order-", topics: map[string]int{}, sizes: map[string]map[int]int{}}
	saved := onSimAs(t, w, nil, func(job *bench.Job, s *sim.System) {
		p.System = s
		job.System, job.Idle = p, time.Second
	})
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
	acked := []int64{7500, 2000, 500}
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
		if !strings.Contains(lost.Topic, "-order-") || lost.Producer >= 3 || lost.Partition != 5 {
			t.Errorf("lost: %+v", lost)
		}
	}
}
