package driver

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ask asks an API whose first server is down and whose second answers.
func ask(t *testing.T, method string, body, into any, answer http.HandlerFunc) error {
	t.Helper()
	down, up := httptest.NewServer(answer), httptest.NewServer(answer)
	down.Close()
	defer up.Close()
	a := &API{Bases: []string{down.URL, up.URL}, Client: up.Client(),
		Authorise: func(r *http.Request) { r.SetBasicAuth("me", "secret") }}
	return a.Do(t.Context(), method, "/path", body, into)
}

func TestAPIAsksTheServerThatAnswers(t *testing.T) {
	var got struct{ Name string }
	err := ask(t, http.MethodPut, map[string]int{"n": 1}, &got,
		func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			if user != "me" || password != "secret" || r.URL.Path != "/path" ||
				r.Method != http.MethodPut {
				t.Errorf("asked %s %s as %s", r.Method, r.URL, user)
			}
			fmt.Fprint(w, `{"name":"n1"}`)
		})
	if err != nil || got.Name != "n1" {
		t.Errorf("%+v, %v", got, err)
	}
	var text string
	err = ask(t, http.MethodGet, nil, &text, func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 0 {
			t.Error("a question without a body has one")
		}
		fmt.Fprintln(w, " 4.0.1 ")
	})
	if err != nil || text != "4.0.1" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAPIRefusals(t *testing.T) {
	for _, c := range []struct{ answer, reason string }{
		{`{"reason":"no such thing\nat line 1"}`, "no such thing"},
		{`{"reason":"--- An unexpected error occurred in the server ---"}`, "Not Found"},
		{`no JSON`, "Not Found"},
		{`{"error":404,"message":"TOPIC_NOT_FOUND"}`, "TOPIC_NOT_FOUND"},
		{`{"reason":"` + strings.Repeat("x", 1000) + `"}`, strings.Repeat("x", maxReason) + "…"},
	} {
		asked := 0
		err := ask(t, http.MethodGet, nil, nil, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, c.answer)
		})
		var refused *Refused
		if !errors.As(err, &refused) || refused.Reason != c.reason || asked != 1 {
			t.Errorf("%s: %v after %d questions", c.answer, err, asked)
		}
		if !HasStatus(err, http.StatusNotFound) || HasStatus(err, http.StatusConflict) {
			t.Errorf("the status of %v is another", err)
		}
	}
	var number int
	err := ask(t, http.MethodGet, nil, &number, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "x")
	})
	if err == nil || !strings.Contains(err.Error(), "read the answer") {
		t.Errorf("got %v", err)
	}
}

func TestAPIWhoseServersAreDown(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	a := &API{Bases: []string{gone.URL}, Client: http.DefaultClient,
		Authorise: func(*http.Request) {}}
	err := a.Do(t.Context(), http.MethodGet, "/path", nil, nil)
	if err == nil || strings.Contains(err.Error(), "/path") || errors.As(err, new(*Refused)) {
		t.Errorf("got %v", err)
	}
	a.Bases = nil
	if err := a.Do(t.Context(), http.MethodGet, "/path", nil, nil); err == nil {
		t.Error("nobody answered without an error")
	}
}
