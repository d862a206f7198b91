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

// letter is a message that remembers its end.
type letter struct {
	system.Message
	ended chan error
}

// Complete notes the end.
func (l *letter) Complete(err error) { l.ended <- err }

// numbers are the payloads "first" to "first+n-1": their order is their order
// of sending.
func numbers(first, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(first + i)
	}
	return all
}

// atOnce is how many messages are sent before all of them are acknowledged.
// More would make one batch of them, which some systems deliver as a whole.
const atOnce = 10

// send publishes the payloads round the partitions, from one producer, and
// returns when all are acknowledged.
func (t *trial) send(topic system.Topic, payloads []string) error {
	p, err := t.cluster.OpenProducer(t.ctx, system.ProducerOptions{
		Topic: topic, InFlight: atOnce, MessageMax: 1 << 10, Delivery: workload.AtLeastOnce,
	})
	if err != nil {
		return fmt.Errorf("open a producer: %w", err)
	}
	next := 0
	for some := range slices.Chunk(payloads, atOnce) {
		all := make([]*letter, len(some))
		for i, payload := range some {
			all[i] = &letter{ended: make(chan error, 1)}
			all[i].Payload, all[i].Partition = []byte(payload), int32(next%topic.Partitions)
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

// acknowledged waits for the ends of messages.
func (t *trial) acknowledged(all []*letter) error {
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

// basket holds what arrived, in its order. Its methods may be called from any
// goroutine.
type basket struct {
	mu     sync.Mutex
	all    []string
	at     []time.Time
	failed error
	came   chan struct{}
}

func newBasket() *basket { return &basket{came: make(chan struct{}, 1)} }

func (b *basket) add(payload []byte) { b.put(string(payload)) }

// receive is a consumer's Receive.
func (b *basket) receive(m system.Received) { b.add(m.Payload) }

func (b *basket) put(payload string) {
	b.mu.Lock()
	b.all, b.at = append(b.all, payload), append(b.at, time.Now())
	b.mu.Unlock()
	b.note()
}

func (b *basket) fail(err error) {
	b.mu.Lock()
	b.failed = err
	b.mu.Unlock()
	b.note()
}

func (b *basket) note() {
	select {
	case b.came <- struct{}{}:
	default:
	}
}

func (b *basket) contents() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

// arrived is when a payload came first; false: it did not.
func (b *basket) arrived(payload string) (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.all, payload)
	if i < 0 {
		return time.Time{}, false
	}
	return b.at[i], true
}

func (b *basket) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// await waits until done says so of what arrived, and for most at most. That
// the time is over is no error: the probe looks at what is there.
func (b *basket) await(ctx context.Context, most time.Duration,
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

// awaitAll waits until all of these have arrived, and then until it is quiet,
// so that what comes twice is seen.
func (b *basket) awaitAll(ctx context.Context, most time.Duration, wanted []string) error {
	if err := b.await(ctx, most,
		func(all []string) bool { return len(missing(all, wanted)) == 0 }); err != nil {
		return err
	}
	return b.silence(ctx)
}

// silence waits until nothing has arrived for a while.
func (b *basket) silence(ctx context.Context) error {
	for n := -1; n != len(b.contents()); {
		n = len(b.contents())
		if err := b.await(ctx, quiet, func(all []string) bool { return len(all) > n }); err != nil {
			return err
		}
	}
	return nil
}

// missing are those that did not arrive.
func missing(all, wanted []string) []string {
	there := make(map[string]bool, len(all))
	for _, one := range all {
		there[one] = true
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(one string) bool { return there[one] })
}

// repeated is how many arrivals were not the first of their message.
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

// inversions is how many numbers came after a greater one.
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

// listed is what arrived, in words that fit a line.
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

// rounded is a time as evidence tells it.
func rounded(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
