package activemq

import (
	"context"
	_ "embed"
	"path/filepath"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/driver/zookeeper"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	amqpPort     = 5672
	amqpTLSPort  = 5671
	jolokiaPort  = 8161
	jolokiaPath  = "/api/jolokia/"
	brokerName   = "plimsoll"
	benchUser    = "plimsoll"
	keyStoreFile = "node.p12"
	storeBean    = "plimsoll:type=KahaDB" // as the exporter names the store
	mainClass    = "org.apache.activemq.console.Main"
)

// servers describes how the brokers start, fail and stop. A broker starts in three seconds, and
// takes several times as long on a busy machine.
var servers = driver.Servers{
	StartWithin: 4 * time.Minute, StopGrace: 15 * time.Second,
	AskEvery: 50 * time.Millisecond, AskWithin: 3 * time.Second,
	LastComplaint: maven.LastComplaint,
	// A race in the broker: ZooKeeper's events may arrive before their listener is set.
	Races: []string{`listener" is null`, "NodeEventsListener"},
}

// sums are the checksums of the files that Maven brings; TestPinned writes them with -update.
//
//go:embed jars.sha256
var sums string

// distributions are the broker releases, by store. Replicated LevelDB was removed in 5.17. 5.14.5
// is the last downloadable release of 5.14, the version of the published measurements.
var distributions = map[string]maven.Archive{
	storeLevelDB: distribution("5.14.5"),
	storeKahaDB:  distribution("5.18.3"),
}

func distribution(version string) maven.Archive {
	return maven.Archive{
		Name:        "activemq-" + version,
		Coordinates: "org.apache.activemq:apache-activemq:" + version + ":tar.gz:bin",
		Sums:        sums,
	}
}

// agent is Jolokia's agent, which serves a broker's JMX over HTTP.
var agent = maven.Artifacts{
	Name:        "jolokia-1.7.2",
	Coordinates: []string{"org.jolokia:jolokia-jvm:1.7.2"},
	Sums:        sums,
}

// Fetch downloads the brokers, unless they are on this machine.
func (activeSystem) Fetch(ctx context.Context, s system.Settings,
	progress func(sentence string)) error {
	_, err := fetch(ctx, s.Text(setStore), progress)
	return err
}

// FindSoftware looks for Java, and for Maven if the brokers are not downloaded yet.
func (activeSystem) FindSoftware(s system.Settings) error {
	return driver.FindJava(distributions[s.Text(setStore)])
}

// software holds the paths of the programs.
type software struct {
	broker, zooKeeper driver.Java
	agent             string // its jar
}

func fetch(ctx context.Context, store string, progress func(sentence string)) (
	s software, err error,
) {
	if s.broker, err = driver.FetchJava(ctx, distributions[store], progress); err != nil {
		return s, err
	}
	s.broker.Classpath = filepath.Join(s.broker.Dir, "bin", "activemq.jar")
	dir, err := agent.Fetch(ctx, progress)
	if err != nil {
		return s, err
	}
	s.agent = filepath.Join(dir, "jolokia-jvm-1.7.2.jar")
	if store == storeLevelDB {
		s.zooKeeper, err = zookeeper.Fetch(ctx, progress)
	}
	return s, err
}

// NodeNames returns the names of the servers: the brokers, and ZooKeeper if the store needs it.
func (activeSystem) NodeNames(p system.Provision) []string {
	if p.Settings.Text(setStore) == storeKahaDB {
		return []string{"n1"}
	}
	return append(driver.Numbered("n", p.Nodes), zookeeper.Name)
}

// Provision starts brokers as processes of this machine, each on a loopback address of its
// own. It returns when the master takes messages and has all of its slaves.
func (activeSystem) Provision(ctx context.Context, p system.Provision) (
	system.Provisioned, error,
) {
	programs, err := fetch(ctx, p.Settings.Text(setStore), nil)
	if err != nil {
		return nil, err
	}
	return servers.Provision(ctx, p, starter{programs, p}.build)
}

// starter starts one cluster.
type starter struct {
	software
	system.Provision
}

func (s starter) build(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
	port, names := amqpPort, slices.DeleteFunc(activeSystem{}.NodeNames(s.Provision),
		func(name string) bool { return name == zookeeper.Name })
	if s.Settings.Text(setSecurity) == driver.SecurityTLS {
		port = amqpTLSPort
	}
	hosts, err := c.Hosts(len(names)+1, port, jolokiaPort, zookeeper.Port)
	if err != nil {
		return nil, err
	}
	config, err := s.configure(c, len(names))
	if err != nil {
		return nil, err
	}
	var brokers []*driver.Node
	for i, name := range names {
		brokers = append(brokers, c.Add(name, driver.At(hosts[i], port)))
	}
	if s.Settings.Text(setStore) == storeLevelDB {
		n := c.Add(zookeeper.Name, driver.At(hosts[len(names)], zookeeper.Port))
		config.zooKeeper = n.Address
		err := zookeeper.Launch(ctx, c, s.zooKeeper, n, s.Settings.Bytes(setZKHeap))
		if err != nil {
			return nil, err
		}
	}
	for _, n := range brokers {
		if err := s.furnish(c, n, config); err != nil {
			return nil, err
		}
	}
	if s.Settings.Text(setStore) == storeKahaDB {
		return c, s.startAlone(ctx, c, brokers[0])
	}
	return c, s.startReplicas(ctx, c, brokers)
}

// startAlone starts a broker with a store of its own.
func (s starter) startAlone(ctx context.Context, c *driver.Cluster, n *driver.Node) error {
	if err := c.Launch([]*driver.Node{n}, s.command); err != nil {
		return err
	}
	return s.awaitClients(ctx, c)
}

// startReplicas starts brokers that replicate. Brokers that start at the same time sometimes exit,
// because they read each other's unfinished entries in ZooKeeper. So each broker starts only when
// the previous one has joined, and when the brokers so far, if they are a majority, have elected a
// master.
func (s starter) startReplicas(ctx context.Context, c *driver.Cluster, all []*driver.Node) error {
	ask := func(n ...*driver.Node) *jolokia {
		var endpoints []string
		for _, one := range n {
			endpoints = append(endpoints, one.Address)
		}
		return newJolokia(s.options(c, endpoints))
	}
	err := c.LaunchInTurn(ctx, all, s.command, func(ctx context.Context, n *driver.Node) error {
		err := ask(n).brokers[0].hasJoined(ctx)
		if before := slices.Index(all, n); err == nil && before+1 >= driver.Majority(len(all)) {
			err = ask(all[:before+1]...).hasSlaves(ctx, before)
		}
		return err
	})
	if err != nil {
		return err
	}
	err = c.Await(ctx, func(ctx context.Context) error {
		return ask(all...).hasSlaves(ctx, len(all)-1)
	})
	if err != nil {
		return err
	}
	return s.awaitClients(ctx, c)
}

func (s starter) options(c *driver.Cluster, endpoints []string) system.Options {
	return system.Options{
		Endpoints: endpoints, Credentials: c.Credentials(), TLS: c.TLS(), Settings: s.Settings,
		Durability: s.Durability,
	}
}

// awaitClients waits until a broker accepts clients.
func (s starter) awaitClients(ctx context.Context, c *driver.Cluster) error {
	return c.Await(ctx, func(ctx context.Context) error {
		connected, err := activeSystem{}.Connect(ctx, s.options(c, c.Endpoints()))
		if err != nil {
			return err
		}
		if err := connected.Close(ctx); err != nil {
			return err
		}
		_, err = connected.(*cluster).jolokia.master(ctx)
		return err
	})
}

// configure makes the secrets of a cluster.
func (s starter) configure(c *driver.Cluster, brokers int) (brokerConfig, error) {
	config := brokerConfig{Settings: s.Settings, level: s.Durability, brokers: brokers}
	err := c.Secure(s.Settings.Text(setSecurity), benchUser)
	if config.login = c.Credentials(); config.login.User != "" {
		config.token = c.Secret()
	}
	if c.TLS() != nil {
		config.keyStore = c.Secret()
	}
	return config, err
}

func (s starter) furnish(c *driver.Cluster, n *driver.Node, config brokerConfig) error {
	files := map[string]string{
		configFile: config.xml(n), jolokiaFile: config.jolokia(n),
		loggingFile1: logging1, loggingFile2: logging2,
	}
	err := s.broker.Furnish(c, n, files, storeFolder, dataFolder)
	if err == nil && config.keyStore != "" {
		err = n.KeyStore(keyStoreFile, config.keyStore)
	}
	return err
}

// opened are the Java packages that 5.14 accesses by reflection. It is older than Java's modules.
var opened = []string{"java.lang", "java.util", "java.io", "java.net", "java.nio", "sun.nio.ch",
	"jdk.internal.ref"}

// command returns the process that runs a broker.
func (s starter) command(n *driver.Node) process.Spec {
	options := append(s.broker.Options(n, s.Settings.Bytes(setHeap)),
		driver.Collectors[s.Settings.Text(setGC)])
	for _, name := range opened {
		options = append(options, "--add-opens", "java.base/"+name+"=ALL-UNNAMED")
	}
	options = append(options, "--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED",
		"-javaagent:"+s.agent+"=config="+n.Path(jolokiaFile),
		"-Dlog4j.configuration=file:"+n.Path(loggingFile1),
		"-Dlog4j2.configurationFile="+n.Path(loggingFile2),
		"-Dactivemq.home="+s.broker.Dir, "-Dactivemq.base="+n.Dir,
		"-Dactivemq.conf="+n.Dir, "-Dactivemq.data="+n.Path(dataFolder))
	return s.broker.Command(options, mainClass, "start", "xbean:file:"+n.Path(configFile))
}
