package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	// NATS's default ports, for servers that are processes.
	clientPort = 4222
	routePort  = 6222
	// lookWithin bounds one request to a server that is starting.
	lookWithin = 500 * time.Millisecond
)

// servers describes how server processes start, fail and stop. A server that stops hands over its
// leaderships and closes its files.
var servers = driver.Servers{
	StartWithin: readyWithin, StopGrace: 15 * time.Second, AskEvery: 20 * time.Millisecond,
	LastComplaint: driver.LastLineWith(" ["+kindFatal+"] ", " ["+kindError+"] "),
}

// spawned is a cluster of child processes. Each is this program with NodeCommand.
type spawned struct {
	*driver.Cluster
	shared clusterConfig
}

// spawning describes the cluster to start.
type spawning struct {
	provision system.Provision
	maxFile   int64
}

func (s spawning) build(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
	addresses, err := c.Addresses(s.provision.All(), clientPort, routePort)
	if err != nil {
		return nil, err
	}
	return s.buildAt(ctx, c, addresses)
}

// buildAt starts servers. Each listens for clients at its first address and for other servers at
// its second. It reads its configuration, which holds the secrets, from standard input.
func (s spawning) buildAt(
	ctx context.Context, c *driver.Cluster, addresses [][]string,
) (system.Provisioned, error) {
	var routes []string
	var nodes []*driver.Node
	for i, name := range nodeNames(len(addresses)) {
		routes = append(routes, addresses[i][1])
		n := c.Add(name, addresses[i][0])
		nodes = append(nodes, n)
		if err := c.Furnish(n, nil); err != nil {
			return nil, err
		}
	}
	started := &spawned{c,
		newClusterConfig(s.provision, s.maxFile, routes, s.provision.Later, c.Secret)}
	c.SetCredentials(started.shared.credentials)
	err := c.Launch(nodes, func(n *driver.Node) process.Spec {
		config := started.shared.node(n.Name, n.Dir, n.Address, slices.Index(nodes, n))
		return driver.Self(n, NodeCommand, []byte(config))
	})
	if err != nil {
		return nil, err
	}
	return started, started.awaitReady(ctx)
}

// awaitReady waits until the servers form a cluster, and fails as soon as one has ended.
func (s *spawned) awaitReady(ctx context.Context) error { return s.Await(ctx, s.ready) }

// nodeReport holds the used part of a server's answers about itself.
type nodeReport struct {
	Status string `json:"status"` // HEALTHZ
	Error  string `json:"error"`
	Name   string `json:"server_name"` // VARZ
	Routes int    `json:"routes"`

	JetStream struct {
		Meta *struct {
			Leader   string `json:"leader"`
			Replicas []struct {
				Current bool `json:"current"`
				Offline bool `json:"offline"`
			} `json:"replicas"`
		} `json:"meta"`
	} `json:"jetstream"`
}

// ready returns nil when every server is healthy and connected to all others, and one leads them.
// Otherwise the error says what is missing.
func (s *spawned) ready(ctx context.Context) error {
	lacks := errors.New("no server leads all others")
	for _, n := range s.Members() {
		report, err := s.look(ctx, n)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		if report.Routes < s.shared.connections() {
			return fmt.Errorf("%s has %d of %d routes",
				n.Name, report.Routes, s.shared.connections())
		}
		if len(s.Members()) == 1 {
			return nil // a single server has no cluster
		}
		meta := report.JetStream.Meta
		if meta == nil || meta.Leader != report.Name || len(meta.Replicas) < len(s.Members())-1 {
			continue
		}
		lacks = nil
		for _, r := range meta.Replicas {
			if !r.Current || r.Offline {
				return fmt.Errorf("%s leads, and not all others follow", n.Name)
			}
		}
	}
	return lacks
}

// look reads a server's health and variables.
func (s *spawned) look(ctx context.Context, n *driver.Node) (nodeReport, error) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	admin := system.Options{Endpoints: []string{n.Address},
		Credentials: s.shared.credentials.Admin()}
	conn, err := connectTo(ctx, admin, 0, "plimsoll start", -1)
	if err != nil {
		return nodeReport{}, err
	}
	defer conn.Close()
	var report nodeReport
	for _, question := range []string{"HEALTHZ", "VARZ"} {
		if err := ask(ctx, conn, question, &report); err != nil {
			return report, err
		}
	}
	if report.Status != "ok" {
		return report, fmt.Errorf("it is not healthy: %s", report.Error)
	}
	return report, nil
}

// ask sends a request to the server at the other end of a system user's connection.
func ask(ctx context.Context, conn *nats.Conn, question string, into any) error {
	answer, err := conn.RequestWithContext(ctx,
		"$SYS.REQ.SERVER."+conn.ConnectedServerId()+"."+question, nil)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", question, err)
	}
	told := struct {
		Data any `json:"data"`
	}{into}
	if err := json.Unmarshal(answer.Data, &told); err != nil {
		return fmt.Errorf("read the answer to %s: %w", question, err)
	}
	return nil
}

// NodeCommand is the command with which this program runs one server of a cluster. The server's
// name and folder follow it, only to identify the process. Every program that provisions server
// processes, tests included, must call ServeNode for it.
const NodeCommand = "nats-node"

// ServeNode reads a configuration and runs a server with it until ctx ends. Then it shuts the
// server down cleanly. It returns an error if the server cannot run. The server's log goes to the
// file.
func (natsSystem) ServeNode(ctx context.Context, config io.Reader, log *os.File) error {
	text, err := driver.NodeConfig(config)
	if err != nil {
		return err
	}
	s, err := newServer(string(text))
	if err != nil {
		return fmt.Errorf("make the server: %w", err)
	}
	l := newServerLog(log.Name(), log)
	s.SetLoggerV2(l, false, false, false)
	s.Start()
	select {
	case <-ctx.Done():
	case <-l.died:
	}
	s.Shutdown()
	s.WaitForShutdown()
	return l.fatal()
}
