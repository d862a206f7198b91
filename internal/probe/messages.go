package probe

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// message is a sent message. It keeps its outcome.
type message struct {
	system.Message
	ended chan error
}

// Complete stores the outcome.
func (l *message) Complete(err error) { l.ended <- err }

// numbers returns the payloads "first" to "first+n-1", in the order of sending.
func numbers(first, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(first + i)
	}
	return all
}

// atOnce is the number of messages that are sent before all of them are acknowledged. More
// messages would make one batch, which some systems deliver as a whole.
const atOnce = 10

// send publishes the payloads to the partitions in turn, from one producer, and returns when
// all are acknowledged.
func (t *attempt) send(topic system.Topic, payloads []string) error {
	return t.sendKeyed(topic, payloads, nil)
}

// sendKeyed is send of messages that have the keys in turn; nil: none.
func (t *attempt) sendKeyed(topic system.Topic, payloads, keys []string) error {
	p, err := t.cluster.OpenProducer(t.ctx, system.ProducerOptions{
		Topic: topic, InFlight: atOnce, MessageMax: 1 << 10, Delivery: workload.AtLeastOnce,
	})
	if err != nil {
		return fmt.Errorf("open a producer: %w", err)
	}
	next := 0
	for some := range slices.Chunk(payloads, atOnce) {
		all := make([]*message, len(some))
		for i, payload := range some {
			all[i] = &message{ended: make(chan error, 1)}
			all[i].Payload, all[i].Partition = []byte(payload), int32(next%topic.Partitions)
			if len(keys) > 0 {
				all[i].Key = []byte(keys[next%len(keys)])
			}
			all[i].Bind(all[i])
			p.Send(&all[i].Message)
			next++
		}
		if err = t.acknowledged(all); err != nil {
			break
		}
	}
	if closing := p.Close(t.ctx); closing != nil && err == nil {
		err = fmt.Errorf("close the producer: %w", closing)
	}
	return err
}

// acknowledged waits for the outcomes of messages.
func (t *attempt) acknowledged(all []*message) error {
	for _, l := range all {
		select {
		case err := <-l.ended:
			if err != nil {
				return fmt.Errorf("message %s was not acknowledged: %w", l.Payload, err)
			}
		case <-t.ctx.Done():
			return fmt.Errorf("message %s was not answered: %w", l.Payload, t.ctx.Err())
		}
	}
	return nil
}

// inbox holds the arrived messages, in order. Its methods may be called from any goroutine.
type inbox struct {
	mu     sync.Mutex
	all    []string
	at     []time.Time
	failed error
	came   chan struct{}
}

func newInbox() *inbox { return &inbox{came: make(chan struct{}, 1)} }

func (b *inbox) add(payload []byte) { b.put(string(payload)) }

// receive is the Receive function of a consumer.
func (b *inbox) receive(m system.Received) { b.add(m.Payload) }

func (b *inbox) put(payload string) {
	b.mu.Lock()
	b.all, b.at = append(b.all, payload), append(b.at, time.Now())
	b.mu.Unlock()
	b.note()
}

func (b *inbox) fail(err error) {
	b.mu.Lock()
	b.failed = err
	b.mu.Unlock()
	b.note()
}

func (b *inbox) note() {
	select {
	case b.came <- struct{}{}:
	default:
	}
}

func (b *inbox) contents() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

// arrived returns the time at which a payload first came; false: it did not come.
func (b *inbox) arrived(payload string) (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.all, payload)
	if i < 0 {
		return time.Time{}, false
	}
	return b.at[i], true
}

func (b *inbox) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// await waits until done accepts the arrived messages, and at most as long as most. The end of
// that time is not an error: the probe examines what has arrived.
func (b *inbox) await(ctx context.Context, most time.Duration,
	done func(all []string) bool) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		if err := b.failure(); err != nil {
			return fmt.Errorf("a consumer failed: %w", err)
		}
		if done(b.contents()) {
			return nil
		}
		select {
		case <-b.came:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%d messages arrived: %w", len(b.contents()), ctx.Err())
		}
	}
}

// awaitAll waits until all wanted messages have arrived, and then until nothing more arrives,
// so that copies are seen.
func (b *inbox) awaitAll(ctx context.Context, most time.Duration, wanted []string) error {
	if err := b.await(ctx, most,
		func(all []string) bool { return len(missing(all, wanted)) == 0 }); err != nil {
		return err
	}
	return b.silence(ctx)
}

// silence waits until nothing has arrived for the time quiet.
func (b *inbox) silence(ctx context.Context) error {
	for n := -1; n != len(b.contents()); {
		n = len(b.contents())
		if err := b.await(ctx, quiet, func(all []string) bool { return len(all) > n }); err != nil {
			return err
		}
	}
	return nil
}

// missing returns the wanted messages that did not arrive.
func missing(all, wanted []string) []string {
	there := make(map[string]bool, len(all))
	for _, one := range all {
		there[one] = true
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(one string) bool { return there[one] })
}

// repeated returns the number of arrivals that were copies.
func repeated(all []string) int {
	seen := make(map[string]bool, len(all))
	n := 0
	for _, one := range all {
		if seen[one] {
			n++
		}
		seen[one] = true
	}
	return n
}

// inversions returns how many numbers came after a greater number.
func inversions(all []string) int {
	greatest, n := -1, 0
	for _, one := range all {
		number, err := strconv.Atoi(one)
		if err != nil {
			continue
		}
		if number < greatest {
			n++
		}
		greatest = max(greatest, number)
	}
	return n
}

// listed describes the arrived messages on one line.
func listed(all []string) string {
	const most = 12
	switch {
	case len(all) == 0:
		return "nothing"
	case len(all) > most:
		return strings.Join(all[:most], " ") + " …"
	}
	return strings.Join(all, " ")
}

// rounded returns a duration as evidence shows it.
func rounded(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
