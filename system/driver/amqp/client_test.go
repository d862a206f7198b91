package amqp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func accepts(int) byte { return codeAccepted }

func dialer(endpoints ...string) *Dialer {
	return &Dialer{Endpoints: endpoints, Silence: 5 * time.Second, Patience: 5 * time.Second}
}

func open(t *testing.T, d *Dialer, timeout time.Duration) system.Producer {
	t.Helper()
	p, err := NewProducer(t.Context(), ProducerOptions{
		Dialer: d, Clients: &driver.Clients{},
		Targets:  []Target{{Address: "q:0"}, {Address: "q:1"}},
		InFlight: 8, Durable: true, Timeout: timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeNow(t, p) })
	return p
}

func closeNow(t *testing.T, c driver.Closer) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

func send(p system.Producer, payload string) *systemtest.TestMessage {
	m := systemtest.NewTestMessage(payload)
	p.Send(&m.Message)
	return m
}

func TestEachOutcome(t *testing.T) {
	outcomes := []byte{codeAccepted, codeRejected, codeReleased, codeAccepted}
	s := &peer{credit: 100, answer: func(n int) byte { return outcomes[n] }}
	p := open(t, dialer(startPeer(t, s)), time.Minute)
	var all []*systemtest.TestMessage
	for i := range outcomes {
		all = append(all, send(p, fmt.Sprint(i)))
	}
	for i, says := range []string{"", "rejected", "released", ""} {
		err := all[i].Await(t)
		if says == "" && err != nil ||
			says != "" && (err == nil || errors.Is(err, system.ErrUnknown) ||
				!strings.Contains(err.Error(), says)) {
			t.Errorf("message %d: %v", i, err)
		}
	}
	if m := systemtest.NewTestMessage("x"); true {
		m.Partition = 2
		p.Send(&m.Message)
		if err := m.Await(t); err == nil {
			t.Error("a partition that is not there was accepted")
		}
	}
}

// A missing answer of one partition does not delay the answers of another.
func TestAnswersOfOtherPartitions(t *testing.T) {
	s := &peer{credit: 100, answer: func(n int) byte {
		if n == 0 {
			return 0
		}
		return codeAccepted
	}}
	p := open(t, dialer(startPeer(t, s)), time.Minute)
	waits := send(p, "waits")
	other := systemtest.NewTestMessage("other")
	other.Partition = 1
	p.Send(&other.Message)
	if err := other.Await(t); err != nil {
		t.Error(err)
	}
	s.cut()
	if err := waits.Await(t); !errors.Is(err, system.ErrUnknown) {
		t.Error(err)
	}
}

// When the connection is lost, unanswered messages are unknown; the next messages go to the other
// server.
func TestLostConnection(t *testing.T) {
	first := &peer{credit: 100, answer: func(int) byte { return 0 }}
	second := &peer{credit: 100, answer: accepts}
	p := open(t, dialer(startPeer(t, first), startPeer(t, second)), time.Minute)
	lost := send(p, "lost")
	first.listener.Close()
	first.cut()
	err := lost.Await(t)
	if !errors.Is(err, system.ErrUnknown) || !strings.Contains(err.Error(), "was lost") {
		t.Errorf("the message in flight: %v", err)
	}
	if err := send(p, "next").Await(t); err != nil {
		t.Errorf("the message after it: %v", err)
	}
	closeNow(t, p)
	if err := send(p, "late").Await(t); !errors.Is(err, driver.ErrProducerClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A server that sends heartbeats but no answers, and one that gives no credit, cost only the
// time-out.
func TestServerThatDoesNotAnswer(t *testing.T) {
	for name, s := range map[string]*peer{
		"no answer": {credit: 100, answer: func(int) byte { return 0 }},
		"no credit": {answer: accepts},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, dialer(startPeer(t, s)), 100*time.Millisecond)
			err := send(p, "x").Await(t)
			if !errors.Is(err, system.ErrUnknown) ||
				!strings.Contains(err.Error(), "did not answer within 100ms") {
				t.Error(err)
			}
		})
	}
}

func TestCloseWithoutTime(t *testing.T) {
	s := &peer{credit: 2, answer: func(int) byte { return 0 }}
	p := open(t, dialer(startPeer(t, s)), time.Minute)
	one := send(p, "in flight")
	two := systemtest.NewTestMessage("waits for credit")
	three := make(chan struct{})
	go func() { defer close(three); send(p, "second"); p.Send(&two.Message) }()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if p.Close(over) == nil {
		t.Error("no error for a message without an answer")
	}
	<-three
	for _, m := range []*systemtest.TestMessage{one, two} {
		if m.Await(t) == nil || m.EndedAgain() {
			t.Error("a message was acknowledged, or ended twice")
		}
	}
	closeNow(t, p)
}

// A Send that is writing while the connection ends also returns.
func TestCloseWithoutTimeWhileSending(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	address := startPeer(t, &peer{credit: 1_000_000, answer: accepts})
	for range 100 {
		p := open(t, dialer(address), time.Minute)
		underWay, sent := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(sent)
			for n := 0; send(p, "one of many").Await(t) == nil; n++ {
				if n == 1 {
					close(underWay)
				}
			}
		}()
		<-underWay
		_ = p.Close(over) // the message being written may have no answer
		<-sent
	}
}

func TestConsumer(t *testing.T) {
	keyed := "\x00\x53\x73\xc0\x0b\x06\x40\x40\x40\x40\x40\xa0\x03key" + section("one")
	for _, d := range []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce} {
		s := &peer{deliver: []string{keyed, section("two")}}
		inbox, keys := systemtest.NewInbox(), make(chan string, 8)
		r, err := NewConsumer(t.Context(), ConsumerOptions{
			Dialer: dialer(startPeer(t, s)), Clients: &driver.Clients{}, Credit: 10,
			Sources: []Source{{Address: "q:0"}},
			Handle: system.ConsumerOptions{Delivery: d, Receive: func(m system.Received) {
				inbox.Add(m)
				keys <- string(m.Key)
			}, Failed: func(err error) { t.Error(err) }},
		})
		if err != nil {
			t.Fatal(err)
		}
		inbox.AwaitAll(t, "one", "two")
		s.cut() // the next connection delivers again
		inbox.Await(t, 4)
		closeNow(t, r)
		closeNow(t, r)
		if first, second := <-keys, <-keys; first != "key" || second != "" {
			t.Errorf("keys %q and %q", first, second)
		}
		s.mu.Lock()
		if (s.accepted >= 2) != (d == workload.AtLeastOnce) { // before the close was answered
			t.Errorf("%s: %d messages were accepted", d, s.accepted)
		}
		s.mu.Unlock()
	}
}

func TestConsumerFails(t *testing.T) {
	s, failed := &peer{deliver: []string{section("one")}}, make(chan error, 1)
	d := dialer(startPeer(t, s))
	d.Patience = 50 * time.Millisecond
	r, err := NewConsumer(t.Context(), ConsumerOptions{
		Dialer: d, Clients: &driver.Clients{}, Credit: 10, Sources: []Source{{Address: "q:0"}},
		Handle: system.ConsumerOptions{Receive: func(system.Received) {},
			Failed: func(err error) { failed <- err }},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer closeNow(t, r)
	s.listener.Close()
	s.cut()
	if err := <-failed; !strings.Contains(err.Error(), "no server was reached for 50ms") {
		t.Error(err)
	}
}

func TestRefusedConnections(t *testing.T) {
	refusing := startPeer(t, &peer{refuses: true})
	good := startPeer(t, &peer{answer: accepts})
	for name, c := range map[string]struct {
		endpoints []string
		user      string
		says      string // empty: it connects
	}{
		"wrong password":        {[]string{refusing}, "u", "refuses the user or password"},
		"nothing listens":       {[]string{"127.0.0.1:1"}, "", "nothing listens there"},
		"the second takes them": {[]string{"127.0.0.1:1", good}, "", ""},
		"backup and refusal":    {[]string{"127.0.0.1:1", refusing}, "u", "refuses the user"},
	} {
		t.Run(name, func(t *testing.T) {
			d := dialer(c.endpoints...)
			d.Credentials = system.Credentials{User: c.user, Password: "wrong"}
			began := time.Now()
			conn, err := d.Dial(t.Context(), 0)
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				conn.Close(t.Context())
				return
			}
			systemtest.Refused(t, began, err, c.says)
		})
	}
}
