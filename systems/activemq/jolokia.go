package activemq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const requestWithin = 4 * time.Second

// jolokia talks to the brokers' JMX, which Jolokia serves over HTTP: in ActiveMQ's web console, or
// in an agent. Its methods are safe for concurrent use.
type jolokia struct{ brokers []managed }

// managed is a broker with its JMX address.
type managed struct {
	endpoint string // its port for clients, open while it is the master
	api      driver.API
}

// newJolokia returns a client of the brokers at the endpoints.
func newJolokia(o system.Options) *jolokia {
	login := o.Credentials.Admin()
	scheme := "http://"
	if o.TLS != nil {
		scheme = "https://"
	}
	client := driver.NewHTTPClient(o.TLS, requestWithin)
	port := strconv.FormatInt(o.Settings.Count(setJolokiaPort), 10)
	var j jolokia
	for _, e := range o.Endpoints {
		host, _, _ := net.SplitHostPort(e)
		j.brokers = append(j.brokers, managed{e, driver.API{
			Bases: []string{scheme + net.JoinHostPort(host, port)}, Client: client,
			Authorise: func(r *http.Request) {
				if login.User != "" {
					r.SetBasicAuth(login.User, login.Password)
				}
				r.Header.Set("Origin", scheme+host) // the web console requires it
			},
		}})
	}
	return &j
}

// errNoBean says that a broker does not have the requested bean or attribute.
var errNoBean = errors.New("the broker does not have it")

// ask sends one request to a broker.
func (b managed) ask(ctx context.Context, request map[string]any, into any) error {
	var answer struct {
		Status int
		Error  string
		Value  json.RawMessage
	}
	err := b.api.Do(ctx, http.MethodPost, jolokiaPath, request, &answer)
	switch {
	case driver.HasStatus(err, http.StatusUnauthorized),
		driver.HasStatus(err, http.StatusForbidden):
		return fmt.Errorf("ask Jolokia at %s: it refuses the user: give a user that may read "+
			"JMX as admin_user and admin_password: %w", b.api.Bases[0], err)
	case err != nil:
		return fmt.Errorf("ask Jolokia at %s%s: it does not answer: start the broker with its "+
			"web console or Jolokia's agent, or set %s: %w",
			b.api.Bases[0], jolokiaPath, setJolokiaPort, err)
	case answer.Status == http.StatusNotFound:
		return fmt.Errorf("%w: %s", errNoBean, answer.Error)
	case answer.Status != http.StatusOK:
		said, _, _ := strings.Cut(answer.Error, "\n")
		return fmt.Errorf("%s answers: %s", b.endpoint, said)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(answer.Value, into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", b.endpoint, err)
	}
	return nil
}

// The names of JMX's beans, as patterns, because only the broker knows its own name.
const (
	brokerPattern = "org.apache.activemq:type=Broker,brokerName=*"
	storePattern  = brokerPattern + ",service=PersistenceAdapter,view=Replication,*"
)

// read reads attributes of the single bean that matches a pattern.
func (b managed) read(ctx context.Context, pattern string, attributes []string, into any) error {
	var found map[string]json.RawMessage
	err := b.ask(ctx, map[string]any{
		"type": "read", "mbean": pattern, "attribute": attributes,
		"config": map[string]any{"ignoreErrors": true},
	}, &found)
	if err != nil {
		return err
	}
	for _, raw := range found {
		if err := json.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("read the answer of %s: %w", b.endpoint, err)
		}
		return nil
	}
	return fmt.Errorf("%w: %s", errNoBean, pattern)
}

// askAll sends several requests to a broker as one.
func (b managed) askAll(ctx context.Context, requests []any) error {
	var answers []struct {
		Status int
		Error  string
	}
	if err := b.api.Do(ctx, http.MethodPost, jolokiaPath, requests, &answers); err != nil {
		return fmt.Errorf("ask %s: %w", b.endpoint, err)
	}
	for _, a := range answers {
		if a.Status != http.StatusOK {
			said, _, _ := strings.Cut(a.Error, "\n")
			return fmt.Errorf("%s answers: %s", b.endpoint, said)
		}
	}
	return nil
}

// name returns the name of the broker's bean.
func (b managed) name(ctx context.Context) (string, error) {
	var found []string
	err := b.ask(ctx, map[string]any{"type": "search", "mbean": brokerPattern}, &found)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: %s", errNoBean, brokerPattern)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// do calls an operation of the broker once for each name.
func (b managed) do(ctx context.Context, operation string, names []string) error {
	if len(names) == 0 {
		return nil // Jolokia rejects an empty list of requests
	}
	bean, err := b.name(ctx)
	if err != nil {
		return err
	}
	var all []any
	for _, name := range names {
		all = append(all, map[string]any{
			"type": "exec", "mbean": bean, "operation": operation + "(java.lang.String)",
			"arguments": []string{name},
		})
	}
	return b.askAll(ctx, all)
}

// destinations lists the queues or topics whose names match a pattern.
func (b managed) destinations(ctx context.Context, kind, pattern string) ([]string, error) {
	var found []string
	err := b.ask(ctx, map[string]any{"type": "search",
		"mbean": brokerPattern + ",destinationType=" + kind + ",destinationName=" + pattern,
	}, &found)
	for i, bean := range found {
		found[i] = property(bean, "destinationName")
	}
	return found, err
}

// property returns the value of one property in a bean's name.
func property(bean, name string) string {
	_, properties, _ := strings.Cut(bean, ":")
	for one := range strings.SplitSeq(properties, ",") {
		if key, value, _ := strings.Cut(one, "="); key == name {
			return value
		}
	}
	return ""
}
