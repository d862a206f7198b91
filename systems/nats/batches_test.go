package nats

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// lingering is how long the producers of these tests gather messages.
const lingering = 5 * time.Millisecond

var gathering = target.Setting{Name: setLinger, Value: lingering.String()}

// An answer without the batch's name is that of a server that took the last message alone.
func TestReadBatchAck(t *testing.T) {
	for _, c := range []struct {
		name, data string
		unknown    bool
		words      []string // of the error; nil: the batch was taken
	}{
		{"taken", `{"stream":"s","seq":7,"batch":"b1","count":3}`, false, nil},
		{"refused", `{"stream":"s","seq":0,"error":{"code":400,"err_code":10176,` +
			`"description":"batch publish is incomplete"}}`, false,
			[]string{"refused", "incomplete", "10176"}},
		{"an old server", `{"stream":"s","seq":7}`, true, []string{"2.12", "set linger: 0s"}},
		{"another batch", `{"stream":"s","seq":7,"batch":"b2","count":3}`, true, []string{"2.12"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := readBatchAck(&nats.Msg{Data: []byte(c.data)}, "b1")
			if c.words == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			mustSay(t, err, c.words...)
			if errors.Is(err, system.ErrUnknown) != c.unknown {
				t.Errorf("unknown: %t", !c.unknown)
			}
		})
	}
}

// What producers gather is one batch: the servers acknowledge it once, at every level.
func TestBatchesAreOne(t *testing.T) {
	for _, level := range []workload.Level{workload.SyncAsync, workload.AsyncAsync} {
		e := provision(t, level, settings(t))
		s := settings(t, target.Setting{Name: setLinger, Value: "50ms"})
		c := connect(t, optionsOf(e, level, s)).(*cluster)
		topic := systemtest.Topic(t, c, "one", 2)
		k, err := c.producing.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		answers := 0
		at := homeOf(s, topic.Name)
		p := newBatching(k, c, []string{at.subject(0), at.subject(1)}, system.ProducerOptions{
			InFlight: 100, Answered: func(time.Duration) { answers++ }})
		var all []*ended
		for i := range 20 {
			e := &ended{done: make(chan error, 1)}
			e.Partition, e.Payload = int32(i%2), []byte("x")
			e.Bind(e)
			all = append(all, e)
			p.Send(&e.Message)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, one := range all {
			if err := <-one.done; err != nil {
				t.Errorf("message %d: %v", i, err)
			}
		}
		info, err := c.streamInfo(t.Context(), topic.Name)
		if err != nil {
			t.Fatal(err)
		}
		if answers != 1 || info.State.Msgs != 20 {
			t.Errorf("level %d: %d answers, %d messages stored", level, answers, info.State.Msgs)
		}
		if _, err := c.ReadDurability(t.Context(), []system.Topic{topic}); err != nil {
			t.Error(err)
		}
	}
}

// batchesMustBeAllowed gathers for a stream that exists and takes no batches.
func batchesMustBeAllowed(t *testing.T, e *embedded) {
	c := connect(t, optionsOf(e, workload.SyncAsync, settings(t, gathering))).(*cluster)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := c.js.CreateStream(ctx, jetstream.StreamConfig{Name: "plain-stream", Replicas: 3,
		Subjects: []string{"plain-stream.*"}}); err != nil {
		t.Fatal(err)
	}
	topic := system.Topic{Name: "plain-stream", Partitions: 1}
	_, err := c.ReadDurability(ctx, []system.Topic{topic})
	mustSay(t, err, "plain-stream", "allow_atomic", "set linger: 0s")
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	err = <-sent(p, 0).done
	mustSay(t, err, "refused", "publish is disabled")
}

// batchesByHand answers batches in place of a stream.
func batchesByHand(t *testing.T, e *embedded) {
	const refusal = `{"error":{"code":503,"err_code":10023,"description":"no room"},"stream":"by-hand"}`
	for _, c := range []struct {
		name    string
		partly  bool // the stream has one replica, which may have stored a part of what it refused
		answer  func(b *batching, end *nats.Msg) error
		unknown bool
		word    string
	}{
		{"refused as a whole", false, respond(refusal), false, "no room"},
		{"refused, perhaps in part", true, respond(refusal), true, "no room"},
		{"the connection is lost", false, func(b *batching, _ *nats.Msg) error {
			b.disconnected()
			return nil
		}, true, "connection was lost"},
		{"no answer", false, func(*batching, *nats.Msg) error { return nil }, true, "within ack_timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := settings(t, gathering, target.Setting{Name: setAckTimeout, Value: "500ms"})
			cl := connect(t, optionsOf(e, workload.SyncAsync, s)).(*cluster)
			ctx := within(t, 20*time.Second)
			b, asked := batchesTo(t, ctx, cl, "batches.by.hand")
			b.partly = c.partly
			if err := unended(b); !errors.Is(err, errUnended) || errors.Is(err, system.ErrUnknown) {
				t.Errorf("without its end: %v", err)
			}
			_, _ = asked.NextMsgWithContext(ctx) // the first of that batch
			both := []*ended{sent(b, 0), sent(b, 0)}
			first, err1 := asked.NextMsgWithContext(ctx)
			end, err2 := asked.NextMsgWithContext(ctx)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			if first.Reply != "" || first.Header.Get(headerCommit) != "" ||
				end.Header.Get(headerCommit) != "1" || end.Header.Get(headerSequence) != "2" ||
				end.Header.Get(headerBatch) != first.Header.Get(headerBatch) {
				t.Errorf("a batch of two: %v, then %v", first.Header, end.Header)
			}
			if err := c.answer(b, end); err != nil {
				t.Fatal(err)
			}
			for _, one := range both {
				err := <-one.done
				mustSay(t, err, c.word)
				if errors.Is(err, system.ErrUnknown) != c.unknown {
					t.Errorf("unknown is %t", !c.unknown)
				}
			}
		})
	}
}

// batchesTo returns a producer of batches of two, and who hears them in place of a stream: on the
// producer's own connection, because other servers learn of a subscription late.
func batchesTo(t *testing.T, ctx context.Context, c *cluster, subject string) (*batching,
	*nats.Subscription) {
	t.Helper()
	k, err := c.producing.take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := k.conn.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	b := newBatching(k, c, []string{subject}, system.ProducerOptions{InFlight: 2})
	t.Cleanup(func() { _ = b.Close(ctx) })
	return b, asked
}

// unended publishes a batch of two whose producer is gone before its end.
func unended(b *batching) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var batch []*driver.Batched[nats.Msg]
	for range 2 {
		m := nats.NewMsg("batches.by.hand")
		m.Header = nats.Header{headerBatch: {""}, headerSequence: {""}}
		batch = append(batch, &driver.Batched[nats.Msg]{Own: *m})
	}
	return b.publish(ctx, batch)
}

func respond(data string) func(*batching, *nats.Msg) error {
	return func(_ *batching, end *nats.Msg) error { return end.Respond([]byte(data)) }
}
