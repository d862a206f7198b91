package rabbitmq

import (
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
)

// slowHandling is the time from which on the handling of a message is slow: acknowledgements that
// are due are sent at once, because the next message may be as slow.
const slowHandling = 100 * time.Microsecond

// flow is a basic.consume.
type flow struct {
	r     *consumer
	t     *tap
	link  *link
	over  <-chan amqp.Delivery // closed by the library when the consumer has ended
	tag   string
	delay time.Duration // ack_delay
	batch int           // ack_batch
	heard atomic.Bool   // a message came since await looked

	mu      sync.Mutex // held while a message is handled; guards what follows
	channel *channel
	stopped bool
	last    uint64      // delivery tag of the last message handled
	pending int         // messages handled and not acknowledged
	overdue *time.Timer // runs while messages are pending and ack_delay is not 0
}

// begin opens the channel and begins to consume.
func (f *flow) begin() error {
	stop := guard(f.r.life, f.link.conn)
	defer stop()
	ch, err := f.link.open(events{delivered: f.handle})
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.channel = ch
	f.overdue = time.AfterFunc(time.Hour, f.late)
	f.overdue.Stop()
	f.mu.Unlock()
	if !f.r.early {
		err = ch.Qos(int(f.r.of.cfg.Count(setPrefetch)), 0, false)
	}
	if err == nil {
		f.over, err = ch.Consume(f.tag, f.tag, f.r.early, false, false, false, nil)
	}
	if err != nil {
		_ = ch.Close() // its error adds nothing to err
	}
	return err
}

// lookEvery is how often a consumer that receives nothing looks for its queue.
const lookEvery = 30 * time.Second

// await waits until the server ends the consumer, the partition goes to another one, or the reader
// ends. It looks for the queue when no message comes: servers tell the consumers of a quorum queue
// that is deleted nothing. A request that is not answered ends with the connection.
func (f *flow) await() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-f.over:
			return
		case <-f.t.leave:
			// Messages that have arrived are handled before the server's answer.
			_ = f.channel.Cancel(f.tag, false) // it fails only if the channel has ended
			return
		case <-f.r.life.Done():
			return
		case <-ticker.C:
			if !f.heard.Swap(false) && isMissing(f.link.wire, f.tag) {
				return
			}
		}
	}
}

// end handles no further message, acknowledges those that were handled as far as possible, and
// closes the channel.
func (f *flow) end() {
	f.mu.Lock()
	f.stopped = true
	f.acknowledge()
	f.mu.Unlock()
	_ = f.link.send()     // Close reports it
	_ = f.channel.Close() // it fails if the channel has ended
}

// handle handles a message. It acknowledges when a batch is full, and ack_delay after the batch's
// first message, or without ack_delay when no message waits. The queue is its partition, and it
// carries no key.
func (f *flow) handle(tag uint64, body []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	if !f.heard.Load() {
		f.heard.Store(true)
	}
	began := time.Now()
	handled, back := f.r.take(system.Received{Payload: body, Partition: int32(f.t.partition)})
	switch {
	case !handled:
		f.stopped = true
	case f.r.early:
	case back:
		f.acknowledge() // an acknowledgement counts for all messages before it
		f.channel.giveBack(tag)
	default:
		f.count(tag)
	}
	if time.Since(began) >= slowHandling {
		_ = f.link.send() // Read reports it
	}
}

// count counts a message that was handled, and acknowledges a full batch. The caller holds the
// lock.
func (f *flow) count(tag uint64) {
	f.last = tag
	f.pending++
	switch {
	case f.pending >= f.batch:
		f.acknowledge()
	case f.pending > 1:
	case f.delay > 0:
		f.overdue.Reset(f.delay)
	default:
		f.link.waiting = append(f.link.waiting, f)
	}
}

// rest acknowledges what no further message joins.
func (f *flow) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.acknowledge()
}

// late acknowledges what has waited for ack_delay.
func (f *flow) late() {
	f.rest()
	_ = f.link.send() // Read reports it
}

// acknowledge acknowledges all messages that were handled, when the wire sends next. If the
// acknowledgement does not reach the server, the server redelivers them, as it must. The caller
// holds the lock.
func (f *flow) acknowledge() {
	if f.pending > 0 {
		f.channel.ack(f.last)
		f.pending = 0
		f.overdue.Stop()
	}
}
