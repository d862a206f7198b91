package systemtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// answersWithin is the time within which a wrong target must be refused.
const answersWithin = 10 * time.Second

// Refused checks that an error came in time, is one sentence, and says what to check.
func Refused(t testing.TB, began time.Time, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("it was accepted")
	}
	if took := time.Since(began); took > answersWithin {
		t.Errorf("it took %s", took)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one sentence: %v", err)
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("does not say %q: %v", part, err)
		}
	}
	t.Logf("after %s: %v", time.Since(began).Round(time.Millisecond), err)
}

// TryConnect connects, and closes the connection if it succeeds.
func TryConnect(t testing.TB, s system.System, o system.Options) (began time.Time, err error) {
	t.Helper()
	began = time.Now()
	c, err := s.Connect(t.Context(), o)
	if err == nil {
		closeCluster(t, c)
	}
	return began, err
}

func closeCluster(t testing.TB, c system.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), answersWithin)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

// Connect connects for the time of the test. C is the system's own type of a connected cluster.
func Connect[C system.Cluster](t testing.TB, s system.System, o system.Options) C {
	t.Helper()
	c, err := s.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeCluster(t, c) })
	return c.(C)
}
