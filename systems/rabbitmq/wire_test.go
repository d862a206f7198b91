package rabbitmq

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// script is a connection to a server whose bytes are given. It notes each write, and fails when it
// is broken.
type script struct {
	net.Conn
	io.Reader
	mu     sync.Mutex
	writes []string
	broken bool
	closed bool
}

func (s *script) Read(b []byte) (int, error) { return s.Reader.Read(b) }

func (s *script) Write(b []byte) (int, error) {
	if s.broken {
		return 0, io.ErrClosedPipe
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, string(b))
	return len(b), nil
}

func (s *script) written() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

func (s *script) Close() error {
	s.closed = true
	return nil
}

func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// scripted returns a wire to a server that sends some bytes.
func scripted(sent []byte) *wire { return wireOn(&script{Reader: bytes.NewReader(sent)}, nil) }

func wireOn(conn net.Conn, idle func()) *wire {
	w := newWire(idle)
	w.attach(conn, 10*time.Second)
	return w
}

// have gives the wire a channel.
func (w *wire) have(number uint16, e events) *channel {
	ch := &channel{wire: w, number: number, events: e}
	w.channels[number] = ch
	return ch
}

// Messages and confirms go to their channels, and everything else to the library, in order.
func TestWireTakesMessages(t *testing.T) {
	theirs := [][]byte{
		methodOf(0, 10<<16|60, 0), methodOf(1, 60<<16|21, 0), methodOf(2, 60<<16|50, 0),
		headerOf(2, 1), bodyOf(2, "r"), deliver(3, 1), headerOf(3, 1), bodyOf(3, "d"),
		confirmOf(1, basicAck, 1, 0), deliver(2, 1),
	}
	large := strings.Repeat("x", 2*readBuffer)
	w := scripted(join(theirs[0], theirs[1], deliver(1, 4), headerOf(1, 2), bodyOf(1, "ab"),
		theirs[2], theirs[3], theirs[4], confirmOf(2, basicAck, 7, 1), theirs[5], theirs[6],
		deliver(1, 5), headerOf(1, 0), theirs[7], deliver(1, 6), headerOf(1, uint64(len(large)+1)),
		bodyOf(1, large), bodyOf(1, ""), bodyOf(1, "y"), confirmOf(2, basicNack, 8, 0), theirs[8],
		theirs[9], deliver(1, 7), headerOf(1, 1), bodyOf(1, "z")))
	var got []string
	w.have(1, events{delivered: func(tag uint64, body []byte) {
		got = append(got, fmt.Sprint(tag, string(body)))
	}})
	w.have(2, events{confirmed: func(tag uint64, multiple, acked bool) {
		got = append(got, fmt.Sprint(tag, multiple, acked))
	}})
	passed, err := io.ReadAll(w)
	if err != nil || !bytes.Equal(passed, join(theirs...)) {
		t.Errorf("the library got\n%q, %v, want\n%q", passed, err, join(theirs...))
	}
	want := []string{"4ab", "7 true true", "5", "6" + large + "y", "8 false false", "7z"}
	if !slices.Equal(got, want) {
		t.Errorf("%.60q", got)
	}
}

// What is published between gather and flush is sent in one piece and in order, also with what the
// library writes, and no more than gatherBytes wait.
func TestWireGathers(t *testing.T) {
	to := &script{}
	w := wireOn(to, nil)
	ch, route := w.have(1, events{}), newTemplate("ex", route{key: "k"}, 1)
	message := func(body string) string {
		return string(appendMessage(nil, 1, &route, "c", []byte(body), frameMost))
	}
	publish := func(body string, due bool) {
		t.Helper()
		if ch.publish(&route, "c", []byte(body)) != due {
			t.Errorf("after %.10q a send is due: %v", body, !due)
		}
	}
	large := strings.Repeat("x", gatherBytes)
	publish("a", true)
	w.send()
	w.gather()
	publish("b", false)
	publish("c", false)
	w.flush()
	w.flush()
	publish("d", true)
	w.send()
	w.gather()
	publish("e", false)
	if n, err := w.Write([]byte("library")); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	publish(large, true)
	ch.ack(3)
	ch.giveBack(4)
	w.flush()
	want := []string{message("a"), message("b") + message("c"), message("d"),
		message("e") + "library",
		message(large) + string(confirmOf(1, basicAck, 3, 1)) + string(confirmOf(1, basicNack, 4, 2))}
	if !slices.Equal(to.writes, want) {
		t.Errorf("%d writes: %.80q", len(to.writes), to.writes)
	}
}

// The frame that opens a channel tells its number, and nothing of a channel follows the one that
// closes it.
func TestWireFollowsChannels(t *testing.T) {
	for _, closing := range []uint32{channelClose, channelCloseOk} {
		to := &script{}
		w := wireOn(to, nil)
		ch, other, route := w.have(3, events{}), w.have(4, events{}), newTemplate("ex", route{}, 1)
		opening := methodOf(9, channelOpen, 0)
		for _, b := range [][]byte{[]byte("AMQP\x00\x00\x09\x01"), opening, methodOf(3, closing)} {
			if _, err := w.Write(b); err != nil {
				t.Error(err)
			}
		}
		if w.opened != 9 {
			t.Errorf("channel %d was opened", w.opened)
		}
		ch.ack(1)
		ch.publish(&route, "c", []byte("late"))
		other.ack(1)
		w.flush()
		if len(to.writes) != 4 || to.writes[3] != string(confirmOf(4, basicAck, 1, 1)) {
			t.Errorf("%q", to.writes)
		}
	}
}

// Bytes that waited are taken for sent, so a send that fails closes the connection.
func TestFailedSendCloses(t *testing.T) {
	to := &script{broken: true}
	w := wireOn(to, nil)
	w.have(1, events{}).ack(1)
	if err := w.flush(); err == nil || !to.closed {
		t.Errorf("%v, closed: %v", err, to.closed)
	}
	to.broken = false
	if _, err := w.Write([]byte("b")); !errors.Is(err, errUnsent) || len(to.writes) > 0 {
		t.Errorf("%v, written: %q", err, to.writes)
	}
}

// A server that is silent for three heartbeats is lost, and no other deadline of the library's
// counts, but one for reads and writes stays until it is removed.
func TestWireDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		idle := 0
		w := wireOn(near, func() { idle++ })
		w.agree(2*time.Second, frameMost)
		began := time.Now()
		lasts := func(want time.Duration) {
			t.Helper()
			if _, err := w.Read(make([]byte, 99)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
			if took := time.Since(began); took != want {
				t.Errorf("read until %s, want %s", took, want)
			}
		}
		if err := w.SetDeadline(began.Add(time.Second)); err != nil {
			t.Error(err)
		}
		lasts(time.Second)
		if err := w.SetDeadline(time.Time{}); err != nil {
			t.Error(err)
		}
		if err := w.SetReadDeadline(began); err != nil {
			t.Error(err)
		}
		go func() {
			time.Sleep(4 * time.Second)
			far.Write(bodyOf(1, "a"))
		}()
		if n, err := w.Read(make([]byte, 99)); n != frameRest+1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		lasts(11 * time.Second)
		if idle != 3 {
			t.Errorf("idle %d times", idle)
		}
	})
}

// A write that the server does not read fails after three heartbeats of the last that the library
// wrote, unless the wire is patient.
func TestWireLimitsWrites(t *testing.T) {
	for patient, want := range map[bool]time.Duration{false: 3 * time.Second, true: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			w := wireOn(near, nil)
			w.agree(time.Second, frameMost)
			w.patient = patient
			ch := w.have(1, events{})
			closing := time.AfterFunc(time.Hour, func() { far.Close() })
			defer closing.Stop()
			go io.ReadFull(far, make([]byte, 1))
			w.Write([]byte("h"))
			began := time.Now()
			ch.ack(1)
			if err := w.flush(); err == nil || time.Since(began) != want {
				t.Errorf("patient %v: %v after %s, want %s", patient, err, time.Since(began), want)
			}
		})
	}
}

// flowOn returns a flow on a wire, whose messages go to receive.
func flowOn(w *wire, batch int, receive func(system.Received)) *flow {
	r := &consumer{reader: &reader{Receiver: driver.Receiver{
		Options: system.ConsumerOptions{Receive: receive}}}}
	f := &flow{r: r, t: &tap{partition: 2}, link: &link{wire: w}, batch: batch}
	f.channel = w.have(1, events{delivered: f.handle})
	f.overdue = time.AfterFunc(time.Hour, f.late)
	w.idle = f.link.acknowledge
	return f
}

// Acknowledgements of messages that arrive together are sent together before the wire waits for the
// server, and those of a slow message at once.
func TestAcknowledgementsLeaveTogether(t *testing.T) {
	var sent []byte
	for tag := range uint64(5) {
		sent = append(sent, join(deliver(1, tag+1), headerOf(1, 1), bodyOf(1, "m"))...)
	}
	ack := func(tag uint64) string { return string(confirmOf(1, basicAck, tag, 1)) }
	for _, c := range []struct {
		batch int
		slow  int // the number of the message
		want  []string
	}{
		{1, 0, []string{ack(1) + ack(2) + ack(3) + ack(4) + ack(5)}},
		{2, 0, []string{ack(2) + ack(4) + ack(5)}},
		{9, 0, []string{ack(5)}},
		{2, 3, []string{ack(2), ack(4) + ack(5)}},
		{1, 3, []string{ack(1) + ack(2) + ack(3), ack(4) + ack(5)}},
	} {
		synctest.Test(t, func(t *testing.T) {
			to := &script{Reader: bytes.NewReader(sent)}
			w := wireOn(to, nil)
			n := 0
			f := flowOn(w, c.batch, func(m system.Received) {
				if n++; n == c.slow {
					time.Sleep(slowHandling)
				}
				if string(m.Payload) != "m" || m.Partition != 2 {
					t.Errorf("%+v", m)
				}
			})
			defer f.overdue.Stop()
			if _, err := io.ReadAll(w); err != nil || n != 5 {
				t.Errorf("%d, %v", n, err)
			}
			if !slices.Equal(to.writes, c.want) {
				t.Errorf("batches of %d, message %d is slow: %q, want %q", c.batch, c.slow,
					to.writes, c.want)
			}
		})
	}
}

// A batch that is not full is acknowledged ack_delay after its first message.
func TestAcknowledgementsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &script{}
		f := flowOn(wireOn(to, nil), 9, func(system.Received) {})
		f.delay = time.Second
		f.handle(1, nil)
		time.Sleep(time.Second / 2)
		f.handle(2, nil)
		f.link.acknowledge() // nothing waits for it
		if sent := to.written(); len(sent) > 0 {
			t.Errorf("sent %q", sent)
		}
		time.Sleep(time.Second / 2)
		synctest.Wait()
		sent := to.written()
		if !slices.Equal(sent, []string{string(confirmOf(1, basicAck, 2, 1))}) {
			t.Errorf("sent %q", sent)
		}
	})
}

// A confirm ends the message with its tag, or all up to it, in any order.
func TestLaneFindsMessages(t *testing.T) {
	one := &lane{first: 1}
	all := make([]*slot, 8)
	for i := range all {
		all[i] = &slot{name: fmt.Sprint(i + 1)}
		one.inFlight = append(one.inFlight, all[i])
	}
	for _, c := range []struct {
		tag      uint64
		multiple bool
		want     string
		oldest   string
	}{
		{3, false, "3", "1"}, {3, false, "", "1"}, {0, true, "", "1"}, {9, true, "", "1"},
		{1, false, "1", "2"}, {5, true, "245", "6"}, {2, true, "", "6"}, {8, false, "8", "6"},
		{7, true, "67", ""}, {8, true, "", ""},
	} {
		got := ""
		for _, s := range one.take(c.tag, c.multiple, nil) {
			got += s.name
		}
		oldest := ""
		if s := one.oldest(); s != nil {
			oldest = s.name
		}
		if got != c.want || oldest != c.oldest {
			t.Errorf("confirm of %d, %v: ended %q, want %q; the oldest is %q, want %q", c.tag,
				c.multiple, got, c.want, oldest, c.oldest)
		}
	}
	one.inFlight = append(one.inFlight, all[0])
	if got := one.take(9, false, nil); len(got) != 1 || len(one.inFlight) != 0 {
		t.Errorf("the ninth: %d, %d are left", len(got), len(one.inFlight))
	}
}

// endless is a server that sends the same bytes again and again.
type endless struct {
	all []byte
	at  int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.all[e.at:])
	e.at = (e.at + n) % len(e.all)
	return n, nil
}

// sink is a connection that takes all writes.
type sink struct{ script }

func (*sink) Write(b []byte) (int, error) { return len(b), nil }

// A message that is published and confirmed, and one that is received and acknowledged, cost no
// allocation.
func TestMessagesCostNoAllocation(t *testing.T) {
	body := strings.Repeat("x", 1024)
	heartbeat := []byte("\x08\x00\x00\x00\x00\x00\x00\xce")
	conn := &sink{script{Reader: &endless{all: join(deliver(1, 1), headerOf(1, 1024),
		bodyOf(1, body), heartbeat)}}}
	w := wireOn(conn, nil)
	received := 0
	defer flowOn(w, 1, func(system.Received) { received++ }).overdue.Stop()
	template, passed := newTemplate("ex", route{key: "k"}, 2), make([]byte, 99)
	w.have(2, events{})
	payload := []byte(body)
	if n := testing.AllocsPerRun(1000, func() {
		w.channels[2].publish(&template, "c", payload)
		w.send()
		w.Read(passed) // up to the heartbeat
	}); n > 0 || received != 1001 {
		t.Errorf("%v allocations for a message, %d received", n, received)
	}
}
