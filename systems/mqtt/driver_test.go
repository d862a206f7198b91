package mqtt

import (
	"bufio"
	"bytes"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Messages go and come over TLS.
func TestEncrypted(t *testing.T) {
	systemtest.SendAndReceive(t, connect(t, optionsOf(t, secured)), "encrypted")
}

// With QoS 0 the server forgets a message as it sends it.
func TestSubscriptionOfQoS0(t *testing.T) {
	c := connect(t, optionsOf(t, shared, setSubscribeQoS, "0"))
	topic, got := systemtest.Topic(t, c, "qos-0", 1), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtMostOnce, got)
	m := systemtest.NewTestMessage("forgotten")
	systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce).Send(&m.Message)
	if err := m.Await(t); err != nil {
		t.Fatal(err)
	}
	got.AwaitAll(t, "forgotten")
}

// A connection without messages outlives its keep-alive: both sides send pings.
func TestIdleConnectionsLive(t *testing.T) {
	t.Parallel()
	c := connect(t, optionsOf(t, shared, setKeepAlive, "1s"))
	topic, got := systemtest.Topic(t, c, "idle", 1), systemtest.NewInbox()
	r := systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got).(*consumer)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce).(*producer)
	first, second := r.conn, p.conn
	time.Sleep(3 * time.Second)
	m := systemtest.NewTestMessage("after a while")
	p.Send(&m.Message)
	if err := m.Await(t); err != nil {
		t.Fatal(err)
	}
	got.AwaitAll(t, "after a while")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn != first || p.conn != second {
		t.Error("a connection without messages was lost")
	}
}

// A server that stops answering is given up after keep_alive, and the outcome of what was under way
// is unknown.
func TestSilentServer(t *testing.T) {
	c := connect(t, optionsOf(t, secured, setKeepAlive, "1s"))
	p := systemtest.Producer(t, c, systemtest.Topic(t, c, "silent", 1), 0, workload.AtLeastOnce)
	systemtest.Acks(t, p)
	resume := systemtest.Pause(t, secured.Get(t).Nodes()[0].PID)
	defer resume()
	m := systemtest.NewTestMessage("nobody answers")
	p.Send(&m.Message)
	began := time.Now()
	systemtest.Refused(t, began, m.Await(t), "ended before the answer", "the outcome is unknown")
	resume()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(dialPause) {
		m := systemtest.NewTestMessage("it is back")
		p.Send(&m.Message)
		err := m.Await(t)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// The producer keeps to the server's Receive Maximum, which ends the connection otherwise.
func TestReceiveMaximum(t *testing.T) {
	servers := systemtest.Servers[system.Provisioned]{System: mqttSystem{}, Nodes: 1,
		Level: workload.AsyncAsync, Settings: []string{setHeap, "128MB", setServerMax, "3"}}
	optionsOf(t, shared) // skips without Java
	t.Cleanup(func() { _ = servers.Stop() })
	c := connect(t, systemtest.OptionsOf(t, mqttSystem{}, servers.Get(t), workload.AsyncAsync))
	p := systemtest.Producer(t, c, systemtest.Topic(t, c, "few", 1), 0, workload.AtLeastOnce)
	all := make([]*systemtest.TestMessage, 100)
	for i := range all {
		all[i] = systemtest.NewTestMessage("one of many")
		p.Send(&all[i].Message)
	}
	for _, m := range all {
		if err := m.Await(t); err != nil {
			t.Fatal(err)
		}
	}
	if most := p.(*producer).slots.Most(); most != 3 {
		t.Errorf("%d messages may be under way", most)
	}
}

// Whatever a server sends, reading it ends, and yields no more bytes than were sent.
func FuzzPackets(f *testing.F) {
	f.Add(appendPublish(nil, "topic/3", 7, 1, []byte("payload")))
	f.Add(append(appendAnswer(nil, packets.PUBACK, 1), appendAnswer(nil, packets.PUBREC, 2)...))
	f.Add([]byte{packets.DISCONNECT << 4, 1, 0x8e})
	f.Add([]byte{packets.PUBLISH << 4, 0xff, 0xff, 0xff, 0x7f, 0, 1})
	f.Add([]byte{packets.PUBLISH<<4 | 2, 3, 0, 9, 'x'})
	f.Add([]byte{packets.PUBLISH << 4, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &conn{in: bufio.NewReader(bytes.NewReader(raw))}
		c.heard, c.quiet = time.Now(), time.Hour // no deadline is set
		total := 0
		for {
			p, err := c.next()
			if err != nil {
				break
			}
			total += 2 + len(p.body)
			if m, err := readMessage(p); err == nil && len(m.topic)+len(m.payload) > len(p.body) {
				t.Errorf("a message of %d bytes in a packet of %d", len(m.payload), len(p.body))
			}
			_, _, _ = readAnswer(p.body)
			_ = p.reason()
		}
		if total > len(raw) {
			t.Errorf("%d bytes were read of %d", total, len(raw))
		}
	})
}

// What is written is read as it was.
func TestPacketsComeBack(t *testing.T) {
	for _, payload := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("y"), 200_000)} {
		raw := appendAnswer(appendPublish(nil, "t/12", 513, 2, payload), packets.PUBREL, 77)
		c := &conn{in: bufio.NewReader(bytes.NewReader(raw)), heard: time.Now(), quiet: time.Hour}
		p, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		m, err := readMessage(p)
		if err != nil || string(m.topic) != "t/12" || m.id != 513 || m.qos != 2 ||
			!bytes.Equal(m.payload, payload) {
			t.Errorf("%d bytes came back as %+v, %v", len(payload), m, err)
		}
		p, err = c.next()
		if err != nil || p.kind != packets.PUBREL || p.flags != 2 {
			t.Errorf("PUBREL came back as %+v, %v", p, err)
		}
		if id, code, err := readAnswer(p.body); err != nil || id != 77 || code != 0 {
			t.Errorf("PUBREL came back with %d, %d, %v", id, code, err)
		}
	}
}
