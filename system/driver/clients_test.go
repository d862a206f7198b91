package driver

import (
	"context"
	"errors"
	"testing"
	"time"
)

type client struct {
	closed int
	err    error
}

func (c *client) Close(context.Context) error {
	c.closed++
	return c.err
}

func TestClients(t *testing.T) {
	var all Clients
	ctx := t.Context()
	broken := errors.New("broken")
	first, second, forgotten, late := &client{err: broken}, &client{}, &client{}, &client{}
	for _, one := range []*client{first, second, forgotten} {
		if err := all.Keep(ctx, one); err != nil {
			t.Fatal(err)
		}
	}
	all.Forget(forgotten)
	then := 0
	count := func() error { then++; return nil }
	if err := all.Close(ctx, count); then != 1 || !errors.Is(err, broken) {
		t.Errorf("the first Close: %d calls, %v", then, err)
	}
	if err := all.Close(ctx, count); then != 1 || err != nil {
		t.Errorf("the second Close: %d calls, %v", then, err)
	}
	if err := all.Keep(ctx, late); !errors.Is(err, ErrClosed) {
		t.Errorf("Keep on what is closed: %v", err)
	}
	all.Forget(late)
	if first.closed != 1 || second.closed != 1 || forgotten.closed != 0 || late.closed != 1 {
		t.Errorf("closed %d, %d, %d and %d times", first.closed, second.closed, forgotten.closed,
			late.closed)
	}
}

func TestClosingRunsOnce(t *testing.T) {
	var all Clients
	var closing Closing
	one := &client{}
	if err := all.Keep(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	began, end := make(chan struct{}), make(chan struct{})
	first, second := make(chan error), make(chan error)
	go func() {
		first <- closing.Once(&all, one, func() error {
			close(began)
			<-end
			return broken
		})
	}()
	<-began
	twice := func() error { return errors.New("closed twice") }
	go func() { second <- closing.Once(&all, one, twice) }()
	select {
	case err := <-second:
		t.Errorf("the second Close did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(end)
	if a, b := <-first, <-second; a != broken || b != nil {
		t.Errorf("the two Closes returned %v and %v", a, b)
	}
	if err := all.Close(t.Context()); err != nil || one.closed != 0 {
		t.Errorf("the client was not forgotten: closed %d times, %v", one.closed, err)
	}
}
