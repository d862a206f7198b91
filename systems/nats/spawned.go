package nats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/plimsoll-bench/plimsoll/internal/process"
	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	// Ports of the servers that are processes, as NATS has them.
	clientPort = 4222
	routePort  = 6222
	// stopGrace is how long a server may take to hand over what it leads and
	// close its files, before it is killed.
	stopGrace = 15 * time.Second
	// spawnPoll is how often the servers are asked whether they are ready, and
	// lookWithin bounds one question.
	spawnPoll  = 20 * time.Millisecond
	lookWithin = 500 * time.Millisecond
)

// spawned is a cluster of child processes: this program again, each with
// NodeCommand.
type spawned struct {
	shared clusterConfig
	nodes  []*child
}

// child is one server.
type child struct {
	name    string
	dir     string
	address string
	log     string
	group   int             // that the process runs under; 0: this one's
	process *process.Server // nil: not started
}

// spawn starts the servers, each at a host of its own where there are such, and
// waits until they are a cluster. What it returns is nil on an error, and
// nothing is left but the logs.
func spawn(ctx context.Context, p system.Provision, cfg serverConfig) (system.Provisioned, error) {
	addresses, err := process.Addresses(p.Nodes, clientPort, routePort)
	if err != nil {
		return nil, err
	}
	s := planSpawned(p, addresses)
	for i, n := range s.nodes {
		if err = n.start(s.shared.node(n.name, n.dir, n.address, i, cfg, synced(p.Durability))); err != nil {
			break
		}
	}
	if err == nil {
		err = s.awaitReady(ctx)
	}
	if err == nil {
		return s, nil
	}
	for _, n := range s.nodes {
		if n.process != nil {
			err = errors.Join(err, n.process.Kill())
		}
		err = errors.Join(err, process.RemoveFolder(n.dir))
	}
	return nil, err
}

// planSpawned is the cluster, of which nothing is started: each node listens to
// clients at the first of its addresses and to other nodes at the second.
func planSpawned(p system.Provision, addresses [][]string) *spawned {
	var routes []string
	for _, a := range addresses {
		routes = append(routes, a[1])
	}
	s := &spawned{shared: newClusterConfig(routes)}
	for i, a := range addresses {
		name := nodeName(i)
		s.nodes = append(s.nodes, &child{
			name: name, dir: filepath.Join(p.DataDir, name), address: a[0], log: filepath.Join(p.LogDir, name+".log"), group: p.Groups[name],
		})
	}
	return s
}

// start starts a server with its configuration, which it is told in secret.
func (n *child) start(config string) error {
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory of %s: %w", n.name, err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	n.process, err = process.Start(process.Spec{
		Name: "server " + n.name, Path: self, Args: []string{NodeCommand, n.name, n.dir}, Dir: n.dir, Log: n.log, Group: n.group, Input: []byte(config),
	})
	return err
}

// awaitReady waits until the servers are a cluster, and fails as soon as one
// has ended.
func (s *spawned) awaitReady(ctx context.Context) error {
	ticker := time.NewTicker(spawnPoll)
	defer ticker.Stop()
	for {
		if err := s.ended(); err != nil {
			return err
		}
		err := s.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the servers did not become a cluster (%w): %w", err, ctx.Err())
		case <-ticker.C:
		}
	}
}

// ended is why a server is not there any more.
func (s *spawned) ended() error {
	for _, n := range s.nodes {
		if n.process == nil {
			continue
		}
		select {
		case <-n.process.Exited():
		default:
			continue
		}
		said := lastComplaint(process.Tail(n.log))
		if bytes.Contains(process.Tail(n.log), []byte(addressInUse)) {
			return fmt.Errorf("server %s: %w: %s", n.name, errPortTaken, said)
		}
		return fmt.Errorf("server %s ended while it was started: %s", n.name, said)
	}
	return nil
}

// lastComplaint is the last line of a server's log that tells of an error, or
// the last one of all.
func lastComplaint(log []byte) string {
	var last, complaint []byte
	for line := range bytes.Lines(log) {
		last = line
		if bytes.Contains(line, []byte(" ["+kindFatal+"] ")) || bytes.Contains(line, []byte(" ["+kindError+"] ")) {
			complaint = line
		}
	}
	if complaint == nil {
		complaint = last
	}
	return process.Said(string(bytes.TrimSpace(complaint)))
}

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
	for _, n := range s.nodes {
		report, err := s.look(ctx, n)
		if err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		if report.Routes < s.shared.connections() {
			return fmt.Errorf("%s has %d of %d routes", n.name, report.Routes, s.shared.connections())
		}
		meta := report.JetStream.Meta
		if meta == nil || meta.Leader != report.Name || len(meta.Replicas) < len(s.nodes)-1 {
			continue
		}
		lacks = nil
		for _, r := range meta.Replicas {
			if !r.Current || r.Offline {
				return fmt.Errorf("%s leads, and not all others follow", n.name)
			}
		}
	}
	return lacks
}

// look asks a server whether it is healthy, and for its variables.
func (s *spawned) look(ctx context.Context, n *child) (nodeReport, error) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	admin := login{user: s.shared.credentials.AdminUser, password: s.shared.credentials.AdminPassword}
	conn, err := connectTo(ctx, []string{n.address}, 0, admin, "plimsoll start", -1)
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
	answer, err := conn.RequestWithContext(ctx, "$SYS.REQ.SERVER."+conn.ConnectedServerId()+"."+question, nil)
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

// Endpoints are the servers' client addresses.
func (s *spawned) Endpoints() []string {
	var all []string
	for _, n := range s.nodes {
		all = append(all, n.address)
	}
	return all
}

// Credentials open the cluster and its system account.
func (s *spawned) Credentials() system.Credentials { return s.shared.credentials }

// Nodes are the servers.
func (s *spawned) Nodes() []system.Node {
	var all []system.Node
	for _, n := range s.nodes {
		all = append(all, system.Node{Name: n.name, Address: n.address, PID: n.process.PID(), Log: n.log})
	}
	return all
}

// Kill ends a node at once.
func (s *spawned) Kill(node string) error {
	n, err := s.named(node)
	if err != nil {
		return err
	}
	return n.process.Kill()
}

// Restart starts a node that has ended again.
func (s *spawned) Restart(node string) error {
	n, err := s.named(node)
	if err != nil {
		return err
	}
	return n.process.Restart()
}

func (s *spawned) named(node string) (*child, error) {
	for _, n := range s.nodes {
		if n.name == node {
			return n, nil
		}
	}
	return nil, fmt.Errorf("there is no node %s", node)
}

// Stop ends every server, all at once, and waits for it. Those that have not
// ended within a grace, or when ctx ends, are killed. It is idempotent.
func (s *spawned) Stop(ctx context.Context) error {
	failed := make([]error, len(s.nodes))
	var wg sync.WaitGroup
	for i, n := range s.nodes {
		wg.Go(func() { failed[i] = n.process.Stop(ctx, stopGrace) })
	}
	wg.Wait()
	return errors.Join(failed...)
}
