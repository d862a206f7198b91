package serve

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/admission"
)

// Page renders the report of the experiments in some directories as one HTML page.
type Page func(ctx context.Context, dirs []string) ([]byte, error)

// Options describes a server.
type Options struct {
	Page Page
	// Listen is the address to listen on; "": a free port of 127.0.0.1. Any other address than
	// a loopback address needs TLS and a token.
	Listen string
	// Certificate encrypts; nil: nothing is encrypted.
	Certificate *tls.Certificate
	// Token is required of readers; "": a random one, which the printed address contains.
	Token string
}

// The bounds of a server.
const (
	maxReaders     = 32 // that wait for changes
	maxConnections = 256
	maxStrangers   = 64 // connections without the token, from one address
	maxBody        = 64 << 10
	headLimit      = 10 * time.Second // for a request's head, and until a connection has the token
	answerLimit    = time.Minute      // until an answer is rendered and read
	idleLimit      = 2 * time.Minute
	lastLimit      = 10 * time.Second // for browsers to fetch the last page
	leastToken     = 16               // characters
)

// Server answers requests on one address.
type Server struct {
	options Options
	given   bool // the token, by the user
	mux     *http.ServeMux
	http    *http.Server
	address string
	pages   *pages
	readers chan struct{} // a place for each
	done    chan struct{} // closed when the server ends
	served  chan struct{} // closed when it has ended
	site
}

// site maps the addresses of a server to directories.
type site interface {
	// find returns the directories of a place, which is the part of an address after the fixed
	// part.
	find(place string) (dirs []string, err error)
	// running reports whether something may still be written into the directories.
	running(dirs []string) bool
	// ended returns a channel that is closed at the end; nil: the end is unknown.
	ended() <-chan struct{}
	// bar returns the links above the page of a place.
	bar(place string) []link
}

type link struct{ Path, Words string }

// newServer returns a server that listens and does not serve yet.
func newServer(o Options, s site) (*Server, net.Listener, error) {
	given := o.Token != ""
	if given && len(o.Token) < leastToken {
		return nil, nil, fmt.Errorf("a token needs %d characters or more, this one has %d",
			leastToken, len(o.Token))
	}
	if !given {
		o.Token = rand.Text()
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if err := mayListen(o, given); err != nil {
		return nil, nil, err
	}
	listener, err := admission.Listen(o.Listen)
	if err != nil {
		return nil, nil, err
	}
	v := &Server{options: o, given: given, mux: http.NewServeMux(), site: s,
		address: listener.Addr().String(), pages: newPages(o.Page),
		readers: make(chan struct{}, maxReaders), done: make(chan struct{}),
		served: make(chan struct{})}
	v.http = &http.Server{Handler: v.guard(v.mux), ReadHeaderTimeout: headLimit,
		ReadTimeout: answerLimit, WriteTimeout: answerLimit, IdleTimeout: idleLimit,
		MaxHeaderBytes: maxBody, ConnContext: withConn,
		ErrorLog: log.New(io.Discard, "", 0)} // the terminal shows the experiment
	if o.Certificate != nil {
		v.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*o.Certificate},
			MinVersion: tls.VersionTLS12}
	}
	v.mux.HandleFunc("GET /events", v.events)
	return v, listener, nil
}

// mayListen refuses an address that others can reach without TLS and a token of the user's.
func mayListen(o Options, given bool) error {
	host, err := admission.Host(o.Listen)
	switch {
	case err != nil:
		return err
	case isLoopback(host):
		return nil
	case o.Certificate == nil:
		return fmt.Errorf("others can reach %s: give a certificate and its key, or listen on "+
			"127.0.0.1", o.Listen)
	case !given:
		return fmt.Errorf("others can reach %s: give a token, or listen on 127.0.0.1", o.Listen)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// serve answers requests until close.
func (s *Server) serve(listener net.Listener) {
	listener = admission.Bound(listener, admission.Bounds{Connections: maxConnections,
		Strangers: maxStrangers, Wait: headLimit})
	go func() {
		defer close(s.served)
		if s.options.Certificate != nil {
			_ = s.http.ServeTLS(listener, "", "") // always an error: that of close
			return
		}
		_ = s.http.Serve(listener)
	}()
}

// Handle adds an answer of another package, such as metrics. Its requests pass the same checks.
func (s *Server) Handle(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// Address returns the address to open. It holds the token unless the user gave one.
func (s *Server) Address() string {
	u := url.URL{Scheme: "http", Host: s.address, Path: "/"}
	if s.options.Certificate != nil {
		u.Scheme = "https"
	}
	if !s.given {
		u.RawQuery = url.Values{tokenKey: {s.options.Token}}.Encode()
	}
	return u.String()
}

// named reports whether a request's host is a name of this server. A page of another name that
// resolves to this machine (DNS rebinding) is refused.
func (s *Server) named(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	c := s.options.Certificate
	return isLoopback(host) || c != nil && c.Leaf != nil && c.Leaf.VerifyHostname(host) == nil
}

// Close ends the server and everything that it began.
func (s *Server) Close() error {
	close(s.done)
	ctx, cancel := context.WithTimeout(context.Background(), lastLimit)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close() // of connections that are not idle in time
	}
	<-s.served
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("end the server: %w", err)
	}
	return nil
}
