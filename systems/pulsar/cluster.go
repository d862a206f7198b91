package pulsar

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/internal/process"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/driver/zookeeper"
)

const (
	pulsarVersion = "4.0.6"
	clusterName   = "plimsoll"
	// askLimit bounds one look at a server; a broker's health check sends a
	// message and reads it again.
	askLimit = 10 * time.Second

	zooKeeperName  = "zookeeper"
	standaloneName = "standalone"
	bookieNames    = "bookie-" // and a number
	brokerNames    = "broker-"

	zooKeeperClass  = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
	initClass       = "org.apache.pulsar.PulsarClusterMetadataSetup"
	bookieClass     = "org.apache.bookkeeper.server.Main"
	brokerClass     = "org.apache.pulsar.PulsarBrokerStarter"
	standaloneClass = "org.apache.pulsar.PulsarStandaloneStarter"
)

// servers is how Pulsar's servers start, fail and stop. Seven Javas that share
// two cores are there after half a minute, and a machine busy with other things
// takes several times as long. To stop, the servers of a stage hand over what
// they own and close their files.
var servers = driver.Servers{
	StartWithin: 3 * time.Minute, StopGrace: 15 * time.Second,
	AskEvery: 100 * time.Millisecond, AskWithin: askLimit,
	LastComplaint: maven.LastComplaint,
}

// Distribution is the servers, and the tools that come with them.
var Distribution = maven.Archive{
	Name:        "pulsar-" + pulsarVersion,
	Coordinates: "org.apache.pulsar:pulsar-server-distribution:" + pulsarVersion + ":tar.gz:bin",
}

// Fetch brings the servers to this machine, unless they are there already.
// Provision does so too; a caller of Fetch can say what takes so long, and is not
// held to the time that a start may take.
func (pulsarSystem) Fetch(ctx context.Context, progress func(sentence string)) error {
	_, err := driver.FetchJava(ctx, Distribution, progress)
	return err
}

// FindSoftware looks for Java, and for Maven while the servers are not on this machine.
func (pulsarSystem) FindSoftware(system.Settings) error { return driver.FindJava(Distribution) }

// NodeNames are the names of the servers, in the order in which they start.
func (pulsarSystem) NodeNames(p system.Provision) []string {
	if p.Settings.Text(setTopology) == standalone {
		return []string{standaloneName}
	}
	return slices.Concat([]string{zooKeeperName},
		driver.Numbered(bookieNames, bookiesOf(p.Settings, p.Nodes)),
		driver.Numbered(brokerNames, brokersOf(p.Settings, p.Nodes)))
}

// Provision starts ZooKeeper, bookies and brokers as processes of this machine,
// each node on a loopback address of its own. It returns when every broker can
// write a message and read it again.
func (pulsarSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	java, err := driver.FetchJava(ctx, Distribution, nil)
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

// newStarter finds a host for each node, and makes what the servers show each
// other. Pulsar's servers know one another by host, so they cannot share one.
func newStarter(c *driver.Cluster, java driver.Java, p system.Provision) (*starter, error) {
	bookies, brokers := bookiesOf(p.Settings, p.Nodes), brokersOf(p.Settings, p.Nodes)
	n, firstBookie := max(bookies, brokers), 0
	switch p.Settings.Text(setTopology) {
	case tiered:
		n, firstBookie = bookies+brokers, brokers
	case standalone:
		n, bookies, brokers = 1, 1, 1
	}
	hosts, err := driver.Hosts(n, servicePort, serviceTLSPort, webPort, webTLSPort,
		bookiePort, bookieHTTPPort, zooKeeperPort)
	if err != nil {
		return nil, err
	}
	s := &starter{
		cluster: c, java: java,
		bookies: hosts[firstBookie : firstBookie+bookies], brokers: hosts[:brokers],
		config: serverConfig{
			Settings: p.Settings, level: p.Durability,
			dist: java.Dir, copies: readConfig(p.Settings),
			zooKeeper: driver.At(hosts[0], zooKeeperPort),
			encrypted: p.Settings.Text(setSecurity) == tokenTLS,
		},
	}
	if p.Settings.Text(setSecurity) != plaintext {
		s.config.secret = newSecret()
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

// kind is servers that differ in nothing but their place.
type kind struct {
	class  string
	port   int // that others connect to
	memory memory
	conf   func(*driver.Node) (*driver.Properties, error)
	args   []string                    // before the path of the configuration
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
	// The first two must be given, also where nobody listens without TLS.
	args := []string{"--web-service-url", webs, "--broker-service-url", services}
	if s.config.encrypted {
		args = append(args, "--web-service-url-tls", webs, "--broker-service-url-tls", services)
	}
	store := "zk:" + s.config.zooKeeper
	args = append(args, "--cluster", clusterName,
		"--metadata-store", store, "--configuration-metadata-store", store)
	n := s.cluster.Members()[0]
	// It runs for seconds, too briefly for an optimising compiler.
	options := s.config.javaOptions(s.java, n, memory{heap: 128 << 20})
	command := s.java.Command(append(options, "-XX:TieredStopAtLevel=1"), initClass, args...)
	return s.cluster.Run(ctx, n, "initialising the cluster", command)
}

func isBookieReady(ctx context.Context, n *driver.Node) error {
	heartbeat := "http://" + driver.At(n.Host, bookieHTTPPort) + "/heartbeat"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, heartbeat, nil)
	if err != nil {
		return err
	}
	response, err := bookieHTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// isBrokerHealthy has a broker send a message to itself and read it.
func (s *starter) isBrokerHealthy(ctx context.Context, n *driver.Node) error {
	at := []string{driver.At(n.Host, s.config.webPort())}
	a := newAdmin(at, s.cluster.TLS(), s.cluster.Credentials().Password)
	defer a.close()
	return a.get(ctx, "/admin/v2/brokers/health", nil)
}

// Roles that a provisioned cluster knows. Both may do everything: the bench's
// makes namespaces, and the brokers' is what they show one another.
const (
	benchRole  = "plimsoll"
	brokerRole = "broker"
)

// newSecret is the key that a cluster's tokens are signed with.
func newSecret() []byte {
	key := make([]byte, 32)
	rand.Read(key) // it never fails: it ends the program instead
	return key
}

// signToken is a JSON Web Token for a role, signed with HMAC-SHA256, which
// never expires: its key is gone with the cluster.
func signToken(secret []byte, role string) string {
	encode := base64.RawURLEncoding.EncodeToString
	claims, _ := json.Marshal(map[string]string{"sub": role}) // strings always can be
	signed := encode([]byte(`{"alg":"HS256"}`)) + "." + encode(claims)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}
