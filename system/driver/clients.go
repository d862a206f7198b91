package driver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// ErrClosed is the error of a request to a cluster that is closed.
var ErrClosed = errors.New("the cluster is closed")

// Closer is a Producer or a Consumer.
type Closer interface {
	Close(ctx context.Context) error
}

// Clients holds the producers and consumers that a cluster has opened and must close.
// The zero value is empty. It is safe for concurrent use.
type Clients struct {
	mu     sync.Mutex
	closed bool
	open   map[Closer]struct{}
}

// Keep adds an open client. If the cluster has been closed meanwhile, it closes the client and
// returns ErrClosed.
func (c *Clients) Keep(ctx context.Context, one Closer) error {
	c.mu.Lock()
	closed := c.closed
	if !closed {
		if c.open == nil {
			c.open = make(map[Closer]struct{})
		}
		c.open[one] = struct{}{}
	}
	c.mu.Unlock()
	if closed {
		return errors.Join(ErrClosed, one.Close(ctx))
	}
	return nil
}

// Forget removes a client that closed itself.
func (c *Clients) Forget(one Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, one)
}

// ClientsOf returns the open clients of a type.
func ClientsOf[C Closer](c *Clients) (all []C) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.open {
		if of, is := one.(C); is {
			all = append(all, of)
		}
	}
	return all
}

// Close closes all open clients concurrently and refuses further clients. Then the first call
// calls the functions in then, which close the cluster's own connections.
func (c *Clients) Close(ctx context.Context, then ...func() error) error {
	c.mu.Lock()
	if c.closed {
		then = nil
	}
	c.closed = true
	all := c.open
	c.open = nil
	c.mu.Unlock()
	err := CloseAll(ctx, slices.Collect(maps.Keys(all)))
	for _, close := range then {
		err = errors.Join(err, close())
	}
	return err
}

// CloseAll closes clients concurrently.
func CloseAll[C Closer](ctx context.Context, all []C) error {
	return errors.Join(DoAll(len(all), func(i int) error { return all[i].Close(ctx) })...)
}

// Closing makes the Close of a client idempotent. The zero value is ready.
type Closing struct{ once sync.Once }

// Once runs a client's close the first time, and then removes the client from the
// cluster. Every other call waits until the first has returned, and returns nil.
func (c *Closing) Once(of *Clients, one Closer, close func() error) (err error) {
	c.once.Do(func() {
		defer of.Forget(one)
		err = close()
	})
	return err
}

// AskAll calls ask with 0 to n-1 at once, and returns every answer and every error.
func AskAll[T any](n int, ask func(i int) (T, error)) ([]T, []error) {
	all := make([]T, n)
	errs := DoAll(n, func(i int) (err error) {
		all[i], err = ask(i)
		return err
	})
	return all, errs
}

// DoAll calls do with 0 to n-1 at once, and returns every error.
func DoAll(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var doing sync.WaitGroup
	for i := range n {
		doing.Go(func() { errs[i] = do(i) })
	}
	doing.Wait()
	return errs
}
