package driver

import (
	"context"
	"errors"
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

// Keep adds an open client. When the cluster has been closed meanwhile, it closes the
// client and returns ErrClosed.
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

// Forget removes a client that was closed by itself.
func (c *Clients) Forget(one Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, one)
}

// Close closes all open clients concurrently and refuses further clients. first reports
// whether this call was the first.
func (c *Clients) Close(ctx context.Context) (first bool, err error) {
	c.mu.Lock()
	first = !c.closed
	c.closed = true
	all := c.open
	c.open = nil
	c.mu.Unlock()
	var closing sync.WaitGroup
	var failed sync.Mutex
	var errs []error
	for one := range all {
		closing.Go(func() {
			if err := one.Close(ctx); err != nil {
				failed.Lock()
				defer failed.Unlock()
				errs = append(errs, err)
			}
		})
	}
	closing.Wait()
	return first, errors.Join(errs...)
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
