package pulsar

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/driver/zookeeper"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	pulsarVersion = "4.0.6"
	clusterName   = "plimsoll"
	// askLimit bounds one check of a server. A broker's health check sends a message and reads it
	// back.
	askLimit = 10 * time.Second

	zooKeeperName  = "zookeeper"
	standaloneName = "standalone"
	bookieNames    = "bookie-" // followed by a number
	brokerNames    = "broker-"

	zooKeeperClass  = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
	initClass       = "org.apache.pulsar.PulsarClusterMetadataSetup"
	bookieClass     = "org.apache.bookkeeper.server.Main"
	brokerClass     = "org.apache.pulsar.PulsarBrokerStarter"
	standaloneClass = "org.apache.pulsar.PulsarStandaloneStarter"
)

// servers describes how Pulsar's servers start, fail and stop. Seven servers on two cores start in
// half a minute, and take several times as long on a busy machine. Servers that stop hand over
// their topics or ledgers and close their files.
var servers = driver.Servers{
	StartWithin: 8 * time.Minute, StopGrace: 15 * time.Second,
	AskEvery: 100 * time.Millisecond, AskWithin: askLimit,
	LastComplaint: maven.LastComplaint,
}

// sums are the checksums of the files that Maven brings; TestPinned writes them with -update.
//
//go:embed jars.sha256
var sums string

// Distribution is the server software with its tools.
var Distribution = maven.Archive{
	Name:        "pulsar-" + pulsarVersion,
	Coordinates: "org.apache.pulsar:pulsar-server-distribution:" + pulsarVersion + ":tar.gz:bin",
	Sums:        sums,
}

// Fetch downloads the servers, unless they are on this machine. Provision does so too; with Fetch
// the caller can show progress, and the bound of a start does not apply.
func (pulsarSystem) Fetch(ctx context.Context, _ system.Settings,
	progress func(sentence string)) error {
	_, err := driver.FetchJava(ctx, Distribution, progress)
	return err
}

// FindSoftware looks for Java, and for Maven if the servers are not downloaded yet.
func (pulsarSystem) FindSoftware(system.Settings) error { return driver.FindJava(Distribution) }

// NodeNames returns the names of the servers, in the order in which they start.
func (pulsarSystem) NodeNames(p system.Provision) []string {
	if p.Settings.Text(setTopology) == standalone {
		return []string{standaloneName}
	}
	return slices.Concat([]string{zooKeeperName},
		driver.Numbered(bookieNames, bookiesOf(p.Settings, p.All())),
		driver.Numbered(brokerNames, brokersOf(p.Settings, p.All())))
}

// Provision starts ZooKeeper, bookies and brokers as processes of this machine,
// each node on a loopback address of its own. It returns when every broker can write a message and
// read it back.
func (pulsarSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	java, err := driver.JavaOf(ctx, p, Distribution)
	if err != nil {
		return nil, err
	}
	java.Classpath = maven.Classpath(filepath.Join(java.Dir, "lib"))
	build := func(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
		s, err := newStarter(c, java, p)
		if err == nil {
			err = s.start(ctx)
		}
		return c, err
	}
	return servers.Provision(ctx, p, build)
}

// starter starts a cluster.
type starter struct {
	cluster          *driver.Cluster
	java             driver.Java
	config           serverConfig
	bookies, brokers []string // their hosts
}

// newStarter finds a host for each node, and creates the servers' credentials. Pulsar's servers
// identify each other by host, so they cannot share one.
func newStarter(c *driver.Cluster, java driver.Java, p system.Provision) (*starter, error) {
	bookies, brokers := bookiesOf(p.Settings, p.All()), brokersOf(p.Settings, p.All())
	n, firstBookie := max(bookies, brokers), 0
	switch p.Settings.Text(setTopology) {
	case tiered:
		n, firstBookie = bookies+brokers, brokers
	case standalone:
		n, bookies, brokers = 1, 1, 1
	}
	hosts, err := c.Hosts(n, servicePort, serviceTLSPort, webPort, webTLSPort,
		bookiePort, bookieHTTPPort, zooKeeperPort)
	if err != nil {
		return nil, err
	}
	copies := readCopies(p.Settings)
	copies.fit(p.Settings, p.Durability, bookies-p.Extra)
	s := &starter{
		cluster: c, java: java,
		bookies: hosts[firstBookie : firstBookie+bookies], brokers: hosts[:brokers],
		config: serverConfig{
			Settings: p.Settings, level: p.Durability,
			dist: java.Dir, copies: copies,
			zooKeeper: driver.At(hosts[0], zooKeeperPort),
			encrypted: p.Settings.Text(setSecurity) == tokenTLS,
			recovers:  p.Extra > 0,
		},
	}
	if p.Settings.Text(setSecurity) != plaintext {
		s.config.secret = newSecret(c)
		s.config.broker = signToken(s.config.secret, brokerRole)
		own := signToken(s.config.secret, benchRole)
		c.SetCredentials(system.Credentials{User: benchRole, Password: own})
	}
	if s.config.encrypted {
		err = c.Encrypt()
	}
	return s, err
}

// start starts the servers, each kind after the kinds that it needs.
func (s *starter) start(ctx context.Context) error {
	if s.config.Text(setTopology) == standalone {
		return s.launch(ctx, []string{standaloneName}, s.brokers, s.standalone())
	}
	c := s.config
	zooKeeper := kind{
		class: zooKeeperClass, port: zooKeeperPort, memory: memory{heap: c.Bytes(setZooKeeperHeap)},
		conf: c.zooKeeperConf, ready: zookeeper.IsReady,
	}
	bookie := kind{
		class: bookieClass, port: bookiePort,
		memory: memory{c.Bytes(setBookieHeap), c.Bytes(setBookieDirect)},
		conf:   c.bookieConf, args: []string{"--conf"}, ready: isBookieReady,
	}
	broker := kind{
		class: brokerClass, port: c.brokerPort(),
		memory: memory{c.Bytes(setBrokerHeap), c.Bytes(setBrokerDirect)},
		conf:   c.brokerConf, args: []string{"--broker-conf"}, ready: s.isBrokerHealthy,
	}
	err := s.launch(ctx, []string{zooKeeperName}, s.brokers, zooKeeper)
	if err == nil {
		err = s.initialise(ctx)
	}
	if err == nil {
		err = s.launch(ctx, driver.Numbered(bookieNames, len(s.bookies)), s.bookies, bookie)
	}
	if err == nil {
		err = s.launch(ctx, driver.Numbered(brokerNames, len(s.brokers)), s.brokers, broker)
	}
	return err
}

// kind describes servers that differ only in their address.
type kind struct {
	class  string
	port   int // that others connect to
	memory memory
	conf   func(*driver.Node) (*driver.Properties, error)
	args   []string                    // arguments before the configuration's path
	more   func(*driver.Node) []string // arguments after it; nil: none
	ready  func(context.Context, *driver.Node) error
}

// launch starts servers of one kind, each at a host, and waits until they are
// ready.
func (s *starter) launch(ctx context.Context, names, hosts []string, k kind) error {
	var nodes []*driver.Node
	for i, name := range names {
		n := s.cluster.Add(name, driver.At(hosts[i], k.port))
		nodes = append(nodes, n)
		conf, err := k.conf(n)
		if err != nil {
			return err
		}
		files := map[string]string{confFile: conf.String(), loggingFile: loggingConfig}
		if err := s.java.Furnish(s.cluster, n, files, dataFolder); err != nil {
			return err
		}
	}
	err := s.cluster.Launch(nodes, func(n *driver.Node) process.Spec {
		args := append(slices.Clone(k.args), n.Path(confFile))
		if k.more != nil {
			args = append(args, k.more(n)...)
		}
		return s.java.Command(s.config.javaOptions(s.java, n, k.memory), k.class, args...)
	})
	if err != nil {
		return err
	}
	return s.cluster.AwaitEach(ctx, nodes, k.ready)
}

// initialise writes the data that ZooKeeper needs before a cluster's first start.
func (s *starter) initialise(ctx context.Context) error {
	scheme := "http://"
	if s.config.encrypted {
		scheme = "https://"
	}
	var service, web []string
	for _, host := range s.brokers {
		service = append(service, driver.At(host, s.config.brokerPort()))
		web = append(web, driver.At(host, s.config.webPort()))
	}
	services, webs := serviceURL(service, s.config.encrypted), scheme+strings.Join(web, ",")
	// The first two are required even if no server listens without TLS.
	args := []string{"--web-service-url", webs, "--broker-service-url", services}
	if s.config.encrypted {
		args = append(args, "--web-service-url-tls", webs, "--broker-service-url-tls", services)
	}
	store := "zk:" + s.config.zooKeeper
	args = append(args, "--cluster", clusterName,
		"--metadata-store", store, "--configuration-metadata-store", store)
	n := s.cluster.Members()[0]
	// Without the optimising compiler: the process runs for only seconds.
	options := s.config.javaOptions(s.java, n, memory{heap: 128 << 20})
	command := s.java.Command(append(options, "-XX:TieredStopAtLevel=1"), initClass, args...)
	return s.cluster.Run(ctx, n, "initialise the cluster", command)
}

func isBookieReady(ctx context.Context, n *driver.Node) error {
	return driver.GetPlain(ctx, driver.At(n.Host, bookieHTTPPort), "/heartbeat", nil)
}

// isBrokerHealthy makes a broker send a message to itself and read it.
func (s *starter) isBrokerHealthy(ctx context.Context, n *driver.Node) error {
	at := []string{driver.At(n.Host, s.config.webPort())}
	a := newAdmin(at, s.cluster.TLS(), s.cluster.Credentials().Password)
	defer a.close()
	return a.get(ctx, "/admin/v2/brokers/health", nil)
}

// Roles that a provisioned cluster knows. Both may do everything: the bench's role creates
// namespaces, and brokers use theirs towards each other.
const (
	benchRole  = "plimsoll"
	brokerRole = "broker"
)

// newSecret returns a key to sign a cluster's tokens.
func newSecret(c *driver.Cluster) []byte {
	key := make([]byte, 32)
	c.Random(key)
	return key
}

// signToken returns a JSON Web Token for a role, signed with HMAC-SHA256. It never expires, but
// its key is deleted with the cluster.
func signToken(secret []byte, role string) string {
	encode := base64.RawURLEncoding.EncodeToString
	claims, _ := json.Marshal(map[string]string{"sub": role}) // strings can always be marshalled
	signed := encode([]byte(`{"alg":"HS256"}`)) + "." + encode(claims)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}
