package rabbitmq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// requestWithin bounds the first request to each server. When no server answers in time, the
	// next requests may take twice as long: a server goes on with a request that was given up.
	requestWithin = 5 * time.Second
	// busyWithin bounds how long one request is repeated while the servers are busy.
	busyWithin = 45 * time.Second
)

// errNotThere is the error of the API for an object that does not exist.
var errNotThere = errors.New("it is not there")

// management sends requests to the servers' HTTP API. Its methods may be called from any
// goroutine.
type management struct{ api driver.API }

// newManagement returns a client of the API of a cluster at the endpoints.
func newManagement(o system.Options) *management {
	port, scheme := managementPort, "http"
	if o.TLS != nil {
		port, scheme = managementTLSPort, "https"
	}
	var bases []string
	if address := o.Settings.Text(setManagement); address != auto {
		bases = []string{strings.TrimSuffix(address, "/")}
	} else {
		for _, e := range o.Endpoints {
			host, _, _ := net.SplitHostPort(e)
			bases = append(bases, scheme+"://"+driver.At(host, port))
		}
	}
	who := o.Credentials.Admin()
	return managementAt(bases, who.User, who.Password, o.TLS)
}

func managementAt(bases []string, user, password string, encrypted *tls.Config) *management {
	return &management{driver.API{
		Bases:     bases,
		Client:    driver.NewHTTPClient(encrypted, 0),
		Authorise: func(r *http.Request) { r.SetBasicAuth(user, password) },
	}}
}

// call sends a request to the first server that answers, again while the servers are busy: they
// answer 500 or late while they start a queue. path is escaped; body and into may be nil.
func (m *management) call(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, busyWithin)
	defer cancel()
	within := requestWithin
	err := driver.Until(ctx, settlePoll, func() (bool, error) {
		api := m.api
		api.Client = &http.Client{Transport: m.api.Client.Transport, Timeout: within}
		err := api.Do(ctx, method, path, body, into)
		if late(err) {
			within *= 2
		}
		return busy(err), err
	})
	var refused *driver.Refused
	switch {
	case err == nil:
		return nil
	case busy(err):
		return fmt.Errorf("the management API is busy or blocked: check that its address can be "+
			"reached, or try again with less load: %s %s: %w", method, path, err)
	case !errors.As(err, &refused):
		return fmt.Errorf("the management API does not answer: enable it with: rabbitmq-plugins "+
			"enable rabbitmq_management, or say where it is in %s: %w", setManagement, err)
	case refused.Status == http.StatusUnauthorized, refused.Status == http.StatusForbidden:
		return fmt.Errorf("the management API refuses the user: give a monitoring user, or an "+
			"administrator for mirrored queues, as admin_user and admin_password: %w", err)
	case refused.Status == http.StatusNotFound:
		return fmt.Errorf("%w: %w", errNotThere, err)
	}
	return fmt.Errorf("the management API answers: %w", err)
}

// busy reports whether the error of a request may pass by itself.
func busy(err error) bool {
	var refused *driver.Refused
	if errors.As(err, &refused) {
		return refused.Status >= http.StatusInternalServerError
	}
	return late(err)
}

// late reports whether a request had no answer in time.
func late(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// nodeReport is the API's report of a server.
type nodeReport struct {
	Name         string
	Running      bool
	ConfigFiles  []string `json:"config_files"`
	Partitions   []string
	Applications []struct{ Name, Version string }
}

// version returns the version of an application of the server, or "" if unknown.
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

// queueReport is the API's report of a queue.
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

// queues returns the queues of the virtual host to which the exchange routes.
func (m *management) queues(ctx context.Context, vhost, exchange string) ([]queueReport, error) {
	host := url.PathEscape(vhost)
	var bindings []struct {
		Destination string
		Type        string `json:"destination_type"`
	}
	if err := m.call(ctx, http.MethodGet, "/api/exchanges/"+host+"/"+url.PathEscape(
		exchange)+"/bindings/source", nil, &bindings); err != nil {
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
	// Without statistics the servers report the current state; statistics are gathered every few
	// seconds.
	var all, ours []queueReport
	if err := m.call(ctx, http.MethodGet,
		"/api/queues/"+host+"?disable_stats=true&enable_queue_totals=true", nil, &all); err != nil {
		return nil, err
	}
	for _, q := range all {
		if bound[q.Name] {
			q.definition = definitions[q.Policy]
			ours = append(ours, q)
		}
	}
	if len(ours) < len(bound) {
		return nil, fmt.Errorf("exchange %s routes to %d queues, and %d of them are listed",
			exchange, len(bound), len(ours))
	}
	return ours, nil
}

func policyPath(vhost, name string) string {
	return "/api/policies/" + url.PathEscape(vhost) + "/" + url.PathEscape(name)
}

// setPolicy sets the policy of queues whose names match the pattern.
func (m *management) setPolicy(ctx context.Context, vhost, name, pattern string,
	definition map[string]any) error {
	return m.call(ctx, http.MethodPut, policyPath(vhost, name), map[string]any{
		"pattern": pattern, "definition": definition, "apply-to": "queues", "priority": 100,
	}, nil)
}

// deletePolicy deletes a policy if it exists.
func (m *management) deletePolicy(ctx context.Context, vhost, name string) error {
	err := m.call(ctx, http.MethodDelete, policyPath(vhost, name), nil, nil)
	if errors.Is(err, errNotThere) {
		return nil
	}
	return err
}
