package driver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Bounds of an answer over HTTP, in bytes.
const (
	maxAnswer = 64 << 20 // thousands of queues fit
	maxReason = 300      // of a refusal
)

// API sends requests to servers over HTTP, in JSON. It is safe for concurrent use.
type API struct {
	Bases     []string // scheme://host:port of each server
	Client    *http.Client
	Authorise func(*http.Request) // adds the credentials; nil: there are none
}

// NewHTTPClient returns a client that keeps no connections, because servers are asked rarely, so
// that there is none to close. A connection, over TLS if config is not nil, takes at most three
// seconds, and a request at most within; 0: as long as its context.
func NewHTTPClient(config *tls.Config, within time.Duration) *http.Client {
	transport := &http.Transport{DisableKeepAlives: true, TLSHandshakeTimeout: dialWithin}
	transport.DialContext = (&net.Dialer{Timeout: dialWithin}).DialContext
	if config != nil {
		transport.TLSClientConfig = config.Clone()
	}
	return &http.Client{Transport: transport, Timeout: within}
}

// GetPlain reads an answer of a server without encryption or credentials, within five seconds.
func GetPlain(ctx context.Context, address, path string, into any) error {
	api := API{Bases: []string{"http://" + address}, Client: NewHTTPClient(nil, plainWithin)}
	return api.Do(ctx, http.MethodGet, path, nil, into)
}

const plainWithin = 5 * time.Second

// Refused is an answer that is not a success.
type Refused struct {
	Status int
	Reason string // in the server's words, on one line
}

func (r *Refused) Error() string { return fmt.Sprintf("%s (HTTP %d)", r.Reason, r.Status) }

// HasStatus reports whether an error is a refusal with a given status.
func HasStatus(err error, status int) bool {
	var r *Refused
	return errors.As(err, &r) && r.Status == status
}

// Do sends a request to one server after another until one answers, even with a refusal.
// The path is escaped. A nil body sends none. A nil into ignores the answer, and a *string
// takes it unparsed. When no server answers, the error is the first server's.
func (a *API) Do(ctx context.Context, method, path string, body, into any) error {
	first := errors.New("there is no server to ask")
	for i, base := range a.Bases {
		answered, err := a.ask(ctx, method, base+path, body, into)
		if err == nil || answered {
			return err
		}
		if i == 0 {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return first
}

func (a *API) ask(ctx context.Context, method, where string, body, into any) (answered bool,
	err error) {
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return false, fmt.Errorf("write the request: %w", err)
		}
		content = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, where, content)
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/json")
	if a.Authorise != nil {
		a.Authorise(request)
	}
	response, err := a.Client.Do(request)
	if err != nil {
		return false, PlainError(err)
	}
	defer func() { _ = response.Body.Close() }() // already read
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	if status := response.StatusCode; status >= http.StatusMultipleChoices {
		return true, &Refused{status, cmp.Or(reasonOf(raw), http.StatusText(status))}
	}
	switch as := into.(type) {
	case nil:
		return true, nil
	case *string:
		*as = strings.TrimSpace(string(raw))
		return true, nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return true, fmt.Errorf("read the answer of %s: %w", request.URL.Host, err)
	}
	return true, nil
}

// PlainError returns the reason of an HTTP client's error without method and address,
// which mean nothing to the user.
func PlainError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// reasonOf returns the first line of a server's reason, bounded.
func reasonOf(raw []byte) string {
	var said map[string]any
	if json.Unmarshal(raw, &said) != nil {
		return ""
	}
	words := ""
	for _, key := range []string{"reason", "message", "error"} {
		if text, is := said[key].(string); is && words == "" {
			words = text
		}
	}
	const preface = "--- An unexpected error occurred in the server ---"
	reason, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	reason = strings.TrimSpace(strings.TrimPrefix(reason, preface))
	if len(reason) > maxReason {
		reason = reason[:maxReason] + "…"
	}
	return strings.ToValidUTF8(reason, "")
}
