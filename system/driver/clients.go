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

// Clients are the producers and consumers that a cluster has opened and must
// close. The zero value has none. Its methods may be called from any goroutine.
type Clients struct {
	mu     sync.Mutex
	closed bool
	open   map[Closer]struct{}
}

// Keep remembers a client that was opened. When the cluster was closed meanwhile, it
// closes the client and returns ErrClosed.
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

// Forget is for a client that was closed by itself.
func (c *Clients) Forget(one Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, one)
}

// Close closes all open clients at once, and keeps no further one. first says
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

// Once runs the close of a client the first time, and then has the cluster forget the
// client. Every other call waits until the first has returned, and returns nil.
func (c *Closing) Once(of *Clients, one Closer, close func() error) (err error) {
	c.once.Do(func() {
		defer of.Forget(one)
		err = close()
	})
	return err
}
