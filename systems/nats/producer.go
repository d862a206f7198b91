package nats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/plimsoll-bench/plimsoll/system"
)

var (
	errProducerClosed = errors.New("the producer is closed")
	errUnanswered     = fmt.Errorf("the producer was closed before the server acknowledged: %w", system.ErrUnknown)
	errDisconnected   = fmt.Errorf("the connection was lost before the server acknowledged: %w", system.ErrUnknown)
	errNoStream       = errors.New("no server takes the message: the stream has no leader now, or is deleted")
	errTimedOut       = fmt.Errorf("the server did not acknowledge within %s: %w", setAckTimeout, system.ErrUnknown)
)

// sweeps is how many times in ack_timeout a producer looks for messages that
// waited too long; a timeout is at most this part of it late.
const sweeps = 20

// producer publishes to one stream. Each message in flight has a slot. The
// slot's number and how often it was taken are in the reply subject, so that an
// answer finds its message without a map. No two messages share a subject: a
// second answer, or one that comes too late, finds nobody, where it could
// otherwise acknowledge a message that nobody stored.
type producer struct {
	link     *link
	conn     *nats.Conn // the link's
	sub      *nats.Subscription
	subjects []string      // by partition
	prefix   string        // of the reply subjects
	most     int           // slots that there may be
	ended    chan struct{} // closed when Close has ended

	ending sync.WaitGroup // goroutines about to tell a message's end

	mu      sync.Mutex
	changed sync.Cond // a slot became free, or the producer closed
	closing bool
	slots   []slot // as many as were ever in flight
	free    []int32
	now     uint32 // sweeps since the beginning
}

// slot is one message in flight.
type slot struct {
	m        *system.Message // nil: free
	taken    uint64          // how often
	since    uint32          // the sweep at which it was taken
	handed   bool            // the client library has copied the payload
	answered bool            // before it was handed: the answer is in err
	err      error
}

func newProducer(k *link, subjects []string, inFlight int) (*producer, error) {
	p := &producer{
		link: k, conn: k.conn, subjects: subjects, prefix: k.conn.NewInbox() + ".",
		most: inFlight, ended: make(chan struct{}),
	}
	p.changed.L = &p.mu
	sub, err := k.conn.Subscribe(p.prefix+"*", p.answer)
	if err != nil {
		return nil, fmt.Errorf("subscribing to acknowledgements: %w", err)
	}
	p.sub = sub
	// The slots bound what can be pending, so the library needs no bound, and
	// must never drop an acknowledgement.
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return nil, fmt.Errorf("subscribing to acknowledgements: %w", err)
	}
	k.join(p)
	return p, nil
}

func (p *producer) replyFor(slot int32, taken uint64) string {
	var room [64]byte
	b := append(room[:0], p.prefix...)
	b = strconv.AppendInt(b, int64(slot), 10)
	b = append(b, '-')
	return string(strconv.AppendUint(b, taken, 10))
}

// Send publishes the message and returns when the client library has copied
// it. It blocks while every slot is in flight.
func (p *producer) Send(m *system.Message) {
	if int(m.Partition) >= len(p.subjects) || m.Partition < 0 {
		m.Done(fmt.Errorf("partition %d: the topic has %d", m.Partition, len(p.subjects)))
		return
	}
	index, taken, ok := p.take(m)
	if !ok {
		m.Done(errProducerClosed)
		return
	}
	err := p.conn.PublishRequest(p.subjects[m.Partition], p.replyFor(index, taken), m.Payload)
	p.handedOver(index, err)
}

func (p *producer) take(m *system.Message) (index int32, taken uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) == 0 && len(p.slots) == p.most && !p.closing {
		p.changed.Wait()
	}
	if p.closing {
		return 0, 0, false
	}
	if len(p.free) == 0 {
		p.free = append(p.free, int32(len(p.slots)))
		p.slots = append(p.slots, slot{})
	}
	index = p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	s := &p.slots[index]
	*s = slot{m: m, taken: s.taken + 1, since: p.now}
	return index, s.taken, true
}

// handedOver notes that the payload is copied. Until then nobody else may end
// the message, because its buffer would be used again while it is being read.
func (p *producer) handedOver(index int32, err error) {
	p.mu.Lock()
	s := &p.slots[index]
	s.handed = true
	if !s.answered && err == nil {
		p.mu.Unlock()
		return
	}
	if s.answered {
		err = s.err
	}
	m := p.release(index)
	p.mu.Unlock()
	m.Done(err)
}

// release frees a slot and returns its message. p.mu is held.
func (p *producer) release(index int32) *system.Message {
	s := &p.slots[index]
	m := s.m
	s.m = nil
	p.free = append(p.free, index)
	p.changed.Broadcast()
	return m
}

// end ends the message in a slot, or leaves the answer for handedOver to find.
// It returns the message to tell, if any. p.mu is held.
func (p *producer) end(index int32, err error) *system.Message {
	s := &p.slots[index]
	if s.m == nil || s.answered {
		return nil
	}
	if !s.handed {
		s.answered, s.err = true, err
		return nil
	}
	return p.release(index)
}

// answer takes a PubAck. The client library calls it from one goroutine.
func (p *producer) answer(reply *nats.Msg) {
	index, taken, ok := parseReply(reply.Subject[len(p.prefix):])
	if !ok {
		return
	}
	err := readPubAck(reply)
	p.mu.Lock()
	var m *system.Message
	if index < len(p.slots) && p.slots[index].taken == taken {
		m = p.end(int32(index), err)
	}
	if m != nil {
		p.ending.Add(1)
	}
	p.mu.Unlock()
	if m != nil {
		m.Done(err)
		p.ending.Done()
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

// readPubAck says whether the server took the message. What the server writes
// for a success is known by its first bytes; all else is parsed.
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
		return fmt.Errorf("reading the acknowledgement: %w", err)
	}
	if ack.Error != nil {
		return fmt.Errorf("the server refused the message: %s (error %d)", ack.Error.Description, ack.Error.Code)
	}
	if ack.Stream == "" {
		return errors.New("the acknowledgement names no stream: something other than JetStream answered")
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

// endIf moves the producer's time on and ends the messages that are over.
func (p *producer) endIf(err error, ticks uint32, over func(*slot) bool) {
	var ended []*system.Message
	p.mu.Lock()
	p.now += ticks
	for i := range p.slots {
		if s := &p.slots[i]; s.m != nil && over(s) {
			if m := p.end(int32(i), err); m != nil {
				ended = append(ended, m)
			}
		}
	}
	p.ending.Add(len(ended))
	p.mu.Unlock()
	for _, m := range ended {
		m.Done(err)
		p.ending.Done()
	}
}

// Close refuses further messages, waits within ctx for the answers under way,
// and ends the rest with an error. When it has returned every message has ended
// but those that a Send is still handing over. It is idempotent and safe to call
// while Send runs.
func (p *producer) Close(ctx context.Context) error {
	p.mu.Lock()
	first := !p.closing
	p.closing = true
	p.changed.Broadcast()
	p.mu.Unlock()
	if !first {
		<-p.ended
		return nil
	}
	defer close(p.ended)
	left := p.awaitAnswers(ctx)
	_ = p.sub.Unsubscribe() // it fails when the connection is gone
	p.link.leave(p)
	p.failAll(errUnanswered)
	p.ending.Wait()
	if left > 0 {
		return fmt.Errorf("closing the producer: %d messages were not answered: %w", left, ctx.Err())
	}
	return nil
}

// awaitAnswers waits until every slot is free or ctx ends, and returns how
// many are not.
func (p *producer) awaitAnswers(ctx context.Context) int {
	wake := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.changed.Broadcast()
	})
	defer wake()
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) < len(p.slots) && ctx.Err() == nil {
		p.changed.Wait()
	}
	return len(p.slots) - len(p.free)
}
