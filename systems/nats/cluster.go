package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	readyWithin = 90 * time.Second
	readyPoll   = 5 * time.Millisecond
	// startAttempts bounds the attempts to start. An attempt is repeated when another process took
	// a port before the server listened, or when the first election split its votes: the next
	// election takes up to 9 s, a new start a third of a second. The first attempt may take
	// firstElection, each further one longer by the factor.
	startAttempts  = 5
	firstElection  = time.Second
	electionFactor = 3
	loopback       = "127.0.0.1"
	// routePool is the server's default number of connections between two
	// servers for all accounts but the system account, which has its own.
	routePool = 3
	// account holds the streams. In systemAccount the servers answer questions about themselves.
	account       = "PLIMSOLL"
	systemAccount = "SYS"
)

// NodeNames returns the names of the servers; none if they run in this process.
func (natsSystem) NodeNames(p system.Provision) []string {
	if !apart(p) {
		return nil
	}
	return nodeNames(p.All())
}

func nodeNames(n int) []string { return driver.Numbered("n", n) }

// Provision starts a JetStream cluster of p.Nodes servers inside this process,
// on loopback ports, or each in its own process (see spawned). Each has a data directory below
// p.DataDir and a log file in p.LogDir. It returns when the cluster has a leader and every server
// is current, within half a minute.
func (natsSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	if bad := append(problems(p.Settings, p.Durability),
		copiesOf(p.Settings, p.Durability).CheckNodes(p.Nodes)...); len(bad) > 0 {
		return nil, bad
	}
	p, err := driver.Folders(p)
	if err != nil {
		return nil, err
	}
	maxFile := p.Settings.Bytes(setMaxFileStore)
	if maxFile == 0 {
		if maxFile, err = fairShare(p.DataDir, p.All()); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	limit := firstElection
	for range startAttempts {
		var c system.Provisioned
		if c, err = startWithin(ctx, limit, p, maxFile); err == nil {
			return c, nil
		}
		split := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
		if !split && !errors.Is(err, driver.ErrAddressTaken) {
			break
		}
		limit *= electionFactor
	}
	return nil, err
}

// apart reports whether each server runs in its own process.
func apart(p system.Provision) bool {
	where := p.Settings.Text(setServers)
	return where == valueProcesses || where == valueAuto && p.Breakable
}

// startWithin makes one attempt. After an error only the logs remain.
func startWithin(ctx context.Context, limit time.Duration, p system.Provision,
	maxFile int64) (system.Provisioned, error) {
	if apart(p) {
		timed := servers
		timed.StartWithin = limit
		return timed.Start(ctx, p, spawning{p, maxFile}.build)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return start(ctx, p, maxFile)
}

// fairShare returns the disk space that each node may fill: an equal part of the data directory's
// free space, or the smallest free space of a node that has its own file system.
func fairShare(dir string, nodes int) (int64, error) {
	shared, on, err := freeDisk(dir)
	if err != nil {
		return 0, err
	}
	share := shared / int64(nodes)
	for _, name := range nodeNames(nodes) {
		own, at, err := freeDisk(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) || err == nil && at == on {
			continue
		}
		if err != nil {
			return 0, err
		}
		share = min(share, own)
	}
	return share, nil
}

// freeDisk returns nine tenths of the free bytes of a directory's file system, and its device.
func freeDisk(dir string) (bytes int64, device uint64, err error) {
	var fs syscall.Statfs_t
	var file syscall.Stat_t
	if err = syscall.Stat(dir, &file); err == nil {
		err = syscall.Statfs(dir, &fs)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read the free disk of the data directory: %w", err)
	}
	return int64(fs.Bavail) * int64(fs.Bsize) / 10 * 9, uint64(file.Dev), nil
}

// embedded is a cluster inside this process.
type embedded struct {
	shared clusterConfig
	nodes  []*node

	once    sync.Once
	stopped chan struct{} // closed when every server has ended
}

// node is a server.
type node struct {
	name   string
	dir    string
	log    *serverLog
	server *server.Server
}

// start starts the servers and waits until they form a cluster. After an error only the logs are
// left.
func start(ctx context.Context, p system.Provision, maxFile int64) (system.Provisioned, error) {
	ports, err := process.FreePorts(loopback, p.Nodes)
	if err != nil {
		return nil, err
	}
	var routes []string
	for _, port := range ports {
		routes = append(routes, driver.At(loopback, port))
	}
	e := &embedded{shared: newClusterConfig(p, maxFile, routes, 0, driver.Secret),
		stopped: make(chan struct{})}
	err = e.startNodes(p)
	if err == nil {
		err = e.awaitReady(ctx)
	}
	if err == nil {
		return e, nil
	}
	err = errors.Join(err, e.Stop(context.WithoutCancel(ctx)))
	for _, n := range e.nodes {
		err = errors.Join(err, process.RemoveFolder(n.dir))
	}
	return nil, err
}

func (e *embedded) startNodes(p system.Provision) error {
	for i, name := range nodeNames(p.Nodes) {
		n := &node{name: name, dir: filepath.Join(p.DataDir, name)}
		if err := os.MkdirAll(n.dir, 0o700); err != nil {
			return fmt.Errorf("make the data directory of %s: %w", name, err)
		}
		e.nodes = append(e.nodes, n)
		s, err := newServer(e.shared.node(n.name, n.dir, loopback+":-1", i))
		if err != nil {
			return fmt.Errorf("make server %s: %w", name, err)
		}
		if n.log, err = openServerLog(filepath.Join(p.LogDir, name+".log")); err != nil {
			return err
		}
		n.server = s
		s.SetLoggerV2(n.log, false, false, false)
		s.Start()
	}
	return nil
}

// awaitReady waits until the servers listen, have a leader and are current.
func (e *embedded) awaitReady(ctx context.Context) error {
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		for _, n := range e.nodes {
			if err := n.log.fatal(); err != nil {
				return fmt.Errorf("server %s: %w", n.name, err)
			}
		}
		if e.ready() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the servers did not become a cluster%s: %w", e.complaints(),
				ctx.Err())
		case <-ticker.C:
		}
	}
}

// complaints quotes the last complaint of each server's log, in brackets, because the
// logs may be deleted before anyone reads them.
func (e *embedded) complaints() string {
	var b strings.Builder
	for _, n := range e.nodes {
		if last := n.log.complaint(); last != "" {
			fmt.Fprintf(&b, " (%s: %s)", n.name, last)
		}
	}
	return b.String()
}

// ready reports whether every server listens, is connected to all others and is current, and one
// is the leader. Two servers that dial each other at once may close both connections and dial
// again a second later, so a majority can exist before all routes do.
func (e *embedded) ready() bool {
	routes := e.shared.connections()
	single := len(e.nodes) == 1 // and has no cluster
	leaderKnowsAll := single
	for _, n := range e.nodes {
		if n.server.Addr() == nil || n.server.NumRoutes() < routes ||
			!n.server.JetStreamEnabled() || !single && !n.server.JetStreamIsCurrent() {
			return false
		}
		if !single && n.server.JetStreamIsLeader() &&
			len(n.server.JetStreamClusterPeers()) == len(e.nodes) {
			leaderKnowsAll = true
		}
	}
	return leaderKnowsAll
}

// Endpoints returns the servers' client addresses.
func (e *embedded) Endpoints() []string {
	var all []string
	for _, n := range e.nodes {
		all = append(all, n.address())
	}
	return all
}

func (n *node) address() string {
	if a := n.server.Addr(); a != nil {
		return a.String()
	}
	return ""
}

// Credentials returns the users of the cluster and of its system account.
func (e *embedded) Credentials() system.Credentials { return e.shared.credentials }

// TLS returns nil: connections are not encrypted.
func (e *embedded) TLS() *tls.Config { return nil }

// CAFile returns "": there is no certificate.
func (e *embedded) CAFile() string { return "" }

// Nodes returns the servers. They run in this process.
func (e *embedded) Nodes() []system.Node {
	var all []system.Node
	for _, n := range e.nodes {
		all = append(all,
			system.Node{Name: n.name, Address: n.address(), PID: os.Getpid(), Log: n.log.path})
	}
	return all
}

// Stop ends every server and waits for it, within ctx. It is idempotent. If ctx ends first, the
// servers still end, and a later Stop waits for them.
func (e *embedded) Stop(ctx context.Context) error {
	e.once.Do(func() { go e.shutdown() })
	select {
	case <-e.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop the cluster: %w", ctx.Err())
	}
}

func (e *embedded) shutdown() {
	defer close(e.stopped)
	var wg sync.WaitGroup
	for _, n := range e.nodes {
		wg.Go(n.stop)
	}
	wg.Wait()
}

func (n *node) stop() {
	if n.server != nil {
		n.server.Shutdown()
		n.server.WaitForShutdown()
	}
	if n.log != nil {
		n.log.close()
	}
}
