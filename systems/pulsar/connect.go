package pulsar

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	dialWithin = 3 * time.Second
	// probeWithin bounds each try of the first connection. The library retries until it is over,
	// and its last try may take as long again.
	probeWithin = 2500 * time.Millisecond
	askWithin   = 10 * time.Second
	// closeWithin bounds the wait for the library to close what is open.
	closeWithin = 15 * time.Second
)

// serviceURL names all brokers, as Pulsar writes it.
func serviceURL(endpoints []string, encrypted bool) string {
	scheme := "pulsar://"
	if encrypted {
		scheme = "pulsar+ssl://"
	}
	return scheme + strings.Join(endpoints, ",")
}

// newClient returns a client with its own connections. change edits the library's options last.
func newClient(o system.Options, changes ...func(*client.ClientOptions)) (client.Client, *memo,
	error) {
	said, s := &memo{Logger: log.DefaultNopLogger()}, o.Settings
	memory := s.Bytes(setMemoryLimit)
	if memory == 0 {
		memory = -1 // the library's value for none
	}
	options := client.ClientOptions{
		URL:               serviceURL(o.Endpoints, o.TLS != nil),
		ConnectionTimeout: dialWithin, OperationTimeout: s.Duration(setOperationTimeout),
		KeepAliveInterval: s.Duration(setKeepAlive),
		// The library must not close idle connections: the next message would wait for a new one.
		ConnectionMaxIdleTime:   -1,
		MaxConnectionsPerBroker: int(s.Count(setConnections)), MemoryLimitBytes: memory,
		Logger: said,
		// Clients that shared a registry would share its counters.
		MetricsRegisterer:  prometheus.NewRegistry(),
		MetricsCardinality: client.MetricsCardinalityNone,
		Description:        "plimsoll",
	}
	if o.TLS != nil {
		options.TLSConfig = o.TLS.Clone()
	}
	if o.Credentials.Password != "" {
		options.Authentication = client.NewAuthenticationToken(o.Credentials.Password)
	}
	for _, change := range changes {
		change(&options)
	}
	made, err := client.NewClient(options)
	if err != nil {
		return nil, nil, fmt.Errorf("the client library refuses the settings: %w", err)
	}
	return made, said, nil
}

// probe checks, within driver.ConnectWithin, that one endpoint answers and accepts the
// credentials. The library only reports "connection error", so probe finds the cause without it
// where possible.
func probe(ctx context.Context, o system.Options) error {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	answering, err := driver.DialAny(ctx, o.Endpoints, o.TLS)
	if err != nil {
		return err
	}
	o.Endpoints = []string{answering}
	lib, said, err := newClient(o, func(options *client.ClientOptions) {
		options.OperationTimeout, options.KeepAliveInterval = probeWithin, probeWithin
	})
	if err != nil {
		return err
	}
	_, err = within(ctx, func() (struct{}, error) {
		defer lib.Close()
		_, err := lib.TopicPartitions("persistent://" + o.Settings.Text(setTenant) + "/" +
			o.Settings.Text(setNamespace) + "/plimsoll-connects")
		return struct{}{}, err
	}, nil)
	if err == nil || isAnswer(err) {
		return nil
	}
	return said.cause(err)
}

// isAnswer reports whether a broker has answered, even with a refusal, such as a namespace that
// does not exist yet.
func isAnswer(err error) bool {
	text := err.Error()
	for _, code := range []string{"MetadataError", "NotFound", "AuthorizationError",
		"TopicNotFound", "ServiceNotReady"} {
		if strings.Contains(text, code) {
			return true
		}
	}
	return false
}

// within runs work that takes no context. If ctx ends first, the work continues in the background,
// bounded by the library's own timeouts, and undo is called with its result.
func within[T any](ctx context.Context, work func() (T, error), undo func(T)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := work()
		done <- outcome{value, err}
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
	}
	go func() {
		if late := <-done; late.err == nil && undo != nil {
			undo(late.value)
		}
	}()
	var nothing T
	return nothing, ctx.Err()
}

// explain returns an error that says why a connection failed and what to do.
func (c *cluster) explain(err error) error { return explain(err, c.options) }

func explain(err error, o system.Options) error {
	if err == nil {
		return nil
	}
	peer := driver.Peer{Endpoints: o.Endpoints, Protocol: "Pulsar", Advertises: true,
		Encrypted: o.TLS != nil}
	text := err.Error()
	switch {
	case driver.HasStatus(err, http.StatusUnauthorized), strings.Contains(text,
		"AuthenticationError"),
		strings.Contains(text, "Unable to authenticate"),
		strings.Contains(text, "Failed to authenticate"):
		if o.Credentials.Password == "" {
			return fmt.Errorf("%s asks for a token and the target has none: give it as the "+
				"password of the target's credentials: %w", peer.At(), err)
		}
		return fmt.Errorf("%s refuses the token: check the password of the target's "+
			"credentials: %w", peer.At(), err)
	case driver.HasStatus(err, http.StatusForbidden), strings.Contains(text, "AuthorizationError"):
		return fmt.Errorf(
			"the token's role may not do this: grant it, or give another token as the password "+
				"of the target's credentials: %w", err)
	case strings.Contains(text, "ConsumerBusy"):
		return fmt.Errorf(
			"the subscription has a consumer already and its type allows no second one: set %s "+
				"to failover, shared or key_shared, or open one consumer: %w",
			setSubscriptionType, err)
	}
	if told := peer.Explain(err); told != nil {
		return told
	}
	switch {
	case strings.Contains(text, "EOF"), driver.Broken(err):
		return peer.HungUp(err)
	case strings.Contains(text, "request timed out"):
		return peer.Silent(err)
	}
	return err
}

// memo is a client's log. It keeps the last error, because only the log says why a connection
// failed.
type memo struct {
	log.Logger // does nothing

	mu   sync.Mutex
	last error
}

// cause returns the log's reason for an error, or the error itself if the log has none.
func (m *memo) cause(err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil {
		return oneLine{err}
	}
	return oneLine{m.last}
}

// oneLine makes an error's text one sentence, because the library joins the errors of several
// tries with newlines.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", ": ") }
func (e oneLine) Unwrap() error { return e.error }

func (m *memo) keep(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = err
}

func (m *memo) SubLogger(log.Fields) log.Logger { return m }
func (m *memo) WithFields(log.Fields) log.Entry { return m.WithError(nil) }
func (m *memo) WithField(string, any) log.Entry { return m.WithError(nil) }
func (m *memo) WithError(err error) log.Entry   { return entry{m.Logger.WithError(err), m, err} }

func (m *memo) Warnf(format string, args ...any) {
	// The only message whose reason is not in the error: a broker's refusal of the credentials.
	if strings.HasPrefix(format, "Failed to establish connection") {
		m.keep(fmt.Errorf("AuthenticationError: "+format, args...))
	}
}

// entry is a line of the log.
type entry struct {
	log.Entry // does nothing
	of        *memo
	err       error
}

func (e entry) WithFields(log.Fields) log.Entry { return e }
func (e entry) WithField(string, any) log.Entry { return e }

func (e entry) Warn(...any) {
	if e.err != nil {
		e.of.keep(e.err)
	}
}
