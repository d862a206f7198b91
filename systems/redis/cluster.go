package redis

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// Names of the servers' settings, in Redis's own words where it has them.
const (
	setSecurity  = "security"
	setFsync     = "appendfsync"
	setMaxMemory = "maxmemory"
	setServer    = "server"

	serverValkey = "valkey"
)

// serverSettings are the settings of the servers that plimsoll starts.
var serverSettings = driver.ServerSettings(system.MustSettings(driver.DeclarePrograms + `
server text redis redis|valkey
    whose servers plimsoll starts: Valkey speaks Redis's protocol, and is a stand-in for it
security text password password|tls|none
    how clients and servers authenticate: a user and password, these over TLS, or nothing
    (Redis's default)
appendfsync text everysec everysec|no
    levels 2 and 4: when the append-only file is synced; levels 1 and 3: always
maxmemory bytes 1GB 64MB..
    the primary refuses messages beyond it (noeviction); each server holds all messages
    (Redis's default is no bound)
`))

const (
	clientPort = 6379
	configFile = "redis.conf"
	benchUser  = "plimsoll"
)

// find returns the path of the servers' program.
func find(s system.Settings) (string, error) {
	name := "redis-server"
	if s.Text(setServer) == serverValkey {
		name = "valkey-server"
	}
	folder, err := driver.Programs{Names: []string{name},
		Missing: system.Missing{Software: name, Packages: []string{name}}}.Find(s)
	return filepath.Join(folder, name), err
}

// servers describes how Redis's servers start, fail and stop. A replica is online within a second,
// later on a busy machine.
var servers = driver.Servers{
	StartWithin: 90 * time.Second, StopGrace: 10 * time.Second,
	AskEvery: 20 * time.Millisecond, AskWithin: 2 * time.Second,
	LastComplaint: driver.LastLineWith(" # "),
}

// NodeNames returns the names of the servers: the first is the primary.
func (redisSystem) NodeNames(p system.Provision) []string { return driver.Numbered("n", p.Nodes) }

// Provision starts a primary and its replicas as processes of this machine. It returns
// when all replicas are online. The primary never changes: plimsoll promotes no replica.
func (redisSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	path, err := find(p.Settings)
	if err != nil {
		return nil, err
	}
	return servers.Provision(ctx, p, driver.BuildAt(p.Nodes, starter{path, p}.buildAt, clientPort))
}

// FindSoftware looks for the server's program.
func (redisSystem) FindSoftware(s system.Settings) error {
	_, err := find(s)
	return err
}

// starter starts one cluster.
type starter struct {
	path string
	system.Provision
}

func (s starter) buildAt(ctx context.Context, c *driver.Cluster, addresses [][]string) error {
	if err := c.Secure(s.Settings.Text(setSecurity), benchUser); err != nil {
		return err
	}
	for i, name := range (redisSystem{}).NodeNames(s.Provision) {
		n := c.Add(name, addresses[i][0])
		if err := c.Furnish(n, map[string]string{configFile: s.config(c, n)}); err != nil {
			return err
		}
	}
	err := c.Launch(c.Members(), func(n *driver.Node) process.Spec {
		return process.Spec{Path: s.path, Args: []string{n.Path(configFile)}}
	})
	if err != nil {
		return err
	}
	primary := c.Members()[0]
	of := &cluster{options: system.Options{Credentials: c.Credentials(), TLS: c.TLS()}}
	client := of.dial(primary.Address, servers.AskWithin)
	defer func() { _ = client.Close() }()
	return c.AwaitEach(ctx, c.Members()[:1], func(ctx context.Context, _ *driver.Node) error {
		return awaitReplicas(ctx, client, s.Nodes-1)
	})
}

// config returns the configuration file of a server, which holds the secrets.
func (s starter) config(c *driver.Cluster, n *driver.Node) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("bind %s\nbind-source-addr %s\nprotected-mode no\ndir %q", n.Host, n.Host, n.Dir)
	line("replica-announce-ip %s\nreplica-announce-port %s", n.Host, n.Port)
	fsync := s.Settings.Text(setFsync)
	if s.Durability.Synced() {
		fsync = fsyncAlways
	}
	// A snapshot beside the append-only file would cost a fork each minute.
	line("%s yes\n%s %s\n%s no\nsave \"\"", appendOnly, appendFsync, fsync, noFsyncAmid)
	line("maxmemory %d\n%s noeviction", s.Settings.Bytes(setMaxMemory), maxMemory)
	// All replicas connect at the start; waiting for more of them would only delay it.
	line("repl-diskless-sync-delay 0")
	// All servers stop at once, and a primary would wait for stopped replicas.
	line("shutdown-timeout 0")
	if secrets := c.Credentials(); secrets.User != "" {
		line("user default off\nuser %s on >%s ~* &* +@all", secrets.User, secrets.Password)
		line("masteruser %s\nmasterauth %s", secrets.User, secrets.Password)
	}
	if c.TLS() == nil {
		line("port %s", n.Port)
	} else {
		line("port 0\ntls-port %s\ntls-replication yes\ntls-auth-clients no", n.Port)
		line("tls-cert-file %q\ntls-key-file %q\ntls-ca-cert-file %q",
			n.Path(driver.CertificateFile), n.Path(driver.KeyFile), n.Path(driver.CAFile))
	}
	if primary := c.Members()[0]; primary != n {
		line("replicaof %s %s", primary.Host, primary.Port)
	}
	return b.String()
}
