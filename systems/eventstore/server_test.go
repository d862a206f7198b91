package eventstore

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/gossip"
	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/persistent"
	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/serverfeatures"
	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/shared"
	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
)

// servers are nodes that speak EventStoreDB's published gRPC protocol, on one log in memory. They
// replicate nothing and store nothing: they simulate the protocol, not its promises.
type servers struct {
	mu      sync.Mutex
	streams map[string]*stream
	groups  map[groupKey]*serverGroup
	nodes   []*server
	options map[string]string // of /info/options; nil: no user may read them

	noPositions bool              // deletions are answered without one
	users       map[string]string // header by user; nil: no authentication
	// holding, when not nil, is called with each append of events, without the lock, before it
	// is written. An error ends the append.
	holding func(stream string) error

	authority *authority.Authority // nil: not encrypted
	stop      chan struct{}
	ticking   sync.WaitGroup
}

// server is one node.
type server struct {
	of      *servers
	address string
	state   gossip.MemberInfo_VNodeState
	alive   bool
	http    *http.Server
	grpc    *grpc.Server
}

// startServers starts nodes. The first one is the leader.
func startServers(nodes int, secured bool) (*servers, error) {
	s := &servers{streams: map[string]*stream{}, groups: map[groupKey]*serverGroup{},
		options: map[string]string{noFlush: "False"}, stop: make(chan struct{})}
	if secured {
		var err error
		if s.authority, err = authority.New(); err != nil {
			return nil, err
		}
		s.users = map[string]string{"admin": string(basic("admin", "secret")),
			"clerk": string(basic("clerk", "letters"))}
	}
	for i := range nodes {
		n := &server{of: s, state: gossip.MemberInfo_Follower, alive: true}
		if i == 0 {
			n.state = gossip.MemberInfo_Leader
		}
		if err := n.start("127.0.0.1:0"); err != nil {
			return nil, errors.Join(err, s.Stop())
		}
		s.nodes = append(s.nodes, n)
	}
	s.ticking.Go(s.tick)
	return s, nil
}

// tick makes groups look for messages whose message_timeout is over.
func (s *servers) tick() {
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-every.C:
			s.mu.Lock()
			for _, g := range s.groups {
				g.expire(time.Now())
			}
			s.mu.Unlock()
		}
	}
}

// Stop ends all nodes.
func (s *servers) Stop() error {
	close(s.stop)
	s.ticking.Wait()
	for _, n := range s.nodes {
		n.kill()
	}
	return nil
}

func (s *servers) endpoints() (all []string) {
	for _, n := range s.nodes {
		all = append(all, n.address)
	}
	return all
}

func (s *servers) credentials() system.Credentials {
	if s.users == nil {
		return system.Credentials{}
	}
	return system.Credentials{User: "admin", Password: "secret"}
}

func (s *servers) tls() *tls.Config {
	if s.authority == nil {
		return nil
	}
	return s.authority.ClientConfig()
}

// lead makes another node the leader.
func (s *servers) lead(next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, n := range s.nodes {
		n.state = gossip.MemberInfo_Follower
		if i == next {
			n.state = gossip.MemberInfo_Leader
		}
	}
	for _, g := range s.groups {
		g.disconnectAll()
	}
}

// start serves at an address.
func (n *server) start(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	n.address = l.Addr().String()
	n.grpc = grpc.NewServer(grpc.UnaryInterceptor(n.unary), grpc.StreamInterceptor(n.streaming))
	gossip.RegisterGossipServer(n.grpc, gossiper{server: n})
	serverfeatures.RegisterServerFeaturesServer(n.grpc, features{})
	streams.RegisterStreamsServer(n.grpc, streamServer{server: n})
	persistent.RegisterPersistentSubscriptionsServer(n.grpc, groupServer{server: n})
	n.http = &http.Server{Handler: n, Protocols: &http.Protocols{},
		ErrorLog: log.New(io.Discard, "", 0)}
	n.http.Protocols.SetHTTP1(true)
	n.http.Protocols.SetHTTP2(true)
	n.http.Protocols.SetUnencryptedHTTP2(true)
	if n.of.authority == nil {
		go n.http.Serve(l)
		return nil
	}
	key, certificate, err := n.of.authority.Issue("node", "127.0.0.1")
	if err != nil {
		return errors.Join(err, l.Close())
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	n.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}}
	go n.http.ServeTLS(l, "", "")
	return nil
}

// kill ends the node with all of its connections.
func (n *server) kill() {
	n.of.mu.Lock()
	n.alive = false
	n.of.mu.Unlock()
	_ = n.http.Close()
	n.grpc.Stop()
}

// ServeHTTP serves gRPC and /info/options.
func (n *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		n.grpc.ServeHTTP(w, r)
		return
	}
	n.of.mu.Lock()
	options, users := n.of.options, n.of.users
	n.of.mu.Unlock()
	switch {
	case r.URL.Path != "/info/options":
		http.NotFound(w, r)
	case options == nil || users != nil && r.Header.Get("Authorization") != users["admin"]:
		w.WriteHeader(http.StatusUnauthorized)
	default:
		var all []option
		for name, value := range options {
			all = append(all, option{name, value})
		}
		_ = json.NewEncoder(w).Encode(all)
	}
}

// authorize returns the server's answer to a request's credentials.
func (n *server) authorize(ctx context.Context, method string) error {
	users := n.of.users
	if users == nil {
		return nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	given := md.Get("authorization")
	open := strings.Contains(method, ".gossip.") || strings.Contains(method, ".server_features.")
	manages := strings.HasSuffix(method, "PersistentSubscriptions/Create")
	switch {
	case len(given) == 0 && open:
		return nil
	case len(given) == 0:
		return status.Error(codes.PermissionDenied, "Access Denied")
	case given[0] == users["admin"], given[0] == users["clerk"] && !manages:
		return nil
	case given[0] == users["clerk"]:
		return status.Error(codes.PermissionDenied, "Access Denied")
	}
	return status.Error(codes.Unauthenticated, "Unauthenticated")
}

func (n *server) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo,
	handler grpc.UnaryHandler) (any, error) {
	if err := n.authorize(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

func (n *server) streaming(s any, to grpc.ServerStream, info *grpc.StreamServerInfo,
	handler grpc.StreamHandler) error {
	if err := n.authorize(to.Context(), info.FullMethod); err != nil {
		return err
	}
	return handler(s, to)
}

// leads refuses a request to a node that is not the leader, and names the leader. It is called
// with the lock held.
func (n *server) leads() (trailer metadata.MD, err error) {
	if n.state == gossip.MemberInfo_Leader {
		return nil, nil
	}
	for _, other := range n.of.nodes {
		if other.alive && other.state == gossip.MemberInfo_Leader {
			host, port, _ := net.SplitHostPort(other.address)
			return metadata.Pairs("exception", "not-leader", "leader-endpoint-host", host,
				"leader-endpoint-port", port), status.Error(codes.NotFound, "Leader info available")
		}
	}
	return nil, status.Error(codes.Unavailable, "Server Is Not Ready")
}

type gossiper struct {
	gossip.UnimplementedGossipServer
	*server
}

func (g gossiper) Read(context.Context, *shared.Empty) (*gossip.ClusterInfo, error) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	known := &gossip.ClusterInfo{}
	for _, n := range g.of.nodes {
		host, port, _ := net.SplitHostPort(n.address)
		number, _ := strconv.Atoi(port)
		known.Members = append(known.Members, &gossip.MemberInfo{State: n.state, IsAlive: n.alive,
			HttpEndPoint: &gossip.EndPoint{Address: host, Port: uint32(number)}})
	}
	return known, nil
}

type features struct {
	serverfeatures.UnimplementedServerFeaturesServer
}

func (features) GetSupportedMethods(context.Context, *shared.Empty) (
	*serverfeatures.SupportedMethods, error,
) {
	const subscriptions = "event_store.client.persistent_subscriptions.persistentsubscriptions"
	return &serverfeatures.SupportedMethods{EventStoreServerVersion: "24.10.0",
		Methods: []*serverfeatures.SupportedMethod{
			{ServiceName: subscriptions, MethodName: "list"},
			{ServiceName: subscriptions, MethodName: "getinfo"},
		}}, nil
}
