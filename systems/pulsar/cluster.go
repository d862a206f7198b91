package pulsar

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/internal/process"
	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	pulsarVersion = "4.0.6"
	clusterName   = "plimsoll"
	// startWithin bounds one attempt to start: seven Javas that share two cores
	// are there after half a minute, and a machine busy with other things takes
	// several times as long.
	startWithin = 3 * time.Minute
	// startAttempts is how often starting is tried when another process took
	// an address between our finding it free and the server's listening.
	startAttempts = 3
	// stopGrace is how long servers of one kind may take to hand over what they
	// own and close their files, before they are killed.
	stopGrace = 15 * time.Second

	zooKeeperClass  = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
	initClass       = "org.apache.pulsar.PulsarClusterMetadataSetup"
	bookieClass     = "org.apache.bookkeeper.server.Main"
	brokerClass     = "org.apache.pulsar.PulsarBrokerStarter"
	standaloneClass = "org.apache.pulsar.PulsarStandaloneStarter"
)

// Distribution is the servers, and the tools that come with them.
var Distribution = maven.Archive{
	Name:        "pulsar-" + pulsarVersion,
	Coordinates: "org.apache.pulsar:pulsar-server-distribution:" + pulsarVersion + ":tar.gz:bin",
}

// Fetch brings the servers to this machine, unless they are there already.
// Provision does so too; who calls Fetch first can say what takes so long, and is
// not held to the time that a start may take.
func (pulsarSystem) Fetch(ctx context.Context, progress func(sentence string)) error {
	_, _, err := fetch(ctx, progress)
	return err
}

// fetch returns the java to run and the folder of the distribution.
func fetch(ctx context.Context, progress func(sentence string)) (java, dir string, err error) {
	if java, err = maven.Java(); err != nil {
		// Said with what else is missing, so that nobody installs twice.
		return "", "", cmp.Or(maven.Available(), err)
	}
	dir, err = Distribution.Fetch(ctx, progress)
	return java, dir, err
}

// Provision starts ZooKeeper, bookies and brokers as processes of this machine,
// each node on a loopback address of its own, with its data below p.DataDir and
// a log of each server in p.LogDir. It returns when every broker can write a
// message and read it again.
func (pulsarSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	if bad := append(problems(p.Settings, p.Durability), checkNodes(p.Settings, p.Durability, p.Nodes)...); len(bad) > 0 {
		return nil, bad
	}
	var err error
	// The servers run in folders of their own, where a relative path means
	// another place.
	if p.DataDir, err = filepath.Abs(p.DataDir); err != nil {
		return nil, fmt.Errorf("finding the data directory: %w", err)
	}
	java, dist, err := fetch(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.LogDir, 0o755); err != nil {
		return nil, fmt.Errorf("making the log directory: %w", err)
	}
	for range startAttempts {
		s := starter{java: java, dist: dist, provision: p}
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
	zooKeeper, bookies, brokers []*server // in the order in which they start
	credentials                 system.Credentials
	authority                   *authority.Authority // nil: not encrypted
	caFile                      string
}

// all are the servers in the order in which they start.
func (c *provisionedCluster) all() []*server {
	return append(append(append([]*server{}, c.zooKeeper...), c.bookies...), c.brokers...)
}

// server is one of them.
type server struct {
	name    string
	host    string
	address string // where its clients reach it
	dir     string
	log     string
	process *process.Server // nil: not started
}

// starter makes and starts one cluster.
type starter struct {
	java, dist string
	provision  system.Provision
	config     serverConfig
}

// start is one attempt. On an error nothing is left but the logs.
func (s *starter) start(ctx context.Context) (*provisionedCluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	c := &provisionedCluster{}
	err := s.prepare(c)
	if err == nil {
		err = s.run(ctx, c)
	}
	if err == nil {
		return c, nil
	}
	for _, n := range c.all() {
		if n.process != nil {
			err = errors.Join(err, n.process.Kill())
		}
		err = errors.Join(err, process.RemoveFolder(n.dir))
	}
	return nil, err
}

// run starts the servers, each kind when what it needs is there.
func (s *starter) run(ctx context.Context, c *provisionedCluster) error {
	settings := s.provision.Settings
	if len(c.zooKeeper) == 0 {
		if err := s.launchStandalone(c.brokers[0]); err != nil {
			return err
		}
		return c.awaitHealthy(ctx)
	}
	err := s.launch(c.zooKeeper, zooKeeperClass, memory{heap: settings.Bytes(setZooKeeperHeap)})
	if err == nil {
		err = c.await(ctx, c.zooKeeper, isZooKeeperReady)
	}
	if err == nil {
		err = s.initialise(ctx, c)
	}
	if err == nil {
		err = s.launch(c.bookies, bookieClass, memory{settings.Bytes(setBookieHeap), settings.Bytes(setBookieDirect)}, "--conf")
	}
	if err == nil {
		err = c.await(ctx, c.bookies, isBookieReady)
	}
	if err == nil {
		err = s.launch(c.brokers, brokerClass, memory{settings.Bytes(setBrokerHeap), settings.Bytes(setBrokerDirect)}, "--broker-conf")
	}
	if err == nil {
		err = c.awaitHealthy(ctx)
	}
	return err
}

// NodeNames are the names of the servers, in the order in which they start.
func (pulsarSystem) NodeNames(p system.Provision) []string {
	if p.Settings.Text(setTopology) == standalone {
		return []string{standaloneName}
	}
	all := []string{zooKeeperName}
	for i := range bookiesOf(p.Settings, p.Nodes) {
		all = append(all, bookieName(i))
	}
	for i := range brokersOf(p.Settings, p.Nodes) {
		all = append(all, brokerName(i))
	}
	return all
}

const (
	standaloneName = "standalone"
	zooKeeperName  = "zookeeper"
)

func bookieName(i int) string { return "bookie-" + strconv.Itoa(i+1) }
func brokerName(i int) string { return "broker-" + strconv.Itoa(i+1) }

// prepare makes the servers' folders and everything in them but the data.
func (s *starter) prepare(c *provisionedCluster) error {
	settings := s.provision.Settings
	hosts, err := s.hosts()
	if err != nil {
		return err
	}
	s.config = serverConfig{
		settings: settings, level: s.provision.Durability, dist: s.dist, copies: readConfig(settings),
		zooKeeper: net.JoinHostPort(hosts[0], strconv.Itoa(zooKeeperPort)), encrypted: settings.Text(setSecurity) == tokenTLS,
	}
	if settings.Text(setSecurity) != plaintext {
		s.config.secret = newSecret()
		s.config.broker = signToken(s.config.secret, brokerRole)
		c.credentials = system.Credentials{User: benchRole, Password: signToken(s.config.secret, benchRole)}
	}
	if s.config.encrypted {
		if c.authority, err = authority.New(); err != nil {
			return err
		}
	}
	port := servicePort
	if s.config.encrypted {
		port = serviceTLSPort
	}
	if settings.Text(setTopology) == standalone {
		return s.furnish(c, &c.brokers, standaloneName, hosts[0], port, s.config.standaloneConf)
	}
	if err := s.furnish(c, &c.zooKeeper, zooKeeperName, hosts[0], zooKeeperPort, s.config.zooKeeperConf); err != nil {
		return err
	}
	bookies, brokers := bookiesOf(settings, s.provision.Nodes), brokersOf(settings, s.provision.Nodes)
	firstBookie := 0
	if settings.Text(setTopology) == tiered {
		firstBookie = brokers
	}
	for i := range bookies {
		if err := s.furnish(c, &c.bookies, bookieName(i), hosts[firstBookie+i], bookiePort, s.config.bookieConf); err != nil {
			return err
		}
	}
	for i := range brokers {
		if err := s.furnish(c, &c.brokers, brokerName(i), hosts[i], port, s.config.brokerConf); err != nil {
			return err
		}
	}
	return nil
}

// hosts finds a loopback address for each node. Pulsar's servers know one
// another by host, so they cannot share one.
func (s *starter) hosts() ([]string, error) {
	settings := s.provision.Settings
	bookies, brokers := bookiesOf(settings, s.provision.Nodes), brokersOf(settings, s.provision.Nodes)
	n := max(bookies, brokers)
	switch settings.Text(setTopology) {
	case tiered:
		n = bookies + brokers
	case standalone:
		n = 1
	}
	addresses, err := process.Addresses(n, servicePort, serviceTLSPort, webPort, webTLSPort, bookiePort, bookieHTTPPort, zooKeeperPort)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, a := range addresses {
		host, port, err := net.SplitHostPort(a[0])
		if err != nil {
			return nil, err
		}
		if port != strconv.Itoa(servicePort) {
			return nil, errors.New("this machine has one loopback address, and Pulsar's servers need one each: start them elsewhere and name them as endpoints")
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// furnish fills a server's folder.
func (s *starter) furnish(c *provisionedCluster, into *[]*server, name, host string, port int, conf func(host, dir string) (*properties, error)) error {
	n := &server{
		name: name, host: host, address: net.JoinHostPort(host, strconv.Itoa(port)),
		dir: filepath.Join(s.provision.DataDir, name), log: filepath.Join(s.provision.LogDir, name+".log"),
	}
	*into = append(*into, n)
	for _, folder := range []string{dataFolder, tempFolder} {
		if err := os.MkdirAll(filepath.Join(n.dir, folder), 0o700); err != nil {
			return fmt.Errorf("making the folder of %s: %w", name, err)
		}
	}
	p, err := conf(host, n.dir)
	if err != nil {
		return err
	}
	hosts, err := process.Hosts()
	if err != nil {
		return fmt.Errorf("making the folder of %s: %w", name, err)
	}
	files := map[string]string{confFile: p.String(), loggingFile: loggingConfig, hostsFile: string(hosts)}
	if c.authority != nil {
		key, cert, err := c.authority.Issue(name, host)
		if err != nil {
			return err
		}
		files[keyFile], files[certFile], files[caFile] = string(key), string(cert), string(c.authority.PEM())
		c.caFile = filepath.Join(n.dir, caFile)
	}
	for file, content := range files {
		if err := os.WriteFile(filepath.Join(n.dir, file), []byte(content), 0o600); err != nil {
			return fmt.Errorf("making the folder of %s: %w", name, err)
		}
	}
	return nil
}

// launch starts servers of one kind.
func (s *starter) launch(all []*server, class string, m memory, args ...string) error {
	for _, n := range all {
		p, err := s.startJava(n, "server "+n.name, s.config.javaOptions(n.dir, m), class, append(args, filepath.Join(n.dir, confFile))...)
		if err != nil {
			return err
		}
		n.process = p
	}
	return nil
}

// initialise writes what ZooKeeper must hold before a cluster's first start.
func (s *starter) initialise(ctx context.Context, c *provisionedCluster) error {
	n := c.zooKeeper[0]
	args := []string{
		"--cluster", clusterName, "--metadata-store", "zk:" + s.config.zooKeeper, "--configuration-metadata-store", "zk:" + s.config.zooKeeper,
		// It must be given, also where nobody listens without TLS.
		"--web-service-url", c.adminURL(), "--broker-service-url", c.serviceURL(),
	}
	if s.config.encrypted {
		args = append(args, "--web-service-url-tls", c.adminURL(), "--broker-service-url-tls", c.serviceURL())
	}
	// It runs for seconds: compiling well what runs so briefly is lost.
	options := append(s.config.javaOptions(n.dir, memory{heap: 128 << 20}), "-XX:TieredStopAtLevel=1")
	p, err := s.startJava(n, "initialising the cluster", options, initClass, args...)
	if err != nil {
		return err
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("initialising the cluster was ended: %w", ctx.Err()), p.Kill())
	}
	if err := p.Err(); err != nil {
		return fmt.Errorf("initialising the cluster: %w: %s", err, maven.LastComplaint(n.log))
	}
	return nil
}

// startJava starts one Java in a server's folder.
func (s *starter) startJava(n *server, name string, options []string, class string, args ...string) (*process.Server, error) {
	classpath := maven.Classpath(filepath.Join(s.dist, "lib"))
	return process.Start(process.Spec{
		Name: name, Path: s.java, Dir: n.dir, Log: n.log, Env: []string{"LC_ALL=C.UTF-8"},
		Group: s.provision.Groups[n.name],
		Args:  append(append(options, "-cp", classpath, class), args...),
	})
}

// adminURL and serviceURL name all brokers, as Pulsar writes it.
func (c *provisionedCluster) adminURL() string {
	scheme, port := "http", webPort
	if c.authority != nil {
		scheme, port = "https", webTLSPort
	}
	var all []string
	for _, n := range c.brokers {
		all = append(all, net.JoinHostPort(n.host, strconv.Itoa(port)))
	}
	return scheme + "://" + strings.Join(all, ",")
}

func (c *provisionedCluster) serviceURL() string {
	return serviceURL(c.Endpoints(), c.authority != nil)
}

// Endpoints are the brokers' addresses.
func (c *provisionedCluster) Endpoints() []string {
	var all []string
	for _, n := range c.brokers {
		all = append(all, n.address)
	}
	return all
}

// Credentials open the cluster; they are empty when it asks for none.
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

// Nodes are the servers, ZooKeeper first.
func (c *provisionedCluster) Nodes() []system.Node {
	var all []system.Node
	for _, n := range c.all() {
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
	for _, n := range c.all() {
		if n.name == node {
			return n, nil
		}
	}
	return nil, fmt.Errorf("there is no node %s", node)
}

// Stop ends the servers, those of one kind at once: brokers first, because they
// hand over through ZooKeeper and close their ledgers at the bookies. Those that
// have not ended within a grace, or when ctx ends, are killed. It is idempotent.
func (c *provisionedCluster) Stop(ctx context.Context) error {
	var failed []error
	for _, kind := range [][]*server{c.brokers, c.bookies, c.zooKeeper} {
		errs := make([]error, len(kind))
		var wg sync.WaitGroup
		for i, n := range kind {
			wg.Go(func() { errs[i] = n.process.Stop(ctx, stopGrace) })
		}
		wg.Wait()
		failed = append(failed, errs...)
	}
	return errors.Join(failed...)
}
