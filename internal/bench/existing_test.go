package bench_test

import (
	"context"
	"fmt"
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

// visited is a simulated system with a shared topic: another application sends before and while
// plimsoll measures, and reads everything afterwards.
type visited struct {
	*sim.System
	partitions, before, during int

	others  sync.WaitGroup
	foreign int // other application's messages in the topic after plimsoll
	ours    int // plimsoll's messages in the topic then
}

// simulated is the part of a simulated cluster that the tests use.
type simulated interface {
	system.Cluster
	system.TopicFinder
}

type visitedCluster struct {
	simulated
	of *visited
}

const visitedTopic = "orders"

func (v *visited) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	connected, err := v.System.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	c := connected.(simulated)
	topic := system.Topic{Name: visitedTopic, Partitions: v.partitions}
	if err := c.CreateTopic(ctx, topic); err != nil {
		return nil, err
	}
	p, err := c.OpenProducer(ctx, system.ProducerOptions{Topic: topic})
	if err != nil {
		return nil, err
	}
	v.send(p, v.before)
	time.Sleep(time.Second)
	v.others.Go(func() {
		time.Sleep(2 * time.Second)
		for range v.during {
			v.send(p, 1)
			time.Sleep(10 * time.Millisecond)
		}
	})
	return visitedCluster{c, v}, nil
}

// ignored is a sender that waits for no answer.
type ignored struct{}

func (ignored) Complete(error) {}

func (v *visited) send(p system.Producer, n int) {
	for i := range n {
		m := &system.Message{Partition: int32(i % v.partitions), Payload: []byte("an order")}
		m.Bind(ignored{})
		p.Send(m)
	}
}

// Close first lets an independent consumer read the whole topic.
func (c visitedCluster) Close(ctx context.Context) error {
	v := c.of
	v.others.Wait()
	_, err := c.OpenConsumer(ctx, system.ConsumerOptions{
		Topic:        system.Topic{Name: visitedTopic, Partitions: v.partitions},
		Subscription: "independent",
		Receive: func(m system.Received) {
			if string(m.Payload) == "an order" {
				v.foreign++
			} else {
				v.ours++
			}
		}})
	if err != nil {
		return err
	}
	time.Sleep(time.Second)
	return c.simulated.Close(ctx)
}

// visit runs a workload on existing topics.
func visit(t *testing.T, v *visited, w *workload.Workload) (*result.Saved, error) {
	t.Helper()
	runs := t.TempDir()
	var dir string
	var ran error
	synctest.Test(t, func(t *testing.T) {
		v.System = sim.New(clock.Timers(), nil)
		job := jobOn(t, v.System, runs, w, map[string]string{"retain": "true"})
		job.System = v
		dir, ran = bench.Run(context.Background(), job, silent{})
		v.others.Wait()
	})
	if ran != nil {
		return nil, ran
	}
	s, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, nil
}

func visiting() *workload.Workload {
	w := load(500, 8*time.Second)
	w.Existing, w.Partitions, w.Subscriptions = []string{visitedTopic}, 1, 2
	return w
}

// In a topic with messages of others, before the run and during it, plimsoll counts only its own
// messages, and deletes none.
func TestTruthForeignMessagesAreNeitherCountedNorDeleted(t *testing.T) {
	v := &visited{partitions: 3, before: 500, during: 300}
	s, err := visit(t, v, visiting())
	if err != nil {
		t.Fatal(err)
	}
	if s.Run.State != result.Complete || s.Run.Load.Partitions != 3 ||
		s.Run.Counters.Acked != 4000 || s.Run.Counters.Received != 8000 {
		t.Errorf("%s, %d partitions, %+v", s.Run.State, s.Run.Load.Partitions, s.Run.Counters)
	}
	for _, l := range s.Run.Ledger.Subscriptions {
		if l.Foreign != 300 || l.Received != 4000 || l.Acked != 4000 || l.Lost != 0 ||
			l.Duplicate != 0 || l.Corrupt != 0 {
			t.Errorf("%+v", l)
		}
		if !strings.HasPrefix(l.Subscription, "plimsoll-") {
			t.Errorf("subscription %s may be somebody else's", l.Subscription)
		}
	}
	if proofs := int(s.Run.Startup.Proofs); v.foreign != 800 || v.ours != 4000+proofs {
		t.Errorf("afterwards the topic has %d messages of others and %d of plimsoll, which sent "+
			"%d and %d proofs", v.foreign, v.ours, 4000, proofs)
	}
	if n := s.Run.Summary.Series(result.EndToEnd).Count; n != 8000 {
		t.Errorf("%d end-to-end latencies", n)
	}
}

func TestTopicsThatAreNotThereAreRefused(t *testing.T) {
	w := visiting()
	w.Existing = []string{"bills"}
	if _, err := visit(t, &visited{partitions: 3}, w); err == nil ||
		!strings.Contains(err.Error(), "find topic bills") {
		t.Error(err)
	}
}

// refusing is a system that may refuse existing topics.
type refusing struct {
	system.System
	why func(system.Settings) string
}

func (r refusing) Describe() system.Description {
	d := r.System.Describe()
	d.RefuseExisting = r.why
	return d
}

func TestExistingTopicsAreRefusedWhereTheyCannotBeMeasured(t *testing.T) {
	job := jobOn(t, sim.New(clock.Timers(), nil), t.TempDir(), visiting(), nil)
	of := job.System
	for name, c := range map[string]struct {
		system system.System
		want   string
	}{
		"queues": {refusing{outside{of}, system.Always(system.Destructive)},
			"take messages that belong to others"},
		"another form":  {refusing{outside{of}, nil}, "a form that plimsoll gives them"},
		"started by us": {provisioning{of.(*sim.System)}, "give the target the endpoints"},
	} {
		job.System, job.Target.Endpoints = c.system, []string{"127.0.0.1:4222"}
		if name == "started by us" {
			job.Target.Endpoints, job.Target.Testbed.Nodes = nil, 3
		}
		if err := job.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// provisioning is a system whose servers plimsoll starts.
type provisioning struct{ *sim.System }

func (provisioning) Provision(context.Context, system.Provision) (system.Provisioned, error) {
	return nil, fmt.Errorf("not in this test")
}

func (provisioning) NodeNames(system.Provision) []string { return nil }
