package system

import (
	"context"
	"errors"
	"testing"
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
	if is, err := all.Close(ctx); !is || !errors.Is(err, broken) {
		t.Errorf("the first Close: %v, %v", is, err)
	}
	if is, err := all.Close(ctx); is || err != nil {
		t.Errorf("the second Close: %v, %v", is, err)
	}
	if err := all.Keep(ctx, late); !errors.Is(err, ErrClosed) {
		t.Errorf("Keep on what is closed: %v", err)
	}
	all.Forget(late)
	if first.closed != 1 || second.closed != 1 || forgotten.closed != 0 || late.closed != 1 {
		t.Errorf("closed %d, %d, %d and %d times", first.closed, second.closed, forgotten.closed, late.closed)
	}
}
