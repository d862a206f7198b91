package fault

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/systems/kafka"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// comeBack bounds the wait until servers serve again.
const comeBack = 3 * time.Minute

// brokers is a testbed of three real servers.
type brokers struct {
	system   system.System
	level    workload.Level
	settings []string
	bed      *testbed.Testbed
	injector *Injector
	topic    system.Topic
}

func startBrokers(t *testing.T, b *brokers, faults ...workload.Fault) {
	t.Helper()
	base := t.TempDir()
	bed, err := testbed.Up(t.Context(), testbed.Options{
		Base: base, Provisioner: b.system.(system.Provisioner), Prepare: Prepare(faults),
		Provision: system.Provision{
			Nodes: 3, LogDir: base, Durability: b.level,
			Settings: systemtest.Settings(t, b.system, b.settings...),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bed.Close(context.Background()); err != nil {
			t.Error(err)
		}
		nothingLeft(t, base)
	})
	b.bed, b.injector, b.topic = bed, New(bed, 1), system.Topic{Name: "faults", Partitions: 3}
}

// connect waits until the servers accept connections.
func (b *brokers) connect(t *testing.T) system.Cluster {
	t.Helper()
	for end := time.Now().Add(comeBack); ; time.Sleep(time.Second) {
		options := systemtest.OptionsOf(t, b.system, b.bed.Cluster(), b.level, b.settings...)
		c, err := b.system.Connect(t.Context(), options)
		if err == nil {
			return c
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// sender records the acknowledged messages.
type sender struct {
	mu    sync.Mutex
	acked map[uint64]bool
	wait  sync.WaitGroup
}

type answered struct {
	*sender
	number uint64
}

func (a answered) Complete(err error) {
	a.mu.Lock()
	if err == nil {
		a.acked[a.number] = true
	}
	a.mu.Unlock()
	a.wait.Done()
}

// publish sends messages until ctx ends, and returns the numbers of the acknowledged ones.
func publish(ctx context.Context, p system.Producer) map[uint64]bool {
	s := &sender{acked: map[uint64]bool{}}
	// A Send that waits for servers that stand still ends with the producer.
	defer context.AfterFunc(ctx, func() { _ = p.Close(ctx) })()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for n := uint64(0); ; n++ {
		select {
		case <-ctx.Done():
			_ = p.Close(ctx) // messages without an acknowledgement have failed now
			s.wait.Wait()
			return s.acked
		case <-ticker.C:
		}
		payload := binary.LittleEndian.AppendUint64(make([]byte, 0, 1000), n)[:1000]
		m := &system.Message{Payload: payload, Partition: int32(n % 3)}
		m.Bind(answered{s, n})
		s.wait.Add(1)
		p.Send(m)
	}
}

// missing reads the topic from its beginning, and returns how many of the acknowledged
// messages are not in it.
func (b *brokers) missing(t *testing.T, c system.Cluster, acked map[uint64]bool) int {
	t.Helper()
	var mu sync.Mutex
	left, last := map[uint64]bool{}, time.Now()
	for n := range acked {
		left[n] = true
	}
	o := system.ConsumerOptions{
		Topic: b.topic, Subscription: "all", Delivery: workload.AtLeastOnce,
		Receive: func(m system.Received) {
			mu.Lock()
			defer mu.Unlock()
			delete(left, binary.LittleEndian.Uint64(m.Payload))
			last = time.Now()
		},
		Failed: func(err error) { t.Error(err) },
	}
	open := func() (system.Consumer, error) {
		consumer, _, err := c.(system.Replayer).OpenReplay(t.Context(), o)
		return consumer, err
	}
	consumer, err := open()
	for end := time.Now().Add(comeBack); err != nil; consumer, err = open() {
		if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the partitions' leaders are elected one after another
	}
	defer consumer.Close(context.Background())
	for {
		mu.Lock()
		n, quiet := len(left), time.Since(last)
		mu.Unlock()
		if n == 0 || quiet > 15*time.Second {
			return n
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Kafka syncs a message on a majority before it acknowledges it at level 1, so a power cut
// of all servers loses no acknowledged message. Level 2 does not promise that.
func TestKafkaComesBackFromAPowerCutOfAll(t *testing.T) {
	cut := workload.Fault{Do: workload.FaultPowerCut, Target: workload.TargetAll}
	home, err := systemtest.QuickJava(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("JAVA_HOME", home)
	if err := maven.Available(); err != nil {
		t.Skip(err)
	}
	toy := Cluster{
		Provisioner: toys{}, Provision: system.Provision{Nodes: 3}, Base: t.TempDir(),
	}
	if err := Check(t.Context(), []workload.Fault{cut}, toy); err != nil {
		t.Skip(err)
	}
	b := &brokers{
		system: kafka.New(), level: workload.SyncSync,
		settings: []string{"security", "plaintext"},
	}
	startBrokers(t, b, cut)
	c := b.connect(t)
	if err := c.CreateTopic(t.Context(), b.topic); err != nil {
		t.Fatal(err)
	}
	p, err := c.OpenProducer(t.Context(), system.ProducerOptions{
		Topic: b.topic, InFlight: 1000, MessageMax: 1000, Delivery: workload.AtLeastOnce,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	published := make(chan map[uint64]bool)
	go func() { published <- publish(ctx, p) }()
	time.Sleep(3 * time.Second)
	done, err := b.injector.Inject(t.Context(), cut, "")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	acked := <-published
	_ = c.Close(t.Context())
	began := time.Now()
	if err := b.injector.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	c = b.connect(t)
	defer c.Close(t.Context())
	lost := b.missing(t, c, acked)
	t.Logf("%s; connected again %s after; of %d acknowledged messages %d were lost",
		done.Sentence, time.Since(began), len(acked), lost)
	if lost > 0 || len(acked) < 100 {
		t.Errorf("of %d acknowledged messages %d were lost", len(acked), lost)
	}
}
