package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/skew"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

const (
	// ownerLimit is the longest silence: a worker that does not hear from its coordinator for this
	// time ends its load, and a coordinator gives up such a worker.
	ownerLimit = 5 * time.Second
	// aliveLimit is the longest silence of a worker that closes its connection itself; after a
	// longer one gRPC has given the worker up.
	aliveLimit = 2 * skew.CalmPace
	// cancelLimit is how long an answer to a cancelled order is waited for.
	cancelLimit = 5 * time.Second
	ordersRoom  = 16 // orders that wait to be sent
)

// ErrLost is wrapped by the errors of a worker that is gone for good.
var ErrLost = errors.New("the worker is lost")

// lostError says why a worker or host is gone. It is ErrLost.
type lostError struct {
	who hello
	why error
}

func (e *lostError) Error() string {
	return fmt.Sprintf("the %s is lost: %s on %s: %v", e.who.role(), e.who.Name, e.who.Host, e.why)
}

func (e *lostError) Is(target error) bool { return target == ErrLost }

func (e *lostError) Unwrap() error { return e.why }

// member is a worker or host as its coordinator sees it. Its methods may be called from any
// goroutine.
type member struct {
	hello  hello
	orders chan *order

	mu      sync.Mutex
	heardAt time.Time
	pending map[uint64]*call
	calls   uint64
	tell    func(load.Event) // of the present run; nil: there is none
	clock   *clockState      // of the last sample; nil: none, or the coordinator's own
	boundNs int64            // the greatest of the run
	lost    error
	gone    chan struct{} // closed when lost is set
}

// call is an order that was not answered yet.
type call struct {
	answer [][]byte // in parts
	bytes  int64    // of the answer
	most   int64    // bytes of it
	failed error
	done   chan struct{}
}

func newMember(h hello) *member {
	return &member{hello: h, orders: make(chan *order, ordersRoom), heardAt: time.Now(),
		pending: make(map[uint64]*call), gone: make(chan struct{})}
}

// sharesClock reports whether the worker reads the monotonic clock of a kernel.
func (m *member) sharesClock(kernel string) bool {
	return m.hello.Kernel != "" && m.hello.Kernel == kernel
}

// hear notes that the worker lives.
func (m *member) hear() {
	m.mu.Lock()
	m.heardAt = time.Now()
	m.mu.Unlock()
}

// lose gives the worker up, for the first reason that is given. It ends every call.
func (m *member) lose(why error) {
	m.mu.Lock()
	if m.lost != nil {
		m.mu.Unlock()
		return
	}
	m.lost = &lostError{m.hello, bounded(why)}
	pending, tell := m.pending, m.tell
	m.pending = nil
	close(m.gone)
	m.mu.Unlock()
	for _, c := range pending {
		c.failed = m.lost
		close(c.done)
	}
	if tell != nil {
		tell(load.Event{Kind: load.Failure, Sentence: m.lost.Error()})
	}
}

// bounded shortens an error, which may contain text from the worker, and keeps it on one line.
func bounded(err error) error {
	text := err.Error()
	if one := document.Clean(load.BoundText(text)); one != text {
		return errors.New(one)
	}
	return err
}

// silent says since when the worker has not been heard of, when that is too long.
func (m *member) silent(now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if since := now.Sub(m.heardAt); since > ownerLimit {
		return silence(since)
	}
	return nil
}

// err is why the worker is lost; nil: it is not.
func (m *member) err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// listen sets who hears of the worker's events.
func (m *member) listen(tell func(load.Event)) {
	m.mu.Lock()
	m.tell = tell
	if tell != nil {
		m.clock, m.boundNs = nil, 0 // another run
	}
	lost := m.lost
	m.mu.Unlock()
	if lost != nil && tell != nil {
		tell(load.Event{Kind: load.Failure, Sentence: lost.Error()})
	}
}

// noteClock takes what a sample says of the worker's clock.
func (m *member) noteClock(s *clockState) {
	if s == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock, m.boundNs = s, max(m.boundNs, s.GreatestBoundNs)
}

// ask sends an order and waits for its answer, which it decodes into answer unless that is nil.
// When ctx ends first, the worker is told, and its answer is awaited a little longer.
func (m *member) ask(ctx context.Context, do action, body, answer any) error {
	most := int64(answerMost)
	if do == actionSample || do == actionReady {
		most = sampleMost
	}
	return m.askFor(ctx, do, body, answer, most)
}

// askFor is ask with a bound of the answer's bytes.
func (m *member) askFor(ctx context.Context, do action, body, answer any, most int64) error {
	raw, err := encoding.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode an order: %w", err)
	}
	o := &order{Do: do, Body: raw}
	if deadline, has := ctx.Deadline(); has {
		o.LimitNs = max(1, int64(time.Until(deadline)))
	}
	c, err := m.begin(o, most)
	if err != nil {
		return err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		m.cancel(o.Call)
		timer := time.NewTimer(cancelLimit)
		defer timer.Stop()
		select {
		case <-c.done:
		case <-timer.C:
			m.lose(fmt.Errorf("it did not end %s when it was told to", do))
		}
		<-c.done
	}
	if c.failed != nil {
		return errors.Join(c.failed, ctx.Err())
	}
	if answer == nil {
		return nil
	}
	whole := slices.Concat(c.answer...)
	c.answer = nil
	if err := decode(whole, answer); err != nil {
		m.lose(err)
		return m.err()
	}
	return nil
}

// begin registers a call and sends its order.
func (m *member) begin(o *order, most int64) (*call, error) {
	c := &call{done: make(chan struct{}), most: most}
	m.mu.Lock()
	if m.lost != nil {
		defer m.mu.Unlock()
		return nil, m.lost
	}
	m.calls++
	o.Call = m.calls
	m.pending[o.Call] = c
	m.mu.Unlock()
	select {
	case m.orders <- o:
	case <-m.gone: // which has ended the call
	}
	return c, nil
}

func (m *member) cancel(which uint64) {
	raw, err := encoding.Marshal(which)
	if err != nil {
		panic(err) // a number can be encoded
	}
	select {
	case m.orders <- &order{Do: actionCancel, Body: raw}:
	case <-m.gone:
	}
}

// take takes a word of the worker's.
func (m *member) take(w *word) error {
	m.hear()
	m.mu.Lock()
	if w.Event != nil {
		tell := m.tell
		m.mu.Unlock()
		if err := load.CheckEvent(w.Event); err != nil {
			return err
		}
		if tell != nil {
			tell(load.Event{Kind: w.Event.Kind, Sentence: document.Clean(w.Event.Sentence)})
		}
		return nil
	}
	defer m.mu.Unlock()
	c := m.pending[w.Call]
	switch {
	case c == nil:
		return fmt.Errorf("it answered order %d, which it was not given", w.Call)
	case c.bytes+int64(len(w.Part)) > c.most:
		return fmt.Errorf("its answer has more than %d bytes", c.most)
	case len(w.Error) > load.TextMost:
		return fmt.Errorf("its error has %d bytes, which is more than %d", len(w.Error),
			load.TextMost)
	}
	if c.bytes += int64(len(w.Part)); len(w.Part) > 0 {
		c.answer = append(c.answer, w.Part)
	} else if !w.Last {
		return errors.New("a part of its answer is empty")
	}
	if w.Last {
		if w.Error != "" {
			c.failed = fmt.Errorf("%s %s on %s: %s", m.hello.role(), m.hello.Name, m.hello.Host,
				document.Clean(w.Error))
		}
		delete(m.pending, w.Call)
		close(c.done)
	}
	return nil
}

// serve sends orders and takes words until the stream or the worker ends.
func (m *member) serve(stream grpc.ServerStream) error {
	ended := make(chan error, 1)
	go func() {
		for {
			w := new(word)
			err := stream.RecvMsg(w)
			if err == nil {
				err = m.take(w)
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	look := time.NewTicker(ownerLimit / 5)
	defer look.Stop()
	for {
		select {
		case o := <-m.orders:
			if err := stream.SendMsg(o); err != nil {
				return fmt.Errorf("its connection broke: %w", err)
			}
		case err := <-ended:
			return m.ended(err)
		case now := <-look.C:
			if err := m.silent(now); err != nil {
				return err
			}
		case <-m.gone:
			return m.err()
		}
	}
}

// ended says why a worker's connection ended. A worker that is stopped, or whose machine cannot be
// reached, does not close its connection: gRPC does, when its own questions get no answer.
func (m *member) ended(err error) error {
	if status.Code(err) != codes.Canceled && !errors.Is(err, io.EOF) {
		return plain(err)
	}
	m.mu.Lock()
	since := time.Since(m.heardAt)
	m.mu.Unlock()
	if since > aliveLimit {
		return silence(since)
	}
	return errors.New("its connection ended")
}

func silence(since time.Duration) error {
	return fmt.Errorf("it was silent for %s", quantity.ExactDuration(since.Round(time.Second)))
}
