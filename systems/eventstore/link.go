package eventstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/kurrent-io/KurrentDB-Client-Go/kurrentdb"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// errNotConnected is wrapped by errors of requests that were not sent.
var errNotConnected = errors.New("no connection to a leader")

// link is a client of the library. It makes one call at a time, and is replaced after each error
// of its connection. The package's comment says why. It is safe for concurrent use.
type link struct {
	of     *cluster
	free   chan struct{} // holds a value while no call runs
	client *kurrentdb.Client
	closed bool
}

// newLink returns a link that connects at its first call.
func (c *cluster) newLink() *link {
	l := &link{of: c, free: make(chan struct{}, 1)}
	l.free <- struct{}{}
	return l
}

// call waits for its turn, connects if necessary, and calls the library. ctx and request_timeout
// bound the call.
func (l *link) call(
	ctx context.Context, do func(ctx context.Context, client *kurrentdb.Client) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, l.of.Duration(setRequest))
	defer cancel()
	return l.callUnbounded(ctx, func(client *kurrentdb.Client) error { return do(ctx, client) })
}

// callUnbounded is like call, but ctx bounds only the wait and the connecting: do bounds itself.
func (l *link) callUnbounded(ctx context.Context, do func(client *kurrentdb.Client) error) error {
	select {
	case <-l.free:
	case <-ctx.Done():
		return fmt.Errorf("%w: wait for another request: %w", errNotConnected, ctx.Err())
	}
	defer func() { l.free <- struct{}{} }()
	if l.closed {
		return fmt.Errorf("%w: %w", errNotConnected, driver.ErrClosed)
	}
	if l.client == nil {
		client, err := l.of.newClient(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", errNotConnected, err)
		}
		l.client = client
	}
	err := do(l.client)
	switch codeOf(err) {
	case kurrentdb.ErrorUnavailable, kurrentdb.ErrorCodeNotLeader,
		kurrentdb.ErrorCodeConnectionClosed, kurrentdb.ErrorCodeDeadlineExceeded:
		l.drop()
	}
	return err
}

// drop closes the client. The library would reconnect by itself and leave the old connection open.
func (l *link) drop() {
	_ = l.client.Close() // it returns nil
	l.client = nil
}

// close waits for the running call, which must be bounded, and ends the link.
func (l *link) close() error {
	<-l.free
	defer func() { l.free <- struct{}{} }()
	l.closed = true
	if l.client != nil {
		l.drop()
	}
	return nil
}

// newClient finds the leader and returns a client that is connected to it.
func (c *cluster) newClient(ctx context.Context) (*kurrentdb.Client, error) {
	leader, err := c.findLeader(ctx)
	if err != nil {
		return nil, err
	}
	config := &kurrentdb.Configuration{
		Address: leader, DisableTLS: c.options.TLS == nil,
		Username: c.options.Credentials.User, Password: c.options.Credentials.Password,
		NodePreference:      kurrentdb.NodePreferenceLeader,
		MaxDiscoverAttempts: 1, GossipTimeout: 5, // seconds
		KeepAliveInterval: driver.ConnectWithin, KeepAliveTimeout: driver.ConnectWithin,
		Logger: kurrentdb.NoopLogging(),
	}
	if t := c.options.TLS; t != nil {
		config.RootCAs, config.SkipCertificateVerification = t.RootCAs, t.InsecureSkipVerify
	}
	client, err := kurrentdb.NewClient(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of %s: %w", leader, err)
	}
	if _, err := client.GetServerVersion(); err != nil { // this connects
		_ = client.Close() // it returns nil
		return nil, fmt.Errorf("connect to the leader %s: %w", leader, c.explain(err))
	}
	return client, nil
}
