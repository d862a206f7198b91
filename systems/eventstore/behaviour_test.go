package eventstore

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const within = 10 * time.Second

// outcome is a message's result.
type outcome chan error

func (o outcome) Complete(err error) { o <- err }

// send sends one message and returns the channel of its result.
func send(p system.Producer, payload string) outcome {
	o := make(outcome, 1)
	m := &system.Message{Payload: []byte(payload)}
	m.Bind(o)
	p.Send(m)
	return o
}

func (o outcome) await(t *testing.T) error {
	t.Helper()
	select {
	case err := <-o:
		return err
	case <-time.After(within):
		t.Fatal("the message has no result")
		return nil
	}
}

func openProducer(t *testing.T, c *cluster, topic system.Topic) system.Producer {
	t.Helper()
	p, err := c.OpenProducer(t.Context(), system.ProducerOptions{Topic: topic, InFlight: 10})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// received counts the payloads that a consumer gets.
type received struct {
	sync.Mutex
	times map[string]int
	came  chan struct{}
}

func consume(t *testing.T, c *cluster, topic system.Topic, receive func(payload string)) *received {
	t.Helper()
	r := &received{times: map[string]int{}, came: make(chan struct{}, 100)}
	_, err := c.OpenConsumer(t.Context(), system.ConsumerOptions{Topic: topic, Subscription: "s",
		Delivery: workload.AtLeastOnce, Failed: func(err error) { t.Error(err) },
		Receive: func(m system.Received) {
			r.Lock()
			r.times[string(m.Payload)]++
			r.Unlock()
			r.came <- struct{}{}
			if receive != nil {
				receive(string(m.Payload))
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *received) await(t *testing.T, payload string, times int) {
	t.Helper()
	for deadline := time.After(within); ; {
		r.Lock()
		n := r.times[payload]
		r.Unlock()
		if n >= times {
			return
		}
		select {
		case <-r.came:
		case <-deadline:
			t.Fatalf("%q came %d times, want %d", payload, n, times)
		}
	}
}

// When a server is killed during an append, the outcome is unknown, and the producer continues
// when the server is back.
func TestServerKilledInMidAppend(t *testing.T) {
	s := fresh(t, 1, false, true)
	c := connect(t, optionsOf(t, s, workload.AsyncSync))
	topic := systemtest.Topic(t, c, "killed", 1)
	p := openProducer(t, c, topic)
	if err := send(p, "before").await(t); err != nil {
		t.Fatal(err)
	}
	reached, kept := make(chan struct{}), make(chan struct{})
	s.mu.Lock()
	s.holding = func(string) error { close(reached); <-kept; return errors.New("killed") }
	s.mu.Unlock()
	during := send(p, "during")
	<-reached
	node := s.nodes[0]
	_ = node.http.Close()
	err := during.await(t)
	if !errors.Is(err, system.ErrUnknown) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the append under way ended with %v", err)
	}
	after := send(p, "after") // there is no server: the message is kept
	close(kept)
	node.kill()
	s.mu.Lock()
	s.holding, node.alive = nil, true
	s.mu.Unlock()
	if err := node.start(node.address); err != nil {
		t.Fatal(err)
	}
	if err := after.await(t); err != nil {
		t.Errorf("the append after the server's return ended with %v", err)
	}
}

// Without a server a message is kept for delivery_timeout and then refused, because it was not
// sent.
func TestNothingToSendTo(t *testing.T) {
	s := fresh(t, 1, false, true)
	c := connect(t, optionsOf(t, s, workload.AsyncSync, setDelivery, "200ms"))
	p := openProducer(t, c, systemtest.Topic(t, c, "nobody", 1))
	s.nodes[0].kill()
	for range 2 {
		err := send(p, "x").await(t)
		// The first message may have been on its way when the connection was lost.
		if err == nil || !errors.Is(err, system.ErrUnknown) &&
			!strings.Contains(err.Error(), "start the servers") {
			t.Errorf("it ended with %v", err)
		}
	}
}

// The servers' answer decides whether the outcome is refused or unknown.
func TestOutcomes(t *testing.T) {
	s := fresh(t, 1, false, true)
	c := connect(t, optionsOf(t, s, workload.AsyncSync))
	topic := systemtest.Topic(t, c, "outcomes", 1)
	p := openProducer(t, c, topic)
	for _, answer := range []struct {
		code    codes.Code
		unknown bool
	}{
		{codes.Aborted, true}, {codes.Unavailable, true}, {codes.Internal, true},
		{codes.InvalidArgument, false}, {codes.PermissionDenied, false},
	} {
		s.mu.Lock()
		s.holding = func(string) error { return status.Error(answer.code, "no") }
		s.mu.Unlock()
		err := send(p, "x").await(t)
		if err == nil || errors.Is(err, system.ErrUnknown) != answer.unknown {
			t.Errorf("%s: %v", answer.code, err)
		}
	}
	s.mu.Lock()
	s.holding = nil
	s.mu.Unlock()
	if err := c.DeleteTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	if err := send(p, "x").await(t); err == nil || errors.Is(err, system.ErrUnknown) {
		t.Errorf("an append to a deleted topic ended with %v", err)
	}
}

// Producer and consumer follow the leader, and an append that a follower refused is sent again.
func TestLeaderMoves(t *testing.T) {
	s := fresh(t, 3, false, true)
	c := connect(t, optionsOf(t, s, workload.SyncAsync))
	topic := systemtest.Topic(t, c, "moves", 1)
	got := consume(t, c, topic, nil)
	p := openProducer(t, c, topic)
	for i, payload := range []string{"one", "two", "three"} {
		s.lead(i)
		if err := send(p, payload).await(t); err != nil {
			t.Errorf("%s: %v", payload, err)
		}
		got.await(t, payload, 1)
	}
	if leader, err := c.Leader(t.Context(), topic, 0); leader != s.nodes[2].address {
		t.Errorf("%s leads: %v", leader, err)
	}
}

// A message whose handling takes longer than message_timeout is redelivered, and parked in the
// end.
func TestMessageTimeout(t *testing.T) {
	s := fresh(t, 1, false, true)
	c := connect(t, optionsOf(t, s, workload.AsyncSync, setTimeout, "50ms", setRetries, "1"))
	topic := systemtest.Topic(t, c, "slow", 1)
	release := make(chan struct{})
	got := consume(t, c, topic, func(payload string) {
		if payload == "slow" {
			<-release
		}
	})
	p := openProducer(t, c, topic)
	if err := send(p, "slow").await(t); err != nil {
		t.Fatal(err)
	}
	got.await(t, "slow", 1)
	deadline := time.Now().Add(within)
	for parked := 0; parked == 0 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		for _, g := range s.groups {
			parked += g.parked
		}
		s.mu.Unlock()
	}
	close(release)
	got.await(t, "slow", 2)
	if err := send(p, "quick").await(t); err != nil {
		t.Fatal(err)
	}
	got.await(t, "quick", 1)
}

// A consumer that closes has acknowledged all messages that it handled, to a busy server too.
func TestCloseAcknowledges(t *testing.T) {
	s := fresh(t, 1, false, true)
	c := connect(t, optionsOf(t, s, workload.AsyncSync))
	topic := systemtest.Topic(t, c, "acks", 1)
	handled := make(chan struct{})
	got := consume(t, c, topic, func(string) { <-handled })
	p := openProducer(t, c, topic)
	for range 20 {
		if err := send(p, "x").await(t); err != nil {
			t.Fatal(err)
		}
	}
	got.await(t, "x", 1)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	s.mu.Lock()
	time.AfterFunc(5*flushPause, s.mu.Unlock) // a busy server: it takes nothing until then
	close(handled)
	got.await(t, "x", 20)
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, g := range s.groups {
		if len(g.inFlight)+len(g.again) > 0 {
			t.Errorf("%v: %d in flight, %d to come again", key, len(g.inFlight), len(g.again))
		}
	}
}

// Event ids are unique, and are UUIDs.
func TestEventIDs(t *testing.T) {
	first, second := newIDs(), newIDs()
	seen := map[string]bool{}
	for range 1000 {
		for _, i := range []*ids{&first, &second} {
			id := i.next()
			if id.Version() != 8 || id.Variant().String() != "RFC4122" {
				t.Fatalf("%s has version %d, variant %s", id, id.Version(), id.Variant())
			}
			seen[id.String()] = true
		}
	}
	if len(seen) != 2000 {
		t.Errorf("%d different ids", len(seen))
	}
}
