package systemtest

import (
	"context"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// underWay is how long what a client sends through lossy is under way.
const underWay = 50 * time.Millisecond

// lossy relays connections to a server, and returns its own address. What a client sends is under
// way for a while, and lost if the client ends the connection before it has arrived: so does a
// kernel when a client ends a connection of which it has not read all.
func lossy(t *testing.T, server string) (address string) {
	t.Helper()
	// Drivers find other ports at the endpoint's host.
	host, _, err := net.SplitHostPort(server)
	must(t, "reading an endpoint", err)
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil { // the host is another machine
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	must(t, "listening", err)
	life, end := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() { end(); _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { relay(life, client, server) })
		}
	})
	return l.Addr().String()
}

// relay relays a connection until one side or life ends it.
func relay(life context.Context, client net.Conn, server string) {
	defer client.Close()
	to, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	stop := context.AfterFunc(life, func() { _ = client.Close(); _ = to.Close() })
	defer stop()
	type part struct {
		due   time.Time
		bytes []byte
	}
	parts, left := make(chan part, 1000), make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() { _, _ = io.Copy(client, to); _ = client.Close() })
	readers.Go(func() {
		defer close(left)
		for b := make([]byte, 64<<10); ; {
			n, err := client.Read(b)
			if err != nil {
				return
			}
			parts <- part{time.Now().Add(underWay), slices.Clone(b[:n])}
		}
	})
	for ended := false; !ended; {
		select {
		case one := <-parts:
			select {
			case <-time.After(time.Until(one.due)):
				_, _ = to.Write(one.bytes) // the reader of a lost server ends the connection
			case <-left:
				ended = true
			}
		case <-left:
			ended = true
		}
	}
	_ = to.Close()
	readers.Wait()
}

// lossyOptions are the suite's options through lossy.
func (s *suite) lossyOptions(t *testing.T) system.Options {
	t.Helper()
	o := s.options[s.level]
	if len(o.Endpoints) == 0 {
		t.Skip("the system is embedded")
	}
	o.Endpoints = slices.Clone(o.Endpoints)
	for i, one := range o.Endpoints {
		if u, err := url.Parse(one); err == nil && u.Host != "" {
			u.Host = lossy(t, u.Host)
			o.Endpoints[i] = u.String()
		} else {
			o.Endpoints[i] = lossy(t, one)
		}
	}
	return o
}

const (
	// beforeTheEnd is the number of messages that a consumer receives before it ends.
	beforeTheEnd = 10
	// soonAgain is how long the next consumer waits for what should not come again. Systems that
	// deliver again later than that cannot be judged.
	soonAgain = 500 * time.Millisecond
)

// comesOnce checks that what a consumer has acknowledged comes to nobody else, although its
// acknowledgements are under way for a while: at least once if it closes in good order, and at most
// once if it ends while it handles a message. Clients that leave the endpoints for addresses that
// the servers name pass by the relay.
func (s *suite) comesOnce(t *testing.T, d workload.Delivery) {
	if !slices.Contains(s.System.Describe().Delivery, d) {
		t.Skip("the system does not offer this delivery")
	}
	c, slow := s.connect(t), s.connectWith(t, s.lossyOptions(t))
	topic := s.topic(t, c, 1)
	first, second := newArrivals(), newArrivals()
	over := make(chan struct{})
	release := sync.OnceFunc(func() { close(over) })
	defer release()
	consumer := s.consumerFunc(t, slow, system.ConsumerOptions{
		Topic: topic, Subscription: "lossy", Delivery: d, Failed: first.fail,
		Receive: func(m system.Received) {
			first.receive(m)
			if d == workload.AtMostOnce && first.distinct() == beforeTheEnd {
				<-over
			}
		},
	})
	must(t, "sharing out the partition",
		awaitAssignments(s.context(t), []system.Consumer{consumer}))
	p := s.sender(t, slow, topic, 0) // some systems send to the subscriptions that they opened
	send := func(n int) {
		must(t, "sending", p.sendMany(s.context(t), n))
		must(t, "waiting for acknowledgements", p.await(s.context(t)))
		p.mustAll(t)
	}
	send(beforeTheEnd)
	must(t, "receiving", first.await(s.context(t), beforeTheEnd))
	if d == workload.AtMostOnce {
		_ = consumer.Close(ended(t.Context())) // it must not be able to finish
		release()
	} else {
		s.close(t, consumer)
	}
	s.consumer(t, c, topic, "lossy", 1, d, second)
	send(1)
	must(t, "receiving", second.await(s.context(t), 1))
	time.Sleep(soonAgain)
	second.mu.Lock()
	defer second.mu.Unlock()
	for _, message := range second.order {
		if message.sequence < beforeTheEnd {
			t.Errorf("message %d was acknowledged, and came to the next consumer too",
				message.sequence)
		}
	}
}
