package rabbitmq

import (
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
	// perConnection is how many streams share a connection to a node: as many
	// as the library allows.
	perConnection = 200
)

// quiet keeps the stream library from writing to standard error what comes back
// as an error too.
type quiet struct{}

func (quiet) Info(string, ...any)  {}
func (quiet) Error(string, ...any) {}
func (quiet) Debug(string, ...any) {}
func (quiet) Warn(string, ...any)  {}

var beQuiet = sync.OnceFunc(func() { logs.SetLogger(quiet{}) })

// environments are what one client of streams reaches the servers by: the
// newest one, and older ones whose connections may still be of use. Its methods
// may be called from any goroutine.
//
// The library's environment, once its first connection is lost, looks for
// another without end. So a client that fails takes a new environment and does
// not ask the old one.
type environments struct {
	of *cluster

	mu     sync.Mutex
	number int
	all    []*stream.Environment
	closed bool
}

// get returns the newest environment, or a new one in place of failed.
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

// streamEnvironment connects by the stream protocol, to the first endpoint that
// answers from that number on.
func (c *cluster) streamEnvironment(number int) (*stream.Environment, error) {
	beQuiet()
	port, scheme := streamPort, "rabbitmq-stream"
	options := stream.NewEnvironmentOptions().
		SetMaxProducersPerClient(perConnection).SetMaxConsumersPerClient(perConnection).
		// With buffers of its own choice, 8 KiB, a large message takes the kernel
		// a fifth of a second.
		SetReadBuffer(0).SetWriteBuffer(0).
		SetRequestedHeartbeat(max(c.cfg.heartbeat, leastHeartbeat)).SetRPCTimeout(
		streamAnswerWithin)
	if c.options.TLS != nil {
		port, scheme = streamTLSPort, "rabbitmq-stream+tls"
		options.SetTLSConfig(c.streamTLS())
	}
	if c.cfg.streamPort > 0 {
		port = c.cfg.streamPort
	}
	if c.cfg.sasl == "external" {
		options.SetSaslConfiguration(stream.SaslConfigurationExternal)
	}
	endpoints := c.dialer.endpoints
	var first error
	for i := range endpoints {
		var brokers []*stream.Broker
		for k := range endpoints {
			host, _, _ := net.SplitHostPort(endpoints[(number+i+k)%len(endpoints)])
			// The library puts these into a URL as they are, and takes them out
			// of it again.
			brokers = append(brokers, &stream.Broker{
				Scheme: scheme, Host: host, Port: strconv.Itoa(port), Vhost: url.PathEscape(
					c.cfg.vhost),
				User: url.PathEscape(c.options.Credentials.User), Password: url.PathEscape(
					c.options.Credentials.Password),
			})
		}
		options.ConnectionParameters = brokers[:1]
		made, err := stream.NewEnvironment(options)
		if err == nil {
			// It has closed the connection that it tried, and makes each further
			// one to the first of these that it is given, which is there.
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
		"connecting to port %d by the stream protocol: enable it with: rabbitmq-plugins enable "+
			"rabbitmq_stream, or correct %s: %w", port, setStreamPort, first)
}

// streamTLS is what the stream library connects with. It connects to whichever
// node leads and does not say to which, so a node may show the certificate of
// any endpoint's host.
func (c *cluster) streamTLS() *tls.Config {
	config := c.options.TLS.Clone()
	if config.ServerName != "" || config.InsecureSkipVerify {
		return config
	}
	// What is skipped is done below.
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
		for _, endpoint := range c.dialer.endpoints {
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

// streamCopies asks by the stream protocol which nodes have each stream; the
// management API tells it only seconds later.
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
			return fmt.Errorf("asking for the copies of stream %s: %w", queues[i].Name, err)
		}
		if told.Leader == nil {
			return fmt.Errorf("stream %s has no leader now", queues[i].Name)
		}
		queues[i].Leader = told.Leader.Host
		queues[i].Members, queues[i].Online = []string{told.Leader.Host}, []string{told.Leader.Host}
		for _, replica := range told.Replicas {
			if replica == nil {
				return fmt.Errorf("stream %s has a copy that is not there yet", queues[i].Name)
			}
			queues[i].Members, queues[i].Online = append(queues[i].Members,
				replica.Host), append(queues[i].Online, replica.Host)
		}
	}
	return nil
}

// streamMessage is a message in the form that the stream library takes. It is one
// session's, and used again and again.
type streamMessage struct {
	*amqp.AMQP10                 // what the library asks of a message beside its bytes: nothing
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

// encode writes the payload as the message that streams are made of.
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

// MarshalBinary is the message as the library sends it.
func (l *streamMessage) MarshalBinary() ([]byte, error) { return l.encoded, nil }
