package rabbitmq

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/amqp"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/logs"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	streamAnswerWithin = 5 * time.Second
	leastHeartbeat     = 3 * time.Second // the stream library's own bound
	// perConnection is the number of streams that share a connection to a node: the library's
	// maximum.
	perConnection = 200
)

// quiet stops the stream library from writing to standard error: it also returns its errors.
type quiet struct{}

func (quiet) Info(string, ...any)  {}
func (quiet) Error(string, ...any) {}
func (quiet) Debug(string, ...any) {}
func (quiet) Warn(string, ...any)  {}

var beQuiet = sync.OnceFunc(func() { logs.SetLogger(quiet{}) })

// environments holds the library's environments of one client of streams: the newest, and older
// ones whose connections may still be in use. Its methods may be called from any goroutine.
//
// When an environment of the library loses its first connection, it looks for another without end.
// So a client that fails takes a new environment.
type environments struct {
	of *cluster

	mu     sync.Mutex
	number int
	all    []*stream.Environment
	closed bool
}

// get returns the newest environment, or a new one if the newest is failed.
func (e *environments) get(failed *stream.Environment) (*stream.Environment, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, driver.ErrClosed
	}
	if n := len(e.all); n > 0 && e.all[n-1] != failed {
		return e.all[n-1], nil
	}
	made, err := e.of.streamEnvironment(e.number)
	e.number++
	if err != nil {
		return nil, err
	}
	e.all = append(e.all, made)
	return made, nil
}

// close ends them all.
func (e *environments) close() {
	e.mu.Lock()
	all := e.all
	e.all, e.closed = nil, true
	e.mu.Unlock()
	for _, one := range all {
		_ = one.Close() // it always returns nil
	}
}

// streamEnvironment connects with the stream protocol to the first endpoint that answers, from a
// number on.
func (c *cluster) streamEnvironment(number int) (*stream.Environment, error) {
	beQuiet()
	port, scheme := streamPort, "rabbitmq-stream"
	options := stream.NewEnvironmentOptions().
		SetMaxProducersPerClient(perConnection).SetMaxConsumersPerClient(perConnection).
		// With the library's default buffers of 8 KiB, a large message takes a fifth of a second.
		SetReadBuffer(0).SetWriteBuffer(0).
		SetRequestedHeartbeat(max(c.cfg.Duration(setHeartbeat), leastHeartbeat)).
		SetRPCTimeout(streamAnswerWithin)
	if c.options.TLS != nil {
		port, scheme = streamTLSPort, "rabbitmq-stream+tls"
		options.SetTLSConfig(c.streamTLS())
	}
	port = cmp.Or(int(c.cfg.Count(setStreamPort)), port)
	if c.cfg.Text(setSASL) == "external" {
		options.SetSaslConfiguration(stream.SaslConfigurationExternal)
	}
	endpoints := c.dialer.Endpoints
	var first error
	for i := range endpoints {
		var brokers []*stream.Broker
		for k := range endpoints {
			host, _, _ := net.SplitHostPort(endpoints[(number+i+k)%len(endpoints)])
			// The library puts these into a URL unescaped, and parses it again.
			brokers = append(brokers, &stream.Broker{
				Scheme: scheme, Host: host, Port: strconv.Itoa(port), Vhost: url.PathEscape(
					c.cfg.Text(setVhost)),
				User: url.PathEscape(c.options.Credentials.User), Password: url.PathEscape(
					c.options.Credentials.Password),
			})
		}
		options.ConnectionParameters = brokers[:1]
		made, err := stream.NewEnvironment(options)
		if err == nil {
			// The library has closed the connection that it tried. It opens each further one to
			// the first of these addresses, so the endpoint that answers is first.
			options.ConnectionParameters = brokers
			return made, nil
		}
		if first == nil {
			first = err
		}
	}
	var parse *url.Error
	if errors.As(first, &parse) { // its text holds the URL
		first = errors.New("the library cannot read the address")
	}
	return nil, fmt.Errorf(
		"connect to port %d by the stream protocol: enable it with: rabbitmq-plugins enable "+
			"rabbitmq_stream, or correct %s: %w", port, setStreamPort, first)
}

// streamTLS returns the stream library's TLS configuration. The library connects to a stream's
// leader without naming it, so a node may present the certificate of any endpoint's host.
func (c *cluster) streamTLS() *tls.Config {
	config := c.options.TLS.Clone()
	if config.ServerName != "" || config.InsecureSkipVerify {
		return config
	}
	// VerifyConnection does the skipped check.
	config.InsecureSkipVerify = true
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return errors.New("the server shows no certificate")
		}
		intermediates := x509.NewCertPool()
		for _, one := range state.PeerCertificates[1:] {
			intermediates.AddCert(one)
		}
		var last error
		for _, endpoint := range c.dialer.Endpoints {
			host, _, _ := net.SplitHostPort(endpoint)
			_, last = state.PeerCertificates[0].Verify(
				x509.VerifyOptions{DNSName: host, Roots: c.options.TLS.RootCAs,
					Intermediates: intermediates})
			if last == nil {
				return nil
			}
		}
		return last
	}
	return config
}

// streamCopies reads through the stream protocol which nodes have each stream. The management API
// shows this only seconds later.
func (c *cluster) streamCopies(ctx context.Context, queues []queueReport) error {
	environment, err := c.streamEnvironment(0)
	if err != nil {
		return err
	}
	defer func() { _ = environment.Close() }()
	for i := range queues {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		told, err := environment.StreamMetaData(queues[i].Name)
		if err != nil {
			return fmt.Errorf("ask for the copies of stream %s: %w", queues[i].Name, err)
		}
		if told.Leader == nil {
			return fmt.Errorf("stream %s has no leader now", queues[i].Name)
		}
		queues[i].Leader = told.Leader.Host
		queues[i].Members, queues[i].Online = []string{told.Leader.Host}, []string{told.Leader.Host}
		for _, replica := range told.Replicas {
			if replica == nil {
				return fmt.Errorf("stream %s has a copy that is not online yet", queues[i].Name)
			}
			queues[i].Members, queues[i].Online = append(queues[i].Members,
				replica.Host), append(queues[i].Online, replica.Host)
		}
	}
	return nil
}

// streamMessage is a message for the stream library. It belongs to one session and is reused.
type streamMessage struct {
	*amqp.AMQP10                 // the interface's other methods
	m            *system.Message // nil: free
	encoded      []byte
}

func newStreamMessage() *streamMessage { return &streamMessage{AMQP10: amqp.NewMessage(nil)} }

// The codes of an AMQP 1.0 data section with the payload as its only part.
const (
	described   = 0x00
	smallULong  = 0x53
	dataSection = 0x75
	shortBinary = 0xa0
	longBinary  = 0xb0
)

// encode writes the payload as a message of AMQP 1.0.
func (l *streamMessage) encode(payload []byte) {
	l.encoded = append(l.encoded[:0], described, smallULong, dataSection)
	if len(payload) < 256 {
		l.encoded = append(l.encoded, shortBinary, byte(len(payload)))
	} else {
		l.encoded = append(l.encoded, longBinary)
		l.encoded = binary.BigEndian.AppendUint32(l.encoded, uint32(len(payload)))
	}
	l.encoded = append(l.encoded, payload...)
}

// MarshalBinary returns the bytes that the library sends.
func (l *streamMessage) MarshalBinary() ([]byte, error) { return l.encoded, nil }
