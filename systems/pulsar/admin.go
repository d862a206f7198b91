package pulsar

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const maxRedirects = 5

// admin speaks to the brokers' admin API. Its methods may be called from any
// goroutine.
type admin struct {
	driver.API
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
		if host, port, err := net.SplitHostPort(part); err != nil || host == "" || port == "" ||
			strings.ContainsAny(part, "/@") {
			return nil, fmt.Errorf(
				"%q is not host:port: write them with commas between, like broker-1:8080, "+
					"broker-2:8080", strings.ReplaceAll(part, "@", "…"))
		}
		all = append(all, part)
	}
	return all, nil
}

// adminOf returns the admin addresses that belong to the brokers' endpoints.
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
		a.Bases = append(a.Bases, scheme+"://"+e)
	}
	a.Client = &http.Client{Transport: transport, CheckRedirect: a.follow}
	a.Authorise = a.authorise
	return a
}

// follow allows a broker's redirect to the broker that owns the resource. Go removes the token from
// a redirect to another host. All brokers belong to one cluster, so follow adds the token again,
// but never on a less protected connection.
func (a *admin) follow(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("the brokers redirect the request in a circle")
	}
	if r.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf(
			"%s redirects to %s, which has other protection: correct the advertised address",
			via[0].URL.Host, r.URL.Host)
	}
	a.authorise(r)
	return nil
}

func (a *admin) authorise(r *http.Request) {
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
}

func (a *admin) close() { a.Client.CloseIdleConnections() }

// get reads a JSON answer into a value; nil: ignored.
func (a *admin) get(ctx context.Context, path string, into any) error {
	return a.do(ctx, http.MethodGet, path, nil, into)
}

// do asks one broker after another until one answers. Brokers expect a body in every request, so
// an empty one is sent as null.
func (a *admin) do(ctx context.Context, method, path string, body, into any) error {
	if body == nil {
		body = json.RawMessage("null")
	}
	return a.Do(ctx, method, path, body, into)
}
