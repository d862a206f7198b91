package fleet

import (
	"cmp"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/plimsoll-bench/plimsoll/internal/admission"
	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/skew"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// Bounds of a fleet.
const (
	MostWorkers = 1000
	MostHosts   = 100
)

// Options are the arguments of Listen.
type Options struct {
	Address string // host:port to listen on; port 0: any
	Workers int    // how many are expected
	Hosts   int    // how many hosts are expected beside them
	Lab     Lab    // names those that are expected; a role of which it has none: any
	Version string // of plimsoll
	Clock   clock.Clock
	// Identity is the coordinator's; nil: one of its own.
	Identity *Identity
	// Joined, which may be nil, is called when a worker is ready, from any goroutine.
	Joined func(name, host string)
	// chronys returns what chrony says, in a test; nil: skew.AskChrony.
	chronys func(context.Context) *skew.Chrony
}

const (
	joinDelay      = 100 * time.Millisecond // after a refused join, before the next is looked at
	handshakeLimit = 5 * time.Second
	idleLimit      = 30 * time.Second // of a connection without a stream
	nameMost       = 200              // bytes of each text of a hello
	coresMost      = 1 << 16          // of a worker's machine
	coordinatorCN  = "coordinator"
	clockName      = load.ClockName("the coordinator's")
	spareConns     = 64 // connections beside the workers'
	spareJoins     = 8  // connections without a certificate beside the workers', of one address
	// joinLimit is how long a connection without a certificate is kept.
	joinLimit = 2 * handshakeLimit
)

// Coordinator has the workers of a fleet. Its methods may be called from any goroutine.
type Coordinator struct {
	options   Options
	kernel    string
	authority *authority.Authority
	token     Token
	server    *grpc.Server
	listener  net.Listener
	served    chan struct{}

	mu      sync.Mutex
	joined  map[string]hello // of the names that were given a certificate
	members map[string]*member
	chrony  *skew.Chrony  // this machine's, when a worker is on another one
	asked   bool          // for chrony
	arrival chan struct{} // closed and replaced when a member arrives or is lost
}

// Listen begins to accept workers.
func Listen(o Options) (*Coordinator, error) {
	identity := o.Identity
	if identity == nil {
		own, err := NewIdentity()
		if err != nil {
			return nil, err
		}
		identity = own
	}
	if o.chronys == nil {
		o.chronys = skew.AskChrony
	}
	c := &Coordinator{
		options: o, kernel: kernel(), authority: identity.authority, token: identity.token,
		served: make(chan struct{}), joined: make(map[string]hello),
		members: make(map[string]*member), arrival: make(chan struct{}),
	}
	encrypted, err := c.encryption()
	if err != nil {
		return nil, err
	}
	listener, err := admission.Listen(o.Address)
	if err != nil {
		return nil, err
	}
	c.listener = admission.Bound(listener, admission.Bounds{
		Connections: 4*(o.Workers+o.Hosts) + spareConns,
		Strangers:   o.Workers + o.Hosts + spareJoins, Wait: joinLimit,
	})
	c.server = grpc.NewServer(
		grpc.Creds(credentials.NewTLS(encrypted)), grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(wireMost+headRoom), grpc.MaxConcurrentStreams(4),
		grpc.InitialWindowSize(windowBytes), grpc.InitialConnWindowSize(windowBytes),
		grpc.ConnectionTimeout(handshakeLimit),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: idleLimit, Time: ownerLimit / 2, Timeout: ownerLimit / 2,
		}),
	)
	c.server.RegisterService(&service, c)
	go func() {
		defer close(c.served)
		_ = c.server.Serve(c.listener) // it ends by Close
	}()
	return c, nil
}

func (c *Coordinator) encryption() (*tls.Config, error) {
	key, public, err := newKey()
	if err != nil {
		return nil, err
	}
	der, err := c.authority.Certify(coordinatorCN, public, x509.ExtKeyUsageServerAuth)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS13, ClientAuth: tls.VerifyClientCertIfGiven,
		ClientCAs: c.authority.ClientConfig().RootCAs,
		Certificates: []tls.Certificate{
			{Certificate: [][]byte{der, c.authority.DER()}, PrivateKey: key},
		},
	}
	each := config.Clone()
	each.GetConfigForClient = func(asked *tls.ClientHelloInfo) (*tls.Config, error) {
		one := config.Clone()
		one.VerifyConnection = func(s tls.ConnectionState) error {
			if len(s.VerifiedChains) > 0 {
				admission.Authenticated(asked.Conn)
			}
			return nil
		}
		return one, nil
	}
	return each, nil
}

// Address is where workers dial in.
func (c *Coordinator) Address() string { return c.listener.Addr().String() }

// Token is what they need to join.
func (c *Coordinator) Token() Token { return c.token }

// Close ends the fleet: the workers end by themselves.
func (c *Coordinator) Close() error {
	c.server.Stop()
	<-c.served
	return nil
}

// join gives a worker that knows the secret a certificate, once for each name. A refusal takes a
// while, so that guessing is slow; others do not wait for it.
func (c *Coordinator) join(ctx context.Context, ask *joinAsk) (*joinAnswer, error) {
	der, err := c.certify(ask)
	if err != nil {
		clock.Sleep(ctx, joinDelay)
		return nil, status.Error(codes.PermissionDenied, err.Error())
	}
	return &joinAnswer{der, c.kernel}, nil
}

// certify returns the certificate of a worker that may join.
func (c *Coordinator) certify(ask *joinAsk) (der []byte, err error) {
	if subtle.ConstantTimeCompare(ask.Secret, c.token.secret[:]) != 1 {
		return nil, errors.New("the join token is not this coordinator's: copy the one that it " +
			"printed")
	}
	h := ask.Hello
	if err := checkHello(h); err != nil {
		return nil, err
	}
	if h.Version != c.options.Version {
		return nil, fmt.Errorf("the worker is plimsoll %s and the coordinator is %s: install one "+
			"version", h.Version, c.options.Version)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refuse(h); err != nil {
		return nil, err
	}
	public, err := x509.ParsePKIXPublicKey(ask.KeyPKIX)
	if err != nil {
		return nil, errors.New("the worker's public key is invalid")
	}
	der, err = c.authority.Certify(h.Name, public, x509.ExtKeyUsageClientAuth)
	if err != nil {
		return nil, errors.New("the worker's public key cannot be certified")
	}
	c.joined[h.Name] = h
	return der, nil
}

// refuse returns an error for a name that is not expected (any more).
func (c *Coordinator) refuse(h hello) error {
	count := 0
	for _, other := range c.joined {
		if other.hosts() == h.hosts() {
			count++
		}
	}
	other, joined := c.joined[h.Name]
	named := c.options.Lab.those(h.hosts())
	expected, place := expects(named, h.Name)
	switch {
	case joined:
		return fmt.Errorf("a %s named %s has joined already: give each a name of its own (--name)",
			other.role(), h.Name)
	case len(named) > 0 && place < 0:
		return fmt.Errorf("no %s named %s is expected: its names are %s", h.role(), h.Name,
			strings.Join(namesOf(named), ", "))
	case expected.Address != "" && expected.Address != h.Address:
		return fmt.Errorf("host %s is expected at %s and has the address %s: start it with "+
			"--address %[2]s", h.Name, expected.Address, h.Address)
	case h.hosts() && count >= c.options.Hosts:
		return fmt.Errorf("all %d hosts have joined: raise --hosts to expect more",
			c.options.Hosts)
	case h.hosts():
		return c.refuseAddress(h)
	case count >= c.options.Workers:
		return fmt.Errorf("all %d workers have joined: raise --workers to expect more",
			c.options.Workers)
	}
	return nil
}

// refuseAddress returns an error when another host has the address of one, or addresses of which
// one is of the loopback interface and the other is not.
func (c *Coordinator) refuseAddress(h hello) error {
	loopback := func(of hello) bool { return net.ParseIP(of.Address).IsLoopback() }
	for _, other := range c.joined {
		if other.hosts() && loopback(other) != loopback(h) {
			return fmt.Errorf("hosts %s and %s have the addresses %s and %s, and servers cannot "+
				"reach a loopback address from another machine: give --address", other.Name,
				h.Name, other.Address, h.Address)
		}
		if other.Address == h.Address {
			return fmt.Errorf("host %s has the address %s already: give each host one of its own "+
				"(--address)", other.Name, h.Address)
		}
	}
	return nil
}

func checkHello(h hello) error {
	for _, text := range []string{h.Name, h.Host, h.Version, h.Kernel} {
		if len(text) > nameMost || strings.ContainsFunc(text, unprintable) {
			return errors.New("the worker's name, host or version is too long or not printable")
		}
	}
	if h.Name == "" || h.Name == coordinatorCN {
		return errors.New("the worker needs a name of its own: give it with --name")
	}
	if h.hosts() {
		if err := checkAddress(h.Address); err != nil {
			return err
		}
	}
	if h.Cores < 0 || h.Cores > coresMost {
		return fmt.Errorf("the worker reports an impossible number of cores: %d", h.Cores)
	}
	return h.Chrony.Check()
}

func unprintable(r rune) bool { return r < ' ' || r > '~' }

// worker is the name in the certificate of the other end.
func worker(ctx context.Context) (name string, err error) {
	if p, has := peer.FromContext(ctx); has {
		if t, is := p.AuthInfo.(credentials.TLSInfo); is && len(t.State.VerifiedChains) > 0 {
			return t.State.VerifiedChains[0][0].Subject.CommonName, nil
		}
	}
	return "", status.Error(codes.Unauthenticated, "join first")
}

// work is a worker's stream, until it is lost or the fleet ends.
func (c *Coordinator) work(stream grpc.ServerStream) error {
	name, err := worker(stream.Context())
	if err != nil {
		return err
	}
	var h hello
	if err := stream.RecvMsg(&h); err != nil {
		return err
	}
	if err := checkHello(h); err != nil || h.Name != name {
		return status.Error(codes.PermissionDenied, "the worker's name differs from its "+
			"certificate's: start it again")
	}
	m := newMember(h)
	if !c.admit(m) {
		return status.Error(codes.AlreadyExists, "the worker has joined already, or was lost")
	}
	if c.options.Joined != nil {
		c.options.Joined(h.role()+" "+h.Name, h.Host)
	}
	err = m.serve(stream)
	m.lose(err)
	c.announce()
	return status.Error(codes.Aborted, err.Error())
}

// admit takes a worker in, once.
func (c *Coordinator) admit(m *member) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	said, joined := c.joined[m.hello.Name]
	said.Chrony = m.hello.Chrony // which a worker asks once it has joined
	if c.members[m.hello.Name] != nil || !joined || said != m.hello {
		return false // the certificate may be from an earlier coordinator of the same identity
	}
	c.members[m.hello.Name] = m
	c.announceLocked()
	return true
}

// announce wakes Await: a worker has come or is lost.
func (c *Coordinator) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.announceLocked()
}

func (c *Coordinator) announceLocked() {
	close(c.arrival)
	c.arrival = make(chan struct{})
}

// time answers a worker's ticks.
func (c *Coordinator) time(stream grpc.ServerStream) error {
	name, err := worker(stream.Context())
	if err != nil {
		return err
	}
	for {
		var t tick
		if err := stream.RecvMsg(&t); err != nil {
			return err
		}
		received := c.options.Clock.Now()
		c.mu.Lock()
		m := c.members[name]
		c.mu.Unlock()
		if m != nil {
			m.hear()
		}
		answer := &tock{SentNs: t.SentNs, ReceivedNs: received, AnsweredNs: c.options.Clock.Now()}
		if err := stream.SendMsg(answer); err != nil {
			return err
		}
	}
}

// Await returns when all expected workers are there. When ctx ends first, the error names those
// that are missing. A worker that is lost meanwhile ends the wait, because nobody takes its place.
func (c *Coordinator) Await(ctx context.Context) error {
	for {
		c.mu.Lock()
		here, arrival := len(c.members), c.arrival
		c.mu.Unlock()
		for _, m := range append(c.team(), c.hosts()...) {
			if err := m.err(); err != nil {
				return err
			}
		}
		if here >= c.options.Workers+c.options.Hosts {
			c.askChrony(ctx)
			return nil
		}
		select {
		case <-arrival:
		case <-ctx.Done():
			return fmt.Errorf("%s: start plimsoll %s --join %s on each machine: %w",
				c.Missing(), c.commands(), c.Address(), ctx.Err())
		}
	}
}

// askChrony asks once for this machine's clock, if a worker has another one.
func (c *Coordinator) askChrony(ctx context.Context) {
	apart := slices.ContainsFunc(c.team(), func(m *member) bool { return !m.sharesClock(c.kernel) })
	c.mu.Lock()
	ask := apart && !c.asked
	c.asked = c.asked || ask
	c.mu.Unlock()
	if !ask {
		return
	}
	said := c.options.chronys(ctx)
	c.mu.Lock()
	c.chrony = said
	c.mu.Unlock()
}

// Missing says which workers and hosts are not there.
func (c *Coordinator) Missing() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	named := slices.Concat(c.options.Lab.Hosts, c.options.Lab.Workers)
	missing := slices.DeleteFunc(namesOf(named),
		func(name string) bool { return c.members[name] != nil })
	if len(missing) > 0 {
		return "these have not joined: " + strings.Join(missing, ", ")
	}
	hosts := 0
	for _, m := range c.members {
		if m.hello.hosts() {
			hosts++
		}
	}
	var said []string
	if c.options.Hosts > 0 {
		said = append(said, fmt.Sprintf("%d of %d hosts", hosts, c.options.Hosts))
	}
	if c.options.Workers > 0 {
		said = append(said, fmt.Sprintf("%d of %d workers", len(c.members)-hosts,
			c.options.Workers))
	}
	return strings.Join(said, " and ") + " have joined"
}

// commands names the commands by which the expected processes join.
func (c *Coordinator) commands() string {
	switch {
	case c.options.Hosts == 0:
		return "worker"
	case c.options.Workers == 0:
		return "host"
	}
	return "worker (or host)"
}

// team returns the workers in the order of the lab, or of their names.
func (c *Coordinator) team() []*member { return c.those(false) }

// hosts returns the hosts in the order of the lab, or of their names.
func (c *Coordinator) hosts() []*member { return c.those(true) }

func (c *Coordinator) those(hosts bool) (all []*member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members {
		if m.hello.hosts() == hosts {
			all = append(all, m)
		}
	}
	named := c.options.Lab.those(hosts)
	slices.SortFunc(all, func(a, b *member) int {
		_, x := expects(named, a.hello.Name)
		_, y := expects(named, b.hello.Name)
		return cmp.Or(x-y, strings.Compare(a.hello.Name, b.hello.Name))
	})
	return all
}
