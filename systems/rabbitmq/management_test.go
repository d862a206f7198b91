package rabbitmq

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
