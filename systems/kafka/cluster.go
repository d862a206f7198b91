package kafka

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
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
	kafkaVersion = "4.3.1"
	clientPort   = 9092
	quorumPort   = 9093
	// startWithin bounds one attempt to start; servers that share two cores
	// are there after some seconds, but a machine busy with other things takes ten
	// times as long.
	startWithin = 90 * time.Second
	// startAttempts is how often starting is tried when another process took
	// an address between our finding it free and the server's listening.
	startAttempts = 3
	// stopGrace is how long servers may take to hand over what they lead and
	// close their files, before they are killed.
	stopGrace = 15 * time.Second

	serverClass  = "kafka.Kafka"
	storageClass = "kafka.tools.StorageTool"
)

// jars are the servers. Without a binding of slf4j there would be no log.
var jars = maven.Artifacts{
	Name: "kafka-" + kafkaVersion,
	Coordinates: []string{
		"org.apache.kafka:kafka_2.13:" + kafkaVersion,
		"org.slf4j:slf4j-simple:1.7.36",
	},
}

// Fetch brings the servers' jars to this machine, unless they are there
// already. Provision does so too; who calls Fetch first can say what takes so
// long, and is not held to the time that a start may take.
func (kafkaSystem) Fetch(ctx context.Context, progress func(sentence string)) error {
	_, _, err := fetch(ctx, progress)
	return err
}

// fetch returns the java to run and the folder of jars.
func fetch(ctx context.Context, progress func(sentence string)) (java, dir string, err error) {
	if java, err = maven.Java(); err != nil {
		// Said with what else is missing, so that nobody installs twice.
		return "", "", cmp.Or(maven.Available(), err)
	}
	dir, err = jars.Fetch(ctx, progress)
	return java, dir, err
}

// Provision starts a KRaft cluster of p.Nodes servers as processes of this
// machine, each broker and controller at once, on a loopback address of its
// own where there are such, with its data below p.DataDir and its log in
// p.LogDir. It returns when every server says that all are there and one leads.
func (kafkaSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	if bad := append(problems(p.Settings, p.Durability), checkNodes(p.Settings, p.Nodes)...); len(bad) > 0 {
		return nil, bad
	}
	var err error
	// The servers run in folders of their own, where a relative path means
	// another place.
	if p.DataDir, err = filepath.Abs(p.DataDir); err != nil {
		return nil, fmt.Errorf("finding the data directory: %w", err)
	}
	java, dir, err := fetch(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.LogDir, 0o755); err != nil {
		return nil, fmt.Errorf("making the log directory: %w", err)
	}
	s := starter{
		java: java, classpath: maven.Classpath(dir), provision: p,
		config: readServerConfig(p.Settings, p.Durability, p.Nodes),
	}
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
	credentials system.Credentials
	authority   *authority.Authority // nil: not encrypted
	caFile      string
}

// server is one of them.
type server struct {
	name    string
	dir     string
	address string
	log     string
	process *process.Server // nil: not started
}

// starter makes and starts one cluster.
type starter struct {
	java, classpath string
	provision       system.Provision
	config          serverConfig
}

// start is one attempt. On an error nothing is left but the logs.
func (s starter) start(ctx context.Context) (*provisionedCluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	c, err := s.prepare()
	if err == nil {
		err = s.format(ctx, c)
	}
	if err == nil {
		err = s.launch(c)
	}
	if err == nil {
		err = c.awaitReady(ctx)
	}
	if err == nil {
		err = c.enrol(ctx, s.provision.Settings.Text(setSASL))
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
	return nil, err
}

// NodeNames are the names of the servers.
func (kafkaSystem) NodeNames(p system.Provision) []string {
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
	c := &provisionedCluster{}
	addresses, err := process.Addresses(s.provision.Nodes, clientPort, quorumPort)
	if err != nil {
		return c, err
	}
	var u users
	if s.config.security != plaintext {
		u = users{bench: secret(), broker: secret()}
		c.credentials = system.Credentials{User: benchUser, Password: u.bench}
	}
	if s.config.security == saslSSL {
		if c.authority, err = authority.New(); err != nil {
			return c, err
		}
	}
	var voters []string
	for i, a := range addresses {
		voters = append(voters, strconv.Itoa(i+1)+"@"+a[1])
	}
	for i, a := range addresses {
		name := nodeName(i)
		n := &server{
			name: name, dir: filepath.Join(s.provision.DataDir, name), address: a[0],
			log: filepath.Join(s.provision.LogDir, name+".log"),
		}
		c.servers = append(c.servers, n)
		who := identity{id: i + 1, client: a[0], quorum: a[1], voters: strings.Join(voters, ","), users: u}
		if err := s.furnish(c, n, who); err != nil {
			return c, fmt.Errorf("making the folder of %s: %w", name, err)
		}
	}
	return c, nil
}

// furnish fills a server's folder.
func (s starter) furnish(c *provisionedCluster, n *server, who identity) error {
	for _, folder := range []string{dataFolder, tempFolder} {
		if err := os.MkdirAll(filepath.Join(n.dir, folder), 0o700); err != nil {
			return err
		}
	}
	hosts, err := process.Hosts()
	if err != nil {
		return err
	}
	files := map[string][]byte{propertiesFile: []byte(s.config.properties(who)), hostsFile: hosts}
	if c.authority != nil {
		host, _, err := net.SplitHostPort(n.address)
		if err != nil {
			return err
		}
		key, certificate, err := c.authority.Issue(n.name, host)
		if err != nil {
			return err
		}
		files[keyStoreFile], files[caFile] = append(key, certificate...), c.authority.PEM()
		c.caFile = filepath.Join(n.dir, caFile)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(n.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// format gives every data folder its identity, as Kafka asks for before a
// first start. It takes a Java each, so they run side by side.
func (s starter) format(ctx context.Context, c *provisionedCluster) error {
	cluster := clusterID()
	failed := make([]error, len(c.servers))
	var wg sync.WaitGroup
	for i, n := range c.servers {
		wg.Go(func() { failed[i] = s.formatOne(ctx, n, cluster) })
	}
	wg.Wait()
	return cmp.Or(failed...) // what stops one stops all, and is said once
}

func (s starter) formatOne(ctx context.Context, n *server, cluster string) error {
	// It runs for a second: compiling well what runs so briefly is lost.
	p, err := s.run(n, "formatting "+n.name, []string{"-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"},
		storageClass, "format", "-t", cluster, "-c", filepath.Join(n.dir, propertiesFile))
	if err != nil {
		return err
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("formatting the data folder of %s was ended: %w", n.name, ctx.Err()), p.Kill())
	}
	if err := p.Err(); err != nil {
		return fmt.Errorf("formatting the data folder of %s: %w: %s", n.name, err, maven.LastComplaint(n.log))
	}
	return nil
}

// launch starts the servers.
func (s starter) launch(c *provisionedCluster) error {
	for _, n := range c.servers {
		p, err := s.run(n, "server "+n.name, s.config.javaOptions(n.dir), serverClass, filepath.Join(n.dir, propertiesFile))
		if err != nil {
			return err
		}
		n.process = p
	}
	return nil
}

// run starts a Java in a server's folder.
func (s starter) run(n *server, name string, options []string, class string, args ...string) (*process.Server, error) {
	return process.Start(process.Spec{
		Name: name, Path: s.java, Dir: n.dir, Log: n.log, Env: []string{"LC_ALL=C.UTF-8"}, Group: s.provision.Groups[n.name],
		Args: slices.Concat(options, []string{"-cp", s.classpath, class}, args),
	})
}

// secret is 128 random bits, in letters that need no quoting.
func secret() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails: it ends the program instead
	return "s" + hex.EncodeToString(b[:])
}

// clusterID is a random identity in the form that Kafka gives it.
func clusterID() string {
	var b [16]byte
	rand.Read(b[:])
	b[0] &= 0x7f // no leading dash, which would pass for an option
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Endpoints are the servers' client addresses.
func (c *provisionedCluster) Endpoints() []string {
	var all []string
	for _, n := range c.servers {
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

// Stop ends every server, all at once, and waits for it. Those that have not
// ended within a grace, or when ctx ends, are killed. It is idempotent.
func (c *provisionedCluster) Stop(ctx context.Context) error {
	failed := make([]error, len(c.servers))
	var wg sync.WaitGroup
	for i, n := range c.servers {
		wg.Go(func() { failed[i] = n.process.Stop(ctx, stopGrace) })
	}
	wg.Wait()
	return errors.Join(failed...)
}
