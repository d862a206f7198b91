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

	"github.com/plimsoll-bench/plimsoll/internal/process"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// Ports of the servers that are processes, as NATS has them.
	clientPort = 4222
	routePort  = 6222
	// lookWithin bounds one question to a server that starts.
	lookWithin = 500 * time.Millisecond
)

// servers is how servers that are processes start, fail and stop. To stop, they
// hand over what they lead and close their files.
var servers = driver.Servers{
	StartWithin: readyWithin, StopGrace: 15 * time.Second, AskEvery: 20 * time.Millisecond,
	LastComplaint: driver.LastLineWith(" ["+kindFatal+"] ", " ["+kindError+"] "),
}

// spawned is a cluster of child processes: this program again, each with
// NodeCommand.
type spawned struct {
	*driver.Cluster
	shared clusterConfig
}

// spawning is what cluster to start.
type spawning struct {
	provision system.Provision
	config    serverConfig
}

func (s spawning) build(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
	addresses, err := process.Addresses(s.provision.Nodes, clientPort, routePort)
	if err != nil {
		return nil, err
	}
	return s.buildAt(ctx, c, addresses)
}

// buildAt starts servers at addresses: each listens at its first one to clients
// and at its second one to other servers. Their configuration, which holds the
// secrets, they read from their standard input.
func (s spawning) buildAt(
	ctx context.Context, c *driver.Cluster, addresses [][]string,
) (system.Provisioned, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	var routes []string
	for i, name := range nodeNames(len(addresses)) {
		routes = append(routes, addresses[i][1])
		if err := c.Furnish(c.Add(name, addresses[i][0]), nil); err != nil {
			return nil, err
		}
	}
	started := &spawned{c, newClusterConfig(routes)}
	c.SetCredentials(started.shared.credentials)
	nodes := c.Members()
	always := s.provision.Durability.Synced()
	err = c.Launch(nodes, func(n *driver.Node) process.Spec {
		index := slices.Index(nodes, n)
		config := started.shared.node(n.Name, n.Dir, n.Address, index, s.config, always)
		args := []string{NodeCommand, n.Name, n.Dir}
		return process.Spec{Path: self, Args: args, Input: []byte(config)}
	})
	if err != nil {
		return nil, err
	}
	return started, started.awaitReady(ctx)
}

// awaitReady waits until the servers are a cluster, and fails as soon as one
// has ended.
func (s *spawned) awaitReady(ctx context.Context) error { return s.Await(ctx, s.ready) }

// nodeReport is what is used of a server's answers about itself.
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

// ready says what the cluster lacks: every server is healthy and connected to
// all others, and one leads all.
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

// look asks a server whether it is healthy, and for its variables.
func (s *spawned) look(ctx context.Context, n *driver.Node) (nodeReport, error) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	admin := login{user: s.shared.credentials.AdminUser,
		password: s.shared.credentials.AdminPassword}
	conn, err := connectTo(ctx, []string{n.Address}, 0, admin, "plimsoll start", -1)
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

// ask asks the server that a system user's connection is with.
func ask(ctx context.Context, conn *nats.Conn, question string, into any) error {
	answer, err := conn.RequestWithContext(ctx,
		"$SYS.REQ.SERVER."+conn.ConnectedServerId()+"."+question, nil)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", question, err)
	}
	told := struct {
		Data any `json:"data"`
	}{into}
	if err := json.Unmarshal(answer.Data, &told); err != nil {
		return fmt.Errorf("reading the answer to %s: %w", question, err)
	}
	return nil
}

// NodeCommand is the command by which this program is one server of a cluster.
// The server's name and its folder follow it, only to tell one from another. A
// program that provisions servers that are processes, be it a test, must answer
// it with ServeNode.
const NodeCommand = "nats-node"

// maxConfig bounds what is read of a configuration, in bytes.
const maxConfig = 1 << 20

// ServeNode runs a server with the configuration that it reads until ctx ends,
// and then shuts it down in good order. A server that cannot run is an error. It
// writes its log to the file.
func ServeNode(ctx context.Context, config io.Reader, log *os.File) error {
	text, err := io.ReadAll(io.LimitReader(config, maxConfig))
	if err != nil {
		return fmt.Errorf("reading the server's configuration: %w", err)
	}
	if len(text) == 0 {
		return errors.New(
			"no configuration came: plimsoll starts such servers itself, for a target of nats " +
				"with the setting servers: processes")
	}
	s, err := newServer(string(text))
	if err != nil {
		return fmt.Errorf("making the server: %w", err)
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
