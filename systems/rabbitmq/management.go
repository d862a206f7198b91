package rabbitmq

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	requestWithin = 5 * time.Second
	// maxAnswer bounds what is read of one answer: thousands of queues fit.
	maxAnswer = 64 << 20
)

// errNotThere is what the API says of what does not exist.
var errNotThere = errors.New("it is not there")

// management asks the servers through their HTTP API. Its methods may be
// called from any goroutine.
type management struct {
	bases    []string
	user     string
	password string
	client   *http.Client
}

// newManagement is the API of a cluster at the endpoints.
func newManagement(o system.Options, address string) *management {
	port, scheme := managementPort, "http"
	if o.TLS != nil {
		port, scheme = managementTLSPort, "https"
	}
	var bases []string
	if address != auto {
		bases = []string{strings.TrimSuffix(address, "/")}
	} else {
		for _, e := range o.Endpoints {
			host, _, _ := net.SplitHostPort(e)
			bases = append(bases, scheme+"://"+net.JoinHostPort(host, strconv.Itoa(port)))
		}
	}
	user, password := o.Credentials.AdminUser, o.Credentials.AdminPassword
	if user == "" {
		user, password = o.Credentials.User, o.Credentials.Password
	}
	return managementAt(bases, user, password, o.TLS)
}

func managementAt(bases []string, user, password string, encrypted *tls.Config) *management {
	// Without kept connections there is nothing to close.
	transport := &http.Transport{DisableKeepAlives: true, ResponseHeaderTimeout: requestWithin, TLSHandshakeTimeout: dialWithin}
	transport.DialContext = (&net.Dialer{Timeout: dialWithin}).DialContext
	if encrypted != nil {
		transport.TLSClientConfig = encrypted.Clone()
	}
	return &management{bases: bases, user: user, password: password, client: &http.Client{Transport: transport, Timeout: requestWithin}}
}

// call asks the first server that answers. path comes escaped; into may be nil.
func (m *management) call(ctx context.Context, method, path string, body, into any) error {
	var first error
	for _, base := range m.bases {
		err := m.callAt(ctx, base, method, path, body, into)
		var answered *refusal
		if err == nil || errors.As(err, &answered) {
			return err
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("the management API does not answer: enable it with: rabbitmq-plugins enable rabbitmq_management, or say where it is in %s: %w", setManagement, first)
}

// refusal is an answer that is not a success.
type refusal struct {
	status int
	reason string
}

func (r *refusal) Error() string {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "the management API refuses the user: give one that is a monitor, or an administrator for mirrored queues, as admin_user and admin_password"
	case http.StatusNotFound:
		return errNotThere.Error()
	}
	return fmt.Sprintf("the management API answers %d: %s", r.status, r.reason)
}

// Is says that what is not found is not there.
func (r *refusal) Is(target error) bool {
	return target == errNotThere && r.status == http.StatusNotFound
}

func (m *management) callAt(ctx context.Context, base, method, path string, body, into any) error {
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, base+path, content)
	if err != nil {
		return err
	}
	request.SetBasicAuth(m.user, m.password)
	request.Header.Set("Content-Type", "application/json")
	response, err := m.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		var told struct{ Reason string }
		_ = json.Unmarshal(raw, &told) // without it the status says enough
		return &refusal{response.StatusCode, strings.ReplaceAll(told.Reason, "\n", " ")}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// nodeReport is what the API tells of a server.
type nodeReport struct {
	Name         string
	Running      bool
	ConfigFiles  []string `json:"config_files"`
	Partitions   []string
	Applications []struct{ Name, Version string }
}

// version of an application of the server; empty: it does not tell.
func (n nodeReport) version(application string) string {
	for _, a := range n.Applications {
		if a.Name == application {
			return a.Version
		}
	}
	return ""
}

func (m *management) nodes(ctx context.Context) ([]nodeReport, error) {
	var all []nodeReport
	return all, m.call(ctx, http.MethodGet, "/api/nodes", nil, &all)
}

// queueReport is what the API tells of a queue.
type queueReport struct {
	Name      string
	Type      string
	Node      string
	Leader    string
	State     string
	Durable   bool
	Policy    string
	Arguments map[string]any
	Members   []string
	Online    []string
	Mirrors   []string `json:"slave_nodes"`
	InSync    []string `json:"synchronised_slave_nodes"`

	definition map[string]any // of the policy
}

// queues are those of the virtual host that the exchange routes to.
func (m *management) queues(ctx context.Context, vhost, exchange string) ([]queueReport, error) {
	host := url.PathEscape(vhost)
	var bindings []struct {
		Destination string
		Type        string `json:"destination_type"`
	}
	if err := m.call(ctx, http.MethodGet, "/api/exchanges/"+host+"/"+url.PathEscape(exchange)+"/bindings/source", nil, &bindings); err != nil {
		return nil, err
	}
	bound := make(map[string]bool)
	for _, b := range bindings {
		bound[b.Destination] = b.Type == "queue"
	}
	var policies []struct {
		Name       string
		Definition map[string]any
	}
	if err := m.call(ctx, http.MethodGet, "/api/policies/"+host, nil, &policies); err != nil {
		return nil, err
	}
	definitions := make(map[string]map[string]any)
	for _, p := range policies {
		definitions[p.Name] = p.Definition
	}
	// Without statistics the servers tell how things are; those are gathered
	// every few seconds.
	var all, ours []queueReport
	if err := m.call(ctx, http.MethodGet, "/api/queues/"+host+"?disable_stats=true&enable_queue_totals=true", nil, &all); err != nil {
		return nil, err
	}
	for _, q := range all {
		if bound[q.Name] {
			q.definition = definitions[q.Policy]
			ours = append(ours, q)
		}
	}
	if len(ours) < len(bound) {
		return nil, fmt.Errorf("exchange %s routes to %d queues, and %d of them are listed", exchange, len(bound), len(ours))
	}
	return ours, nil
}

func policyPath(vhost, name string) string {
	return "/api/policies/" + url.PathEscape(vhost) + "/" + url.PathEscape(name)
}

// setPolicy makes the policy of queues whose name matches the pattern.
func (m *management) setPolicy(ctx context.Context, vhost, name, pattern string, definition map[string]any) error {
	return m.call(ctx, http.MethodPut, policyPath(vhost, name), map[string]any{
		"pattern": pattern, "definition": definition, "apply-to": "queues", "priority": 100,
	}, nil)
}

// deletePolicy deletes a policy that may not be there.
func (m *management) deletePolicy(ctx context.Context, vhost, name string) error {
	err := m.call(ctx, http.MethodDelete, policyPath(vhost, name), nil, nil)
	if errors.Is(err, errNotThere) {
		return nil
	}
	return err
}
