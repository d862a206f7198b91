package driver

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Receiver hands a consumer's messages to the engine's Receive until it is stopped, and
// the first error to Failed.
type Receiver struct {
	Options system.ConsumerOptions
	// Life ends when the consumer's loop must stop taking messages, and Cancel ends it; since
	// Begin.
	Life            context.Context
	Cancel          context.CancelFunc
	ended           chan struct{} // closed when the loop has ended
	stopped, failed atomic.Bool
}

// Begin runs the consumer's loop, which takes messages until Life ends.
func (r *Receiver) Begin(loop func()) {
	r.Life, r.Cancel = context.WithCancel(context.Background())
	r.ended = make(chan struct{})
	go func() {
		defer close(r.ended)
		loop()
	}()
}

// Handle hands over a message. After Stop it returns false without the call.
func (r *Receiver) Handle(m system.Received) bool {
	if r.stopped.Load() {
		return false
	}
	r.Options.Receive(m)
	return true
}

// Take hands over a message and asks at once whether it is given back. After Stop, handled is
// false and nothing is called. A consumer whose goroutines share a Receiver holds one lock around
// Take.
func (r *Receiver) Take(m system.Received) (handled, back bool) {
	handled = r.Handle(m)
	return handled, handled && r.Options.GiveBack != nil && r.Options.GiveBack()
}

// Stop prevents further calls of Receive and Failed.
func (r *Receiver) Stop() { r.stopped.Store(true) }

// Stopped reports whether Stop was called.
func (r *Receiver) Stopped() bool { return r.stopped.Load() }

// Fail reports an error after which no message arrives any more.
func (r *Receiver) Fail(err error) {
	if !r.stopped.Load() && !r.failed.Swap(true) && r.Options.Failed != nil {
		r.Options.Failed(err)
	}
}

// End ends Life, and waits within ctx until the loop has ended. After it no message is handed over.
func (r *Receiver) End(ctx context.Context) error {
	r.Cancel()
	err := r.Await(ctx)
	r.Stop()
	return err
}

// Await waits within ctx until the loop has ended.
func (r *Receiver) Await(ctx context.Context) error { return AwaitHandled(ctx, r.ended) }

// AwaitHandled waits until the loop that hands over messages has ended. If ctx ends first, it does
// not wait for a running Receive.
func AwaitHandled(ctx context.Context, ended <-chan struct{}) error {
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the consumer: a message is still being handled: %w", ctx.Err())
	}
}
