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
	Options         system.ConsumerOptions
	stopped, failed atomic.Bool
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

// End calls cancel, which makes the consumer's loop stop taking messages, and waits within ctx
// until the loop has ended. After it no message is handed over.
func (r *Receiver) End(ctx context.Context, cancel func(), ended <-chan struct{}) error {
	cancel()
	err := AwaitHandled(ctx, ended)
	r.Stop()
	return err
}

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
