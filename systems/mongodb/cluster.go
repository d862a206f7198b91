package mongodb

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the servers' settings.
const (
	setServer   = "server"
	setSecurity = "security"
	setCache    = "cache"
	setHeap     = "heap"
)

// Values of the servers' settings.
const (
	serverAuto = "auto"
	serverJava = "java-server"
)

// serverSettings are the settings of the servers that plimsoll starts.
var serverSettings = driver.ServerSettings(system.MustSettings(driver.DeclarePrograms + `
server text auto auto|mongod|java-server
    mongod: a replica set of MongoDB's own servers; java-server: one mongo-java-server,
    which speaks the protocol, at level 4 only; auto: mongod when it is on the PATH, or programs
    names its folder
security text none none|tls
    whether connections use TLS; plimsoll's MongoDB servers have no users
cache bytes 1GB 256MB..
    mongod: the storage engine's cache of each server (MongoDB's default is half of the
    memory)
heap bytes 256MB 64MB..
    java-server: the heap of the Java virtual machine
`))

// chosen returns the server program of a target. It resolves auto.
func chosen(s system.Settings) string {
	name := s.Text(setServer)
	if name != serverAuto {
		return name
	}
	if _, err := programs.Find(s); err == nil || s.Given(driver.SetPrograms) {
		return kindMongod
	}
	return serverJava
}

// FindSoftware looks for mongod, or for Java, and for Maven if mongo-java-server is not downloaded
// yet.
func (mongoSystem) FindSoftware(s system.Settings) error {
	if chosen(s) == kindMongod {
		_, err := programs.Find(s)
		return err
	}
	return driver.FindJava(jars)
}

var programs = driver.Programs{
	Names: []string{kindMongod},
	Missing: system.Missing{Software: "mongod, MongoDB's server, from mongodb.com",
		Packages: []string{"mongodb-org-server"}},
}

// checkServers returns the violations of the settings of servers to start. nodes is their number,
// or 0 when they run already.
func checkServers(s system.Settings, l workload.Level, nodes int) strict.Violations {
	if nodes == 0 {
		return driver.AlreadyRunning(s, serverSettings)
	}
	bad := s.OutOfRange(serverSettings)
	want := s.Count(setReplication)
	if chosen(s) == kindMongod && l.Majority() && want != int64(nodes) {
		bad = append(bad, s.Wrong(setReplication, fmt.Sprintf("asks for %d members, and the "+
			"testbed has %d nodes: make them the same", want, nodes)))
	}
	return bad
}

// unavailable returns the reason why this machine cannot run the servers, or nil. The target is
// not at fault: it works on a machine with a mongod.
func unavailable(s system.Settings, l workload.Level) error {
	_, missing := programs.Find(s)
	switch {
	case chosen(s) == kindMongod:
		return missing
	case l == workload.AsyncAsync:
		return nil
	case s.Text(setServer) == serverJava:
		missing = errors.New("the target asks for server: java-server")
	}
	return fmt.Errorf("durability level %d is not available: %w; mongo-java-server, which "+
		"plimsoll can start, gives level 4 only, because it ignores write concerns",
		l, missing)
}

const (
	clientPort = 27017
	configFile = "mongod.conf"
	mainFile   = "Main.java"
	dataFolder = "data"
	setName    = "plimsoll"
	javaServer = "1.47.0" // the version of mongo-java-server
)

// mongods describes how mongod starts, fails and stops. Not tried against a real mongod.
var mongods = driver.Servers{
	StartWithin: 4 * time.Minute, StopGrace: 15 * time.Second,
	AskEvery: 100 * time.Millisecond, AskWithin: 3 * time.Second,
	LastComplaint: driver.LastLineWith(`"s":"F"`, `"s":"E"`),
}

// javaServers describes how mongo-java-server starts, fails and stops.
var javaServers = driver.Servers{
	StartWithin: 3 * time.Minute, StopGrace: 10 * time.Second,
	AskEvery: 50 * time.Millisecond, AskWithin: 2 * time.Second,
	LastComplaint: maven.LastComplaint,
}

// sums are the checksums of the files that Maven brings; TestPinned writes them with -update.
//
//go:embed jars.sha256
var sums string

// jars is mongo-java-server with the backend that keeps its data in a file.
var jars = maven.Artifacts{
	Name:        "mongo-java-server-" + javaServer,
	Coordinates: []string{"de.bwaldvogel:mongo-java-server-h2-backend:" + javaServer},
	Sums:        sums,
}

//go:embed Main.java
var mainSource string

// Fetch downloads mongo-java-server, unless mongod is to be started.
func (mongoSystem) Fetch(ctx context.Context, s system.Settings,
	progress func(sentence string)) error {
	if chosen(s) == kindMongod {
		return nil
	}
	_, err := driver.FetchJava(ctx, jars, progress)
	return err
}

// NodeNames returns the names of the servers. There is only one mongo-java-server, with any number
// of nodes.
func (mongoSystem) NodeNames(p system.Provision) []string {
	if chosen(p.Settings) == serverJava {
		return driver.Numbered("n", 1)
	}
	return driver.Numbered("n", p.Nodes)
}

// Provision starts a replica set, or one mongo-java-server.
func (mongoSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	if err := unavailable(p.Settings, p.Durability); err != nil {
		return nil, err
	}
	if chosen(p.Settings) == serverJava {
		java, err := driver.FetchJava(ctx, jars, nil)
		if err != nil {
			return nil, err
		}
		s := &javaStarter{java, p}
		c, err := javaServers.Provision(ctx, p, s.build)
		if err != nil && strings.Contains(err.Error(), "jdk.compiler") {
			err = fmt.Errorf("mongo-java-server is started from source, which needs a JDK: "+
				"install Java 17 with its compiler (default-jdk-headless): %w", err)
		}
		return c, err
	}
	folder, err := programs.Find(p.Settings)
	if err != nil {
		return nil, err
	}
	s := &starter{filepath.Join(folder, kindMongod), p}
	return mongods.Provision(ctx, p, s.build)
}

// addNodes adds the nodes of a provision, and encrypts the cluster if the settings ask for it.
func addNodes(c *driver.Cluster, p system.Provision) error {
	names := mongoSystem{}.NodeNames(p)
	addresses, err := c.Addresses(len(names), clientPort)
	if err != nil {
		return err
	}
	if p.Settings.Text(setSecurity) == driver.SecurityTLS {
		if err := c.Encrypt(); err != nil {
			return err
		}
	}
	for i, name := range names {
		c.Add(name, addresses[i][0])
	}
	return nil
}

// connection returns a connection to one node of a cluster that is being started.
func connection(c *driver.Cluster, s system.Settings, n *driver.Node) *cluster {
	of := &cluster{Settings: s, options: system.Options{TLS: c.TLS()}}
	return of.only(n.Address)
}

// await waits until every node reports that it is ready.
func await(ctx context.Context, c *driver.Cluster, s system.Settings,
	ready func(server) error,
) error {
	return c.AwaitEach(ctx, c.Members(), func(ctx context.Context, n *driver.Node) error {
		return connection(c, s, n).administer(func(client *mongo.Client) error {
			found, err := identify(ctx, client)
			if err != nil {
				return err
			}
			return ready(found)
		})
	})
}

// javaStarter starts mongo-java-server.
type javaStarter struct {
	driver.Java
	system.Provision
}

func (s *javaStarter) build(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
	if err := addNodes(c, s.Provision); err != nil {
		return c, err
	}
	files := map[string]string{mainFile: mainSource}
	for _, n := range c.Members() {
		if err := s.Furnish(c, n, files, dataFolder); err != nil {
			return c, err
		}
	}
	err := c.Launch(c.Members(), func(n *driver.Node) process.Spec {
		arguments := []string{n.Host, n.Port, n.Path(dataFolder, "h2.mv")}
		if c.TLS() != nil {
			arguments = append(arguments, n.Path(driver.KeyFile), n.Path(driver.CertificateFile))
		}
		options := s.Options(n, s.Settings.Bytes(setHeap))
		return s.Command(options, n.Path(mainFile), arguments...)
	})
	if err != nil {
		return c, err
	}
	return c, await(ctx, c, s.Settings, func(server) error { return nil })
}

// starter starts a replica set. Not tried against a real mongod.
type starter struct {
	path string
	system.Provision
}

func (s *starter) build(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
	if err := addNodes(c, s.Provision); err != nil {
		return c, err
	}
	for _, n := range c.Members() {
		files := map[string]string{configFile: s.config(c, n)}
		if err := c.Furnish(n, files, dataFolder); err != nil {
			return c, err
		}
	}
	err := c.Launch(c.Members(), func(n *driver.Node) process.Spec {
		return process.Spec{Path: s.path, Args: []string{"--config", n.Path(configFile)}}
	})
	if err == nil {
		err = await(ctx, c, s.Settings, func(server) error { return nil })
	}
	if err == nil {
		err = s.initiate(ctx, c)
	}
	if err != nil {
		return c, err
	}
	return c, await(ctx, c, s.Settings, func(found server) error {
		if found.primary == "" {
			return errors.New("it knows no primary yet")
		}
		return nil
	})
}

// config returns the configuration file of a server.
func (s *starter) config(c *driver.Cluster, n *driver.Node) string {
	const gigabyte = 1 << 30
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	cache := float64(s.Settings.Bytes(setCache)) / gigabyte
	line("storage:\n  dbPath: %s\n  wiredTiger:\n    engineConfig:\n      cacheSizeGB: %s",
		strconv.Quote(n.Path(dataFolder)), strconv.FormatFloat(cache, 'f', 3, 64))
	line("replication:\n  replSetName: %s", setName)
	line("net:\n  bindIp: %s\n  port: %s\n  unixDomainSocket:\n    enabled: false", n.Host,
		n.Port)
	if c.TLS() != nil {
		line("  tls:\n    mode: requireTLS\n    certificateKeyFile: %s\n    CAFile: %s\n"+
			"    allowConnectionsWithoutCertificates: true",
			strconv.Quote(n.Path(driver.KeyStoreFile)), strconv.Quote(n.Path(driver.CAFile)))
	}
	return b.String()
}

// initiate makes the servers a replica set, once.
func (s *starter) initiate(ctx context.Context, c *driver.Cluster) error {
	const codeInitialised = 23
	var members bson.A
	for i, n := range c.Members() {
		members = append(members,
			bson.D{{Key: "_id", Value: i}, {Key: "host", Value: n.Address}})
	}
	command := bson.D{{Key: "replSetInitiate", Value: bson.D{
		{Key: "_id", Value: setName}, {Key: "members", Value: members},
		{Key: "writeConcernMajorityJournalDefault", Value: s.Durability != workload.SyncAsync},
	}}}
	first := connection(c, s.Settings, c.Members()[0])
	return first.administer(func(client *mongo.Client) error {
		err := client.Database("admin").RunCommand(ctx, command).Err()
		var answer mongo.CommandError
		if errors.As(err, &answer) && answer.Code == codeInitialised {
			return nil
		}
		if err != nil {
			return fmt.Errorf("make the servers a replica set: %w", err)
		}
		return nil
	})
}
