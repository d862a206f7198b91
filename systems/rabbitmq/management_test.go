package rabbitmq

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestBusyManagement asks servers that answer 500, as they do while they start a queue: a request
// is repeated until it is answered or its time is over.
func TestBusyManagement(t *testing.T) {
	failures := 3
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNotFound)
		case failures == 0:
			_, _ = w.Write([]byte(`[{"name":"n1"}]`))
		default:
			failures--
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer s.Close()
	m := managementAt([]string{s.URL}, "guest", "guest", nil)
	if nodes, err := m.nodes(t.Context()); err != nil || len(nodes) != 1 || failures != 0 {
		t.Errorf("%v, %v after all but %d failures", nodes, err, failures)
	}
	err := m.call(t.Context(), http.MethodDelete, "/", nil, nil)
	if !errors.Is(err, errNotThere) {
		t.Errorf("a refusal that will not pass: %v", err)
	}
	failures = 1 << 20
	ctx, cancel := context.WithTimeout(t.Context(), 3*settlePoll)
	defer cancel()
	began := time.Now()
	_, err = m.nodes(ctx)
	if err == nil || !strings.Contains(err.Error(), "is busy") || time.Since(began) > requestWithin {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

// slow answers every request after its time.
type slow time.Duration

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(time.Duration(s)):
		body := io.NopCloser(strings.NewReader(`[{"name":"n1"}]`))
		return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// TestLateManagement asks servers of which none answers within the time of the first request.
func TestLateManagement(t *testing.T) {
	for _, it := range []struct {
		takes    time.Duration
		answered bool
	}{{3 * requestWithin, true}, {2 * busyWithin, false}} {
		synctest.Test(t, func(t *testing.T) {
			m := managementAt([]string{"http://only"}, "guest", "guest", nil)
			m.api.Client.Transport = slow(it.takes)
			began := time.Now()
			_, err := m.nodes(t.Context())
			if (err == nil) != it.answered || time.Since(began) > busyWithin {
				t.Errorf("answers in %s: %v after %s", it.takes, err, time.Since(began))
			}
			if err != nil && !strings.Contains(err.Error(), "GET /api/nodes") {
				t.Errorf("does not name what was asked: %v", err)
			}
		})
	}
}
