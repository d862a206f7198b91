package nats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

var (
	errDisconnected = fmt.Errorf("the connection was lost before the server acknowledged: %w",
		system.ErrUnknown)
	errNoStream = errors.New(
		"no server takes the message: the stream has no leader now, or is deleted")
	errTimedOut = fmt.Errorf("the server did not acknowledge within %s: %w", setAckTimeout,
		system.ErrUnknown)
)

// sweeps is the number of times per ack_timeout that a producer looks for messages that waited too
// long. So a timeout is late by at most 1/sweeps of ack_timeout.
const sweeps = 20

// producer publishes to one stream. Each message in flight has a slot. The slot's number and how
// often it was taken are in the reply subject, so that an answer finds its message without a map.
// No two messages share a subject: a second or late answer finds no message, so it cannot
// acknowledge one that no server stored.
type producer struct {
	link     *link
	conn     *nats.Conn // the link's
	sub      *nats.Subscription
	subjects []string // by partition
	prefix   string   // of the reply subjects
	clients  *driver.Clients
	closing  driver.Closing

	slots *driver.Slots[slot]
	now   uint32 // sweeps since the beginning; the slots' lock guards it
}

// slot is a message in flight.
type slot struct {
	number   int
	m        *system.Message // nil: free, or its result is being reported
	taken    uint64          // how often
	since    uint32          // the sweep at which it was taken
	handed   bool            // the client library has copied the payload
	answered bool            // before it was handed: the answer is in err
	err      error
}

func newProducer(k *link, clients *driver.Clients, subjects []string, inFlight int,
) (*producer, error) {
	p := &producer{
		link: k, conn: k.conn, subjects: subjects, prefix: k.conn.NewInbox() + ".",
		clients: clients,
		slots:   driver.NewSlots(inFlight, func(i int) *slot { return &slot{number: i} }),
	}
	sub, err := k.conn.Subscribe(p.prefix+"*", p.answer)
	if err != nil {
		return nil, fmt.Errorf("subscribe to acknowledgements: %w", err)
	}
	p.sub = sub
	// The slots bound what can be pending, so the library needs no bound, and
	// must never drop an acknowledgement.
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return nil, fmt.Errorf("subscribe to acknowledgements: %w", err)
	}
	k.join(p)
	return p, nil
}

func (p *producer) replyFor(slot int, taken uint64) string {
	var room [64]byte
	b := append(room[:0], p.prefix...)
	b = strconv.AppendInt(b, int64(slot), 10)
	b = append(b, '-')
	return string(strconv.AppendUint(b, taken, 10))
}

// Send publishes the message and returns when the client library has copied
// it. It blocks while every slot is in flight.
func (p *producer) Send(m *system.Message) {
	if err := driver.CheckPartition(m, len(p.subjects)); err != nil {
		m.Done(err)
		return
	}
	s, taken, err := p.take(m)
	if err != nil {
		m.Done(err)
		return
	}
	err = p.conn.PublishRequest(p.subjects[m.Partition], p.replyFor(s.number, taken), m.Payload)
	p.handedOver(s, err)
}

func (p *producer) take(m *system.Message) (s *slot, taken uint64, err error) {
	p.slots.Lock()
	defer p.slots.Unlock()
	if s, err = p.slots.Take(nil); err != nil {
		return nil, 0, err
	}
	*s = slot{number: s.number, m: m, taken: s.taken + 1, since: p.now}
	return s, s.taken, nil
}

// handedOver notes that the payload is copied. Until then nobody else may end
// the message, because its buffer would be used again while it is being read.
func (p *producer) handedOver(s *slot, err error) {
	p.slots.Lock()
	s.handed = true
	if !s.answered && err == nil {
		p.slots.Unlock()
		return
	}
	if s.answered {
		err = s.err
	}
	m := s.m
	s.m = nil
	p.slots.Unlock()
	p.tell(s, m, err)
}

// tell reports the result of a claimed message.
func (p *producer) tell(s *slot, m *system.Message, err error) {
	m.Done(err)
	p.slots.End(s)
}

// claim returns the message in a slot so that its result can be reported, or leaves the answer for
// handedOver and returns nil. The caller holds the slots' lock.
func (s *slot) claim(err error) *system.Message {
	if s.m == nil || s.answered {
		return nil
	}
	if !s.handed {
		s.answered, s.err = true, err
		return nil
	}
	m := s.m
	s.m = nil
	return m
}

// answer handles a PubAck. The client library calls it from one goroutine.
func (p *producer) answer(reply *nats.Msg) {
	index, taken, ok := parseReply(reply.Subject[len(p.prefix):])
	if !ok {
		return
	}
	err := readPubAck(reply)
	var s *slot
	var m *system.Message
	p.slots.Lock()
	if all := p.slots.All(); index < len(all) && all[index].taken == taken {
		s = all[index]
		m = s.claim(err)
	}
	p.slots.Unlock()
	if m != nil {
		p.tell(s, m, err)
	}
}

func parseReply(token string) (index int, taken uint64, ok bool) {
	slot, count, ok := strings.Cut(token, "-")
	if !ok {
		return 0, 0, false
	}
	index, err := strconv.Atoi(slot)
	if err != nil || index < 0 {
		return 0, 0, false
	}
	taken, err = strconv.ParseUint(count, 10, 64)
	return index, taken, err == nil
}

var (
	pubAckStart = []byte(`{"stream":"`)
	pubAckError = []byte(`"error"`)
)

// readPubAck reports whether the server took the message. The server's success is recognised by
// its first bytes; everything else is parsed.
func readPubAck(reply *nats.Msg) error {
	if len(reply.Data) == 0 && reply.Header.Get("Status") == "503" {
		return errNoStream
	}
	if bytes.HasPrefix(reply.Data, pubAckStart) && !bytes.Contains(reply.Data, pubAckError) {
		return nil
	}
	var ack struct {
		Stream string `json:"stream"`
		Error  *struct {
			Code        int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &ack); err != nil {
		return fmt.Errorf("read the acknowledgement: %w", err)
	}
	if ack.Error != nil {
		return fmt.Errorf("the server refused the message: %s (error %d)", ack.Error.Description,
			ack.Error.Code)
	}
	if ack.Stream == "" {
		return errors.New(
			"the acknowledgement names no stream: something other than JetStream answered")
	}
	return nil
}

// tick ends the messages that waited longer than the timeout.
func (p *producer) tick() {
	p.endIf(errTimedOut, 1, func(s *slot) bool { return p.now-s.since > sweeps })
}

func (p *producer) disconnected() { p.failAll(errDisconnected) }
func (p *producer) reconnected()  {}
func (p *producer) closed()       {}

// failAll ends every message in flight.
func (p *producer) failAll(err error) { p.endIf(err, 0, func(*slot) bool { return true }) }

// endIf advances the producer's time and ends the messages that over selects.
func (p *producer) endIf(err error, ticks uint32, over func(*slot) bool) {
	var slots []*slot
	var messages []*system.Message
	p.slots.Lock()
	p.now += ticks
	for _, s := range p.slots.All() {
		if s.m != nil && over(s) {
			if m := s.claim(err); m != nil {
				slots, messages = append(slots, s), append(messages, m)
			}
		}
	}
	p.slots.Unlock()
	for i, s := range slots {
		p.tell(s, messages[i], err)
	}
}

// Close refuses further messages, waits within ctx for outstanding answers, and ends the remaining
// messages with an error. After it every message has ended. It is idempotent and safe to call
// while Send runs.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(p.clients, p, func() error {
		p.slots.Shut()
		err := p.slots.Drain(ctx)
		_ = p.sub.Unsubscribe() // fails if the connection is closed
		p.link.leave(p)
		p.failAll(driver.ErrUnanswered)
		_ = p.slots.Drain(context.Background()) // a Send or an answer may be running
		return err
	})
}
