package rabbitmq

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/internal/process"
	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	benchUser = "plimsoll"

	amqpPort          = 5672
	amqpsPort         = 5671
	managementPort    = 15672
	managementTLSPort = 15671
	streamPort        = 5552
	streamTLSPort     = 5551

	// startWithin bounds one attempt to start; servers that share two cores
	// take twenty seconds.
	startWithin = 100 * time.Second
	// startAttempts is how often starting is tried when another process took
	// an address between our finding it free and the server's listening.
	startAttempts = 3
	// stopGrace is how long servers may take to close their files, before they
	// are killed.
	stopGrace = 20 * time.Second
	// namesGrace is the same for the names' server, which has nothing to close.
	namesGrace = time.Second
)

// searchPath is where the server's script finds the shell's tools and Erlang.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// serverScripts are where packages put the script that starts a server. Not
// /usr/sbin/rabbitmq-server: there a wrapper changes the user and reads the
// configuration of the machine's own server.
var serverScripts = []string{
	"/usr/lib/rabbitmq/bin/rabbitmq-server",
	"/usr/local/lib/rabbitmq/bin/rabbitmq-server",
	"/opt/rabbitmq/sbin/rabbitmq-server",
}

// installation is the programs that a cluster is made of.
type installation struct{ server, epmd string }

// findInstallation says which programs to run, or how to get them.
func findInstallation() (installation, error) {
	var found installation
	for _, path := range serverScripts {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			found.server = path
			break
		}
	}
	found.epmd = lookUp("epmd")
	if found.server == "" || found.epmd == "" || lookUp("erl") == "" {
		return found, errors.New("RabbitMQ's server is not installed: on Debian and Ubuntu install it with: apt-get install -y --no-install-recommends rabbitmq-server")
	}
	return found, nil
}

// Installed says what is missing on this machine to start servers, and how to
// get it.
func Installed() error {
	_, err := findInstallation()
	return err
}

// lookUp finds a program where the server's script will; empty: it is not
// there.
func lookUp(program string) string {
	for _, dir := range filepath.SplitList(searchPath) {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path
		}
	}
	return ""
}

// Provision starts a cluster of p.Nodes servers as processes of this machine,
// each on a loopback address of its own, with its data below p.DataDir and its
// log in p.LogDir. It returns when every server says that all run. What runs
// here already is not touched: names, ports, cookie and the names' server are
// the cluster's own.
func (rabbitSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	asked := planOf(p.Settings, p.Durability)
	if bad := append(problems(p.Settings, p.Durability), checkNodes(p.Settings, asked, p.Nodes)...); len(bad) > 0 {
		return nil, bad
	}
	programs, err := findInstallation()
	if err != nil {
		return nil, err
	}
	if p.DataDir, err = filepath.Abs(p.DataDir); err != nil {
		return nil, fmt.Errorf("finding the data directory: %w", err)
	}
	if err := os.MkdirAll(p.LogDir, 0o755); err != nil {
		return nil, fmt.Errorf("making the log directory: %w", err)
	}
	s := starter{programs: programs, provision: p, config: readServerConfig(p.Settings, asked)}
	for range startAttempts {
		var c *provisionedCluster
		if c, err = s.start(ctx); err == nil {
			return c, nil
		}
		if !errors.Is(err, errAddressTaken) {
			break
		}
	}
	return nil, err
}

var errAddressTaken = errors.New("another process took an address")

// provisionedCluster is a cluster of child processes.
type provisionedCluster struct {
	servers     []*server
	names       *process.Server // epmd, which tells servers each other's ports; nil: not started
	namesLog    string
	home        string
	epmdPort    string
	credentials system.Credentials
	authority   *authority.Authority // nil: not encrypted
	caFile      string
}

// server is one of them.
type server struct {
	name         string
	node         string // as Erlang names it
	host         string
	dir          string
	address      string
	management   string // base URL
	distribution string // port where it talks to the others
	log          string
	process      *process.Server // nil: not started
}

// starter makes and starts one cluster.
type starter struct {
	programs  installation
	provision system.Provision
	config    serverConfig
}

// start is one attempt. On an error nothing is left but the logs.
func (s starter) start(ctx context.Context) (*provisionedCluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	c, err := s.prepare()
	if err == nil {
		err = s.launch(c)
	}
	if err == nil {
		err = c.awaitReady(ctx)
	}
	if err == nil {
		return c, nil
	}
	for _, n := range c.servers {
		if n.process != nil {
			err = errors.Join(err, n.process.Kill())
		}
		err = errors.Join(err, process.RemoveFolder(n.dir))
	}
	if c.names != nil {
		err = errors.Join(err, c.names.Kill())
	}
	if c.home != "" {
		err = errors.Join(err, os.RemoveAll(c.home))
	}
	return nil, err
}

// NodeNames are the names of the servers.
func (rabbitSystem) NodeNames(p system.Provision) []string {
	var all []string
	for i := range p.Nodes {
		all = append(all, nodeName(i))
	}
	return all
}

func nodeName(i int) string { return "n" + strconv.Itoa(i+1) }

// prepare makes the servers' folders and everything in them but the data. The
// cluster it returns is never nil.
func (s starter) prepare() (*provisionedCluster, error) {
	c := &provisionedCluster{credentials: system.Credentials{User: benchUser, Password: secret()}}
	ports := s.config.ports()
	addresses, err := process.Addresses(s.provision.Nodes, ports...)
	if err != nil {
		return c, err
	}
	if s.config.tls() {
		if c.authority, err = authority.New(); err != nil {
			return c, err
		}
	}
	shared, err := freePorts(s.provision.Nodes + 1)
	if err != nil {
		return c, err
	}
	c.epmdPort = shared[0]
	var nodes []string
	for i, a := range addresses {
		host, port, err := net.SplitHostPort(a[0])
		if err != nil || port != strconv.Itoa(ports[0]) {
			return c, errors.New("each server needs a loopback address of its own, and here they have only one: start the cluster on Linux, or give endpoints")
		}
		name := nodeName(i)
		nodes = append(nodes, name+"@"+host)
		c.servers = append(c.servers, &server{
			name: name, node: name + "@" + host, host: host, dir: filepath.Join(s.provision.DataDir, name),
			address: a[0], management: s.managementURL(a[1]), distribution: shared[i+1], log: filepath.Join(s.provision.LogDir, name+".log"),
		})
	}
	c.namesLog = filepath.Join(s.provision.LogDir, "epmd.log")
	if err := s.furnishHome(c); err != nil {
		return c, fmt.Errorf("making the servers' home: %w", err)
	}
	for _, n := range c.servers {
		if err := s.furnish(c, n, identity{host: n.host, nodes: nodes, password: c.credentials.Password}); err != nil {
			return c, fmt.Errorf("making the folder of %s: %w", n.name, err)
		}
	}
	return c, nil
}

func (s starter) managementURL(address string) string {
	if s.config.tls() {
		return "https://" + address
	}
	return "http://" + address
}

// freePorts are ports that nobody listens on at any address of this machine.
// epmd listens at 127.0.0.1 besides the addresses it is given, and before a
// server listens at its own it makes sure that its port is free at all.
func freePorts(n int) ([]string, error) {
	var all []string
	for range n {
		l, err := net.Listen("tcp", ":0")
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		defer l.Close() // when all are found, so that no two are one
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		all = append(all, port)
	}
	return all, nil
}

// furnishHome makes the folder with the secret that the servers show each
// other.
func (s starter) furnishHome(c *provisionedCluster) error {
	c.home = filepath.Join(s.provision.DataDir, "home")
	if err := os.MkdirAll(c.home, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.home, cookieFile), []byte(secret()), 0o400)
}

// furnish fills a server's folder.
func (s starter) furnish(c *provisionedCluster, n *server, who identity) error {
	for _, folder := range []string{dataFolder, logFolder} {
		if err := os.MkdirAll(filepath.Join(n.dir, folder), 0o700); err != nil {
			return err
		}
	}
	files := map[string][]byte{
		configFile:  []byte(s.config.configuration(who, n.dir)),
		pluginsFile: []byte("[rabbitmq_management,rabbitmq_stream].\n"),
	}
	if !s.config.syncRaft {
		files[noSyncFile] = []byte(noSyncRaft)
	}
	if c.authority != nil {
		key, certificate, err := c.authority.Issue(n.name, n.host)
		if err != nil {
			return err
		}
		files[certFile], files[keyFile], files[caFile] = certificate, key, c.authority.PEM()
		c.caFile = filepath.Join(n.dir, caFile)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(n.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// launch starts the names' server and the servers.
func (s starter) launch(c *provisionedCluster) error {
	var hosts []string
	for _, n := range c.servers {
		hosts = append(hosts, n.host)
	}
	var err error
	// A server would start one by itself, as a daemon that outlives it.
	c.names, err = process.Start(process.Spec{
		Name: "epmd, the servers' names,", Path: s.programs.epmd, Args: []string{"-port", c.epmdPort, "-address", strings.Join(hosts, ",")},
		Env: []string{"PATH=" + searchPath}, Dir: c.home, Log: c.namesLog,
	})
	if err != nil {
		return err
	}
	for _, n := range c.servers {
		if n.process, err = s.run(c, n); err != nil {
			return err
		}
	}
	return nil
}

func (s starter) run(c *provisionedCluster, n *server) (*process.Server, error) {
	return process.Start(process.Spec{
		Name: "server " + n.name, Path: s.programs.server, Dir: n.dir, Log: n.log,
		Env: s.config.environment(n, c.home, c.epmdPort), Group: s.provision.Groups[n.name],
	})
}

// secret is 128 random bits, in letters that need no quoting.
func secret() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails: it ends the program instead
	return "s" + hex.EncodeToString(b[:])
}

// Endpoints are the servers' client addresses.
func (c *provisionedCluster) Endpoints() []string {
	var all []string
	for _, n := range c.servers {
		all = append(all, n.address)
	}
	return all
}

// Credentials open the cluster.
func (c *provisionedCluster) Credentials() system.Credentials { return c.credentials }

// TLS is what clients connect with; nil when connections are not encrypted.
func (c *provisionedCluster) TLS() *tls.Config {
	if c.authority == nil {
		return nil
	}
	return c.authority.ClientConfig()
}

// CAFile is where the certificate that signed the servers' own is, in PEM;
// empty when connections are not encrypted.
func (c *provisionedCluster) CAFile() string { return c.caFile }

// Nodes are the servers.
func (c *provisionedCluster) Nodes() []system.Node {
	var all []system.Node
	for _, n := range c.servers {
		all = append(all, system.Node{Name: n.name, Address: n.address, PID: n.process.PID(), Log: n.log})
	}
	return all
}

// Kill ends a node at once.
func (c *provisionedCluster) Kill(node string) error {
	n, err := c.named(node)
	if err != nil {
		return err
	}
	return n.process.Kill()
}

// Restart starts a node that has ended again.
func (c *provisionedCluster) Restart(node string) error {
	n, err := c.named(node)
	if err != nil {
		return err
	}
	return n.process.Restart()
}

func (c *provisionedCluster) named(node string) (*server, error) {
	for _, n := range c.servers {
		if n.name == node {
			return n, nil
		}
	}
	return nil, fmt.Errorf("there is no node %s", node)
}

// Stop ends every server, all at once, and waits for it; then what tells their
// names. Those that have not ended within a grace, or when ctx ends, are
// killed. It is idempotent.
func (c *provisionedCluster) Stop(ctx context.Context) error {
	failed := make([]error, len(c.servers))
	var wg sync.WaitGroup
	for i, n := range c.servers {
		wg.Go(func() { failed[i] = n.process.Stop(ctx, stopGrace) })
	}
	wg.Wait()
	return errors.Join(errors.Join(failed...), c.names.Stop(ctx, namesGrace))
}
