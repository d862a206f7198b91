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

// Handle hands a message over. It returns false, without the call, after Stop.
func (r *Receiver) Handle(m system.Received) bool {
	if r.stopped.Load() {
		return false
	}
	r.Options.Receive(m)
	return true
}

// Take hands a message over and asks at once whether it goes back: handled is false, without a
// call, after Stop. A consumer whose goroutines share a Receiver holds one lock around Take.
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

// End calls cancel, which has the loop of a consumer take no more messages, and waits within ctx
// until the loop has ended. After it no message is handed over.
func (r *Receiver) End(ctx context.Context, cancel func(), ended <-chan struct{}) error {
	cancel()
	err := AwaitHandled(ctx, ended)
	r.Stop()
	return err
}

// AwaitHandled waits until the loop that hands messages over has ended. When ctx ends
// first, it does not wait for a Receive that is still running.
func AwaitHandled(ctx context.Context, ended <-chan struct{}) error {
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("closing the consumer: a message is still being handled: %w", ctx.Err())
	}
}
