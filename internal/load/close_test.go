package load

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// slow closes slowly, and then fails if configured.
type slow struct {
	takes  time.Duration
	fails  error
	closed bool
}

func (s *slow) Close(ctx context.Context) error {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		s.fails = ctx.Err()
	}
	s.closed = true
	return s.fails
}

// Neither a failure nor the limit prevents the closing of the others, and progress is reported.
func TestCloseAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		all := make([]*slow, 3*maxClosing)
		for i := range all {
			all[i] = &slow{takes: 1300 * time.Millisecond}
		}
		all[1].takes, all[1].fails = time.Millisecond, broken
		var told []string
		err := closeAll(5*time.Second, all, Counting(func(s string) { told = append(told, s) },
			"closed %s of %s", len(all)), func(s *slow) closer { return s })
		if !errors.Is(err, broken) {
			t.Errorf("got %v, want the first error", err)
		}
		for i, s := range all {
			if !s.closed {
				t.Fatalf("client %d was not closed", i)
			}
		}
		if want := []string{"closed 1 of 1,536", "closed 513 of 1,536",
			"closed 1,025 of 1,536"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}
