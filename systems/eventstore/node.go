package eventstore

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/gossip"
	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/serverfeatures"
	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/shared"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// node is a node of the cluster as gossip describes it.
type node struct {
	address string
	state   gossip.MemberInfo_VNodeState
	alive   bool
}

// votes reports whether the node counts for a majority.
func (n node) votes() bool {
	switch n.state {
	case gossip.MemberInfo_ReadOnlyReplica, gossip.MemberInfo_PreReadOnlyReplica,
		gossip.MemberInfo_ReadOnlyLeaderless, gossip.MemberInfo_Manager:
		return false
	}
	return true
}

// ask connects to one node and queries it, as the administrator if the target names one. Its error
// explains why the node cannot be queried.
func (c *cluster) ask(ctx context.Context, address string,
	question func(ctx context.Context, to *grpc.ClientConn) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	one := &cluster{options: c.options} // for errors that name this endpoint only
	one.options.Endpoints = []string{address}
	dial := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	var config *tls.Config
	if c.options.TLS != nil {
		config = c.options.TLS.Clone()
		config.NextProtos = []string{"h2"}
		dial = []grpc.DialOption{grpc.WithTransportCredentials(credentials.NewTLS(config)),
			grpc.WithPerRPCCredentials(basic(c.administrator()))}
	}
	// gRPC's errors hide network errors, so the connection is tried first.
	tried, err := driver.Dial(ctx, "tcp", address, config)
	if err != nil {
		return cmp.Or(one.peer().Explain(err), one.peer().HungUp(err))
	}
	_ = tried.Close() // nothing was sent
	to, err := grpc.NewClient("passthrough:///"+address, dial...)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	defer func() { _ = to.Close() }() // the answer has been received
	if err := question(ctx, to); err != nil {
		return one.explain(err)
	}
	return nil
}

// administrator returns the user with the most rights.
func (c *cluster) administrator() (user, password string) {
	s := c.options.Credentials.Admin()
	return s.User, s.Password
}

// login is the header of a user and a password; empty: none.
type login string

func basic(user, password string) login {
	if user == "" && password == "" {
		return ""
	}
	return login("Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

// GetRequestMetadata returns the header.
func (l login) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if l == "" {
		return nil, nil
	}
	return map[string]string{"authorization": string(l)}, nil
}

// RequireTransportSecurity keeps passwords off connections that are not encrypted.
func (login) RequireTransportSecurity() bool { return true }

// gossipOf returns the nodes that a node knows.
func (c *cluster) gossipOf(ctx context.Context, address string) ([]node, error) {
	var all []node
	err := c.ask(ctx, address, func(ctx context.Context, to *grpc.ClientConn) error {
		known, err := gossip.NewGossipClient(to).Read(ctx, &shared.Empty{})
		for _, m := range known.GetMembers() {
			at := m.GetHttpEndPoint()
			all = append(all, node{state: m.GetState(), alive: m.GetIsAlive(),
				address: net.JoinHostPort(at.GetAddress(), strconv.Itoa(int(at.GetPort())))})
		}
		return err
	})
	if err == nil && len(all) == 1 {
		all[0].address = address // a single node may advertise an address that only it can reach
	}
	return all, err
}

// nodes queries all endpoints at once and returns the list of one of them, if possible one with a
// leader. If no endpoint answers, the error is that of the first.
func (c *cluster) nodes(ctx context.Context) ([]node, error) {
	endpoints := c.options.Endpoints
	found, errs := driver.AskAll(len(endpoints), func(i int) ([]node, error) {
		return c.gossipOf(ctx, endpoints[i])
	})
	var any []node
	for _, all := range found {
		if leaderOf(all) != "" {
			return all, nil
		}
		if len(any) == 0 {
			any = all
		}
	}
	if len(any) > 0 {
		return any, nil
	}
	return nil, cmp.Or(cmp.Or(errs...), errors.New("the nodes know of no node"))
}

// leaderOf returns the address of the leader, or "" if there is none.
func leaderOf(all []node) string {
	for _, n := range all {
		if n.alive && n.state == gossip.MemberInfo_Leader {
			return n.address
		}
	}
	return ""
}

// findLeader returns the address of the leader.
func (c *cluster) findLeader(ctx context.Context) (string, error) {
	all, err := c.nodes(ctx)
	if err != nil {
		return "", err
	}
	if leader := leaderOf(all); leader != "" {
		return leader, nil
	}
	return "", fmt.Errorf("%s knows no leader (%s is %s), so nothing can be written: wait for an "+
		"election, or start the nodes that are missing", c.peer().At(), all[0].address,
		all[0].state)
}

// Leader returns the leader of the cluster, which leads every existing partition.
func (c *cluster) Leader(ctx context.Context, t system.Topic, _ int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	if _, err := c.streams(ctx, t); err != nil {
		return "", err
	}
	return c.findLeader(ctx)
}

// ServerVersions returns a line for each node.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	all, err := c.nodes(ctx)
	if err != nil {
		return nil, err
	}
	lines, errs := driver.AskAll(len(all), func(i int) (line string, err error) {
		n, version := all[i], "of an unknown version: it is not alive"
		if n.alive {
			version, err = c.version(ctx, n.address)
		}
		return fmt.Sprintf("%s %s %s", n.state, n.address, version), err
	})
	return append(lines, untried), errors.Join(errs...)
}

// untried is the remark on the servers in every result.
const untried = "plimsoll's driver was not tried against a real server"

func (c *cluster) version(ctx context.Context, address string) (version string, err error) {
	err = c.ask(ctx, address, func(ctx context.Context, to *grpc.ClientConn) error {
		methods, err := serverfeatures.NewServerFeaturesClient(to).GetSupportedMethods(ctx,
			&shared.Empty{})
		version = methods.GetEventStoreServerVersion()
		return err
	})
	return version, err
}
