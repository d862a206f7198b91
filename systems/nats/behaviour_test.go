package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func connect(t *testing.T, o system.Options) system.Cluster {
	t.Helper()
	c, err := New().Connect(within(t, 20*time.Second), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(within(t, 10*time.Second)) })
	return c
}

// mustSay fails the test unless the error contains all the words.
func mustSay(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; it should say %q", words)
		return
	}
	t.Log(err)
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

// TestUnsynced and TestSynced each share a cluster among subtests that leave it intact.
func TestUnsynced(t *testing.T) {
	e := provision(t, workload.SyncAsync, settings(t))
	for name, test := range map[string]func(*testing.T, *embedded){
		"level 1 is contradicted": func(t *testing.T, e *embedded) {
			contradicted(t, e, workload.SyncSync, "durability level 1 asks for", "always", "2m0s",
				"n1")
		},
		"level 3 is contradicted": func(t *testing.T, e *embedded) {
			contradicted(t, e, workload.AsyncSync, "durability level 3 asks for", "always", "2m0s")
		},
		"without the system account": withoutTheSystemAccount,
		"failures to connect":        connectTellsFailuresApart,
		"one dead endpoint":          oneDeadEndpointOfFour,
		"deleted subscription":       failedHearsOfADeletedSubscription,
		"deleted between requests":   deletedBetweenRequests,
		"full store":                 func(t *testing.T, e *embedded) { fullStoreRefuses(t, e) },
		"full store, batches":        func(t *testing.T, e *embedded) { fullStoreRefuses(t, e, gathering) },
		"a stream without batches":   batchesMustBeAllowed,
		"batches by hand":            batchesByHand,
		"too large":                  func(t *testing.T, e *embedded) { tooLarge(t, e) },
		"too large, batches":         func(t *testing.T, e *embedded) { tooLarge(t, e, gathering) },
		"a crowd shares connections": crowdSharesConnections,
		"a second answer":            secondAnswerFindsNobody,
		"topics share streams":       topicsShareStreams,
	} {
		t.Run(name, func(t *testing.T) { test(t, e) })
	}
}

func TestSynced(t *testing.T) {
	e := provision(t, workload.SyncSync, settings(t))
	t.Run("level 2 is contradicted", func(t *testing.T) {
		contradicted(t, e, workload.SyncAsync, "durability level 2 asks for", "anything but always",
			"reports always")
	})
	t.Run("other copies", func(t *testing.T) { otherCopiesAreRefused(t, e) })
}

// contradicted requests a level of a cluster that gives another.
func contradicted(t *testing.T, e *embedded, asked workload.Level, words ...string) {
	cl := connect(t, optionsOf(e, asked, settings(t)))
	topic := system.Topic{Name: fmt.Sprintf("mismatch-%d", asked), Partitions: 1}
	if err := cl.CreateTopic(within(t, 20*time.Second), topic); err != nil {
		t.Fatal(err)
	}
	_, err := cl.ReadDurability(within(t, 20*time.Second),
		[]system.Topic{topic})
	mustSay(t, err, words...)
}

// otherCopiesAreRefused checks streams that were created without the driver against the level.
func otherCopiesAreRefused(t *testing.T, e *embedded) {
	s := settings(t)
	ctx := within(t, 30*time.Second)
	for _, c := range []struct {
		asked  workload.Level
		stream jetstream.StreamConfig
		words  []string
	}{
		{workload.SyncSync, jetstream.StreamConfig{Name: "one", Replicas: 1},
			[]string{"level 1", "num_replicas 3", "num_replicas 1"}},
		{workload.SyncSync, jetstream.StreamConfig{Name: "memory", Replicas: 3,
			Storage: jetstream.MemoryStorage}, []string{"storage file", "storage Memory"}},
		{workload.AsyncSync, jetstream.StreamConfig{Name: "three", Replicas: 3},
			[]string{"level 3", "num_replicas 1", "num_replicas 3"}},
		{workload.AsyncSync, jetstream.StreamConfig{Name: "async", Replicas: 1,
			PersistMode: jetstream.AsyncPersistMode},
			[]string{"persist_mode default", "persist_mode Async"}},
		{workload.AsyncSync, jetstream.StreamConfig{Name: "alone", Replicas: 1},
			[]string{"alone-mirror-1", "stream not found"}},
	} {
		cl := connect(t, optionsOf(e, c.asked, s)).(*cluster)
		if _, err := cl.js.CreateStream(ctx, c.stream); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		_, err := cl.ReadDurability(short, []system.Topic{{Name: c.stream.Name, Partitions: 1}})
		cancel()
		mustSay(t, err, c.words...)
	}
}

func withoutTheSystemAccount(t *testing.T, e *embedded) {
	s := settings(t)
	o := optionsOf(e, workload.SyncAsync, s)
	o.Credentials.AdminUser, o.Credentials.AdminPassword = "", ""
	c := connect(t, o)
	topic := system.Topic{Name: "plain", Partitions: 1}
	if err := c.CreateTopic(within(t, 20*time.Second), topic); err != nil {
		t.Fatal(err)
	}
	got, err := c.ReadDurability(within(t, 20*time.Second),
		[]system.Topic{topic})
	if err != nil || got.Level != workload.SyncAsync {
		t.Fatalf("level 2: %+v, %v", got, err)
	}
	if last := got.Facts[len(got.Facts)-1]; last.Name != factSync ||
		!strings.Contains(last.Value, unreadable) {
		t.Errorf("no fact says that the interval was not readable: %+v", got.Facts)
	}
	if v, err := c.ServerVersions(within(t, 20*time.Second)); err != nil ||
		len(v) != 1 {
		t.Errorf("versions %v, %v", v, err)
	}
	o.Durability = workload.SyncSync
	_, err = connect(t, o).ReadDurability(within(t, 20*time.Second),
		[]system.Topic{topic})
	mustSay(t, err, "level 1", "admin_user")
	o.Durability = workload.AsyncAsync
	err = connect(t, o).CreateTopic(within(t, 20*time.Second),
		system.Topic{Name: "tagged", Partitions: 1})
	mustSay(t, err, "level 4", "admin_user")
}

func connectTellsFailuresApart(t *testing.T, e *embedded) {
	s := settings(t)
	plain, err := server.NewServer(
		&server.Options{Host: loopback, Port: -1, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	plain.Start()
	defer func() { plain.Shutdown(); plain.WaitForShutdown() }()
	if !plain.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server did not start")
	}
	good := optionsOf(e, workload.SyncAsync, s)
	for _, c := range []struct {
		name   string
		change func(*system.Options)
		words  []string
	}{
		{"password", func(o *system.Options) { o.Credentials.Password = "geheim" },
			[]string{"refuses the user or password"}},
		{"host", func(o *system.Options) { o.Endpoints = []string{"no-such-host.invalid:4222"} },
			[]string{"no host no-such-host.invalid"}},
		{"no jetstream", func(o *system.Options) { o.Endpoints = []string{plain.Addr().String()} },
			[]string{"JetStream is not enabled"}},
		{"system account", func(o *system.Options) {
			o.Credentials.User, o.Credentials.Password = e.Credentials().AdminUser, e.Credentials().AdminPassword
		}, []string{"JetStream is not enabled for this user's account"}},
		{"secret in the endpoint",
			func(o *system.Options) {
				o.Endpoints = []string{
					"nats://me:geheim@127.0.0.1:1"}
			}, []string{"credentials"}},
		{"none", func(o *system.Options) { o.Endpoints = nil }, []string{"no endpoints"}},
		{"level", func(o *system.Options) { o.Durability = 5 }, []string{"levels are 1 to 4"}},
		{"memory", func(o *system.Options) {
			o.Durability, o.Settings = workload.SyncSync, settings(t,
				target.Setting{Name: setStorage, Value: valueMemory})
		}, []string{"syncs to disk", "memory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := good
			c.change(&o)
			start := time.Now()
			cl, err := New().Connect(within(t, 20*time.Second), o)
			if err == nil {
				cl.Close(within(t, 10*time.Second))
			}
			mustSay(t, err, c.words...)
			if err != nil &&
				(strings.Contains(err.Error(), "geheim") || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%q tells a secret or is not one sentence", err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// oneDeadEndpointOfFour connects although the first endpoint is down.
func oneDeadEndpointOfFour(t *testing.T, e *embedded) {
	s := settings(t)
	o := optionsOf(e, workload.SyncAsync, s)
	o.Endpoints = append([]string{"127.0.0.1:1"}, o.Endpoints...)
	connect(t, o)
}

// outcome counts the results of messages.
type outcome struct {
	message system.Message
	ends    atomic.Int32
	acked   atomic.Bool
	unknown atomic.Bool
	room    chan struct{}
}

func (o *outcome) Complete(err error) {
	if o.ends.Add(1) == 1 {
		o.acked.Store(err == nil)
		o.unknown.Store(errors.Is(err, system.ErrUnknown))
		<-o.room
	}
}

// TestNodeKilledWhileSending ends the stream's leader while messages are sent, each by itself and in
// batches. Every message ends once, the stream continues with another leader, and no acknowledged
// message is lost.
func TestNodeKilledWhileSending(t *testing.T) {
	t.Run("each", func(t *testing.T) { killedWhileSending(t) })
	t.Run("batches", func(t *testing.T) { killedWhileSending(t, gathering) })
}

func killedWhileSending(t *testing.T, given ...target.Setting) {
	const total, inFlight = 4000, 200
	s := settings(t, append(given, target.Setting{Name: setAckTimeout, Value: "1s"})...)
	e := provision(t, workload.SyncAsync, s)
	c := connect(t, optionsOf(e, workload.SyncAsync, s)).(*cluster)
	ctx := within(t, 40*time.Second)
	topic := system.Topic{Name: "killed", Partitions: 1}
	if err := c.CreateTopic(ctx, topic); err != nil {
		t.Fatal(err)
	}
	p, err := c.OpenProducer(ctx, system.ProducerOptions{Topic: topic, InFlight: inFlight})
	if err != nil {
		t.Fatal(err)
	}
	room := make(chan struct{}, inFlight)
	all := make([]*outcome, total)
	killed := make(chan struct{})
	for i := range all {
		if i == total/4 {
			info, err := c.streamInfo(ctx, topic.Name)
			if err != nil {
				t.Fatal(err)
			}
			go func() { defer close(killed); e.node(info.Cluster.Leader).server.Shutdown() }()
		}
		all[i] = &outcome{room: room}
		all[i].message.Payload = make([]byte, 100)
		all[i].message.Bind(all[i])
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			t.Fatalf("message %d found no room", i)
		}
		p.Send(&all[i].message)
	}
	<-killed
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	acked := uint64(0)
	for i, o := range all {
		if n := o.ends.Load(); n != 1 {
			t.Errorf("message %d ended %d times", i, n)
		}
		if o.acked.Load() {
			acked++
		}
	}
	info, err := c.streamInfo(ctx, topic.Name)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d acknowledged, %d stored", acked, total, info.State.Msgs)
	if info.State.Msgs < acked {
		t.Errorf("%d were acknowledged and %d are stored", acked, info.State.Msgs)
	}
	if acked < total/4-inFlight {
		t.Errorf("only %d were acknowledged", acked)
	}
}

func (e *embedded) node(name string) *node {
	for _, n := range e.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// TestConnectionLost ends all servers with messages in flight.
func TestConnectionLost(t *testing.T) {
	t.Run("each", func(t *testing.T) { connectionLost(t) })
	t.Run("batches", func(t *testing.T) { connectionLost(t, gathering) })
}

func connectionLost(t *testing.T, given ...target.Setting) {
	s := settings(t, append(given, target.Setting{Name: setAckTimeout, Value: "500ms"},
		target.Setting{Name: setReconnectBuffer, Value: "0"})...)
	e := provision(t, workload.SyncAsync, s)
	c := connect(t, optionsOf(e, workload.SyncAsync, s))
	ctx := within(t, 30*time.Second)
	topic := system.Topic{Name: "lost", Partitions: 1}
	if err := c.CreateTopic(ctx, topic); err != nil {
		t.Fatal(err)
	}
	p, err := c.OpenProducer(ctx, system.ProducerOptions{Topic: topic, InFlight: 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	room := make(chan struct{}, 10)
	all := make([]*outcome, 100)
	for i := range all {
		all[i] = &outcome{room: room}
		all[i].message.Bind(all[i])
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			t.Fatalf("message %d found no room", i)
		}
		p.Send(&all[i].message)
	}
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for i, o := range all {
		if n := o.ends.Load(); n != 1 || o.acked.Load() {
			t.Errorf("message %d ended %d times, acknowledged %v", i, n, o.acked.Load())
		}
	}
}

// fullStoreRefuses fills a stream up to its limit: further messages are refused, and no
// acknowledged message is dropped.
func fullStoreRefuses(t *testing.T, e *embedded, given ...target.Setting) {
	const total = 300
	s := settings(t, append(given, target.Setting{Name: setMaxBytes, Value: "1MB"})...)
	c := connect(t, optionsOf(e, workload.SyncAsync, s)).(*cluster)
	ctx := within(t, 30*time.Second)
	topic := system.Topic{Name: fmt.Sprintf("full-%d", len(given)), Partitions: 1}
	if err := c.CreateTopic(ctx, topic); err != nil {
		t.Fatal(err)
	}
	p, err := c.OpenProducer(ctx, system.ProducerOptions{Topic: topic, InFlight: total})
	if err != nil {
		t.Fatal(err)
	}
	room := make(chan struct{}, total)
	all := make([]*outcome, total)
	for i := range all {
		room <- struct{}{}
		all[i] = &outcome{room: room}
		all[i].message.Payload = make([]byte, 10<<10)
		all[i].message.Bind(all[i])
		p.Send(&all[i].message)
		if i%30 == 29 {
			time.Sleep(2 * lingering) // the next is in another batch
		}
	}
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	acked := uint64(0)
	for _, o := range all {
		if o.acked.Load() {
			acked++
		}
	}
	info, err := c.streamInfo(ctx, topic.Name)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d acknowledged, %d stored", acked, total, info.State.Msgs)
	if acked == 0 || acked == total || info.State.Msgs != acked {
		t.Errorf("%d acknowledged and %d stored of %d", acked, info.State.Msgs, total)
	}
}

// TestClustersSideBySide starts clusters side by side, so that they would meet if
// they could, and stops each twice.
func TestClustersSideBySide(t *testing.T) {
	s := settings(t)
	var wg sync.WaitGroup
	for range 3 {
		e := provision(t, workload.SyncAsync, s)
		wg.Go(func() {
			for range 2 {
				if err := e.Stop(within(t, 20*time.Second)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// tooLarge sends a message that is too large for the servers: it is refused once, and the producer
// goes on.
func tooLarge(t *testing.T, e *embedded, given ...target.Setting) {
	c := connect(t, optionsOf(e, workload.SyncAsync, settings(t, given...)))
	ctx := within(t, 30*time.Second)
	topic := system.Topic{Name: fmt.Sprintf("large-%d", len(given)), Partitions: 1}
	if err := c.CreateTopic(ctx, topic); err != nil {
		t.Fatal(err)
	}
	_, err := c.OpenProducer(ctx,
		system.ProducerOptions{Topic: topic, InFlight: 1, MessageMax: 2 << 20})
	mustSay(t, err, "2097152 bytes", setMaxPayload)
	p, err := c.OpenProducer(ctx, system.ProducerOptions{Topic: topic, InFlight: 1})
	if err != nil {
		t.Fatal(err)
	}
	room := make(chan struct{}, 3)
	var all [3]outcome
	for i, size := range []int{1, 2 << 20, 1} {
		room <- struct{}{}
		all[i].room = room
		all[i].message.Payload = make([]byte, size)
		all[i].message.Bind(&all[i])
		p.Send(&all[i].message)
	}
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, true} {
		one := &all[i]
		if n, acked := one.ends.Load(), one.acked.Load(); n != 1 || acked != want ||
			one.unknown.Load() {
			t.Errorf("message %d ended %d times, acknowledged %v, or its end is unknown", i, n, acked)
		}
	}
}
