package pulsar

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

const (
	maxRedirects = 5
	maxReason    = 300 // of what a server says of a refusal, in bytes
)

// admin speaks to the brokers' admin API. Its methods may be called from any
// goroutine.
type admin struct {
	bases []string // scheme://host:port of each broker
	http  *http.Client
	token string
}

// parseAdmin reads host:port, host:port; nothing for auto.
func parseAdmin(text string) ([]string, error) {
	if text == auto {
		return nil, nil
	}
	var all []string
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if host, port, err := net.SplitHostPort(part); err != nil || host == "" || port == "" || strings.ContainsAny(part, "/@") {
			return nil, fmt.Errorf("%q is not host:port: write them with commas between, like broker-1:8080, broker-2:8080", strings.ReplaceAll(part, "@", "…"))
		}
		all = append(all, part)
	}
	return all, nil
}

// adminOf are the admin addresses that go with the brokers' endpoints.
func adminOf(endpoints []string, text string, encrypted bool) []string {
	if given, err := parseAdmin(text); err == nil && given != nil {
		return given
	}
	port := fmt.Sprint(webPort)
	if encrypted {
		port = fmt.Sprint(webTLSPort)
	}
	var all []string
	for _, e := range endpoints {
		if host, _, err := net.SplitHostPort(e); err == nil {
			all = append(all, net.JoinHostPort(host, port))
		}
	}
	return all
}

func newAdmin(endpoints []string, config *tls.Config, token string) *admin {
	a := &admin{token: token}
	scheme := "http"
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialWithin}).DialContext,
		TLSHandshakeTimeout: dialWithin,
	}
	if config != nil {
		scheme, transport.TLSClientConfig = "https", config.Clone()
	}
	for _, e := range endpoints {
		a.bases = append(a.bases, scheme+"://"+e)
	}
	a.http = &http.Client{Transport: transport, CheckRedirect: a.follow}
	return a
}

// follow lets a broker send us to the one that owns what was asked for. Go
// takes the token off on the way to another host; the brokers are one cluster,
// so it is put back, but never onto a connection that is less protected.
func (a *admin) follow(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("the brokers send each other's requests in a circle")
	}
	if r.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("%s sends to %s, which is protected otherwise: correct what the brokers advertise", via[0].URL.Host, r.URL.Host)
	}
	a.authorise(r)
	return nil
}

func (a *admin) authorise(r *http.Request) {
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
}

func (a *admin) close() { a.http.CloseIdleConnections() }

// refusal is an answer other than that it was done.
type refusal struct {
	status int
	reason string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (HTTP %d)", r.reason, r.status) }

func isStatus(err error, status int) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == status
}

// get reads a JSON answer into a value; nil: it is not looked at.
func (a *admin) get(ctx context.Context, path string, into any) error {
	return a.do(ctx, http.MethodGet, path, nil, into)
}

// do asks one broker after another until one answers.
func (a *admin) do(ctx context.Context, method, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing the request: %w", err)
	}
	err = errors.New("there is no admin endpoint")
	for _, base := range a.bases {
		var answered bool
		if answered, err = a.once(ctx, method, base+path, raw, into); err == nil || answered || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (a *admin) once(ctx context.Context, method, where string, body []byte, into any) (answered bool, err error) {
	request, err := http.NewRequestWithContext(ctx, method, where, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/json")
	a.authorise(request)
	response, err := a.http.Do(request)
	if err != nil {
		return false, plainError(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return false, fmt.Errorf("reading the answer: %w", err)
	}
	if response.StatusCode >= 300 {
		return true, &refusal{response.StatusCode, cmp.Or(reasonOf(raw), http.StatusText(response.StatusCode))}
	}
	switch as := into.(type) {
	case nil:
		return true, nil
	case *text:
		*as = text(strings.TrimSpace(string(raw)))
		return true, nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return true, fmt.Errorf("reading the answer of %s: %w", request.URL.Host, err)
	}
	return true, nil
}

// text is an answer that is no JSON.
type text string

// plainError is the reason without method and address, which say nothing to
// who wrote neither.
func plainError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// reasonOf is what the broker says in words, bounded and on one line.
func reasonOf(raw []byte) string {
	var said struct{ Reason string }
	if json.Unmarshal(raw, &said) != nil {
		return ""
	}
	reason, _, _ := strings.Cut(strings.TrimSpace(said.Reason), "\n")
	reason = strings.TrimSpace(strings.TrimPrefix(reason, "--- An unexpected error occurred in the server ---"))
	if len(reason) > maxReason {
		reason = reason[:maxReason] + "…"
	}
	return strings.ToValidUTF8(reason, "")
}

// bookieHTTP asks bookies, which ask for no credential and get none. It keeps
// no connections: each bookie is asked once in a while.
var bookieHTTP = &http.Client{
	Timeout: 5 * time.Second,
	Transport: &http.Transport{
		DialContext: (&net.Dialer{Timeout: dialWithin}).DialContext, DisableKeepAlives: true,
	},
}
