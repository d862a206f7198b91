package rocketmq

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	rocketVersion = "5.5.0"
	brokerPort    = 10911
	fastPort      = brokerPort - 2 // the broker listens there too
	namesPort     = 9876
	namesNode     = "namesrv"
	namesHeap     = 64 << 20
	brokerName    = "broker"
	benchUser     = "plimsoll"
	brokerClass   = "org.apache.rocketmq.broker.BrokerStartup"
	namesClass    = "org.apache.rocketmq.namesrv.NamesrvStartup"
	configFile    = "server.conf"
	tlsFile       = "tls.properties"
	loggingFile   = "logging.xml"
)

// sums are the checksums of the files that Maven brings; TestPinned writes them with -update.
//
//go:embed jars.sha256
var sums string

// distribution is the server software.
var distribution = maven.Artifacts{
	Name: "rocketmq-" + rocketVersion,
	Coordinates: []string{
		"org.apache.rocketmq:rocketmq-broker:" + rocketVersion,
		"org.apache.rocketmq:rocketmq-namesrv:" + rocketVersion,
	},
	Sums: sums,
}

// servers describes how RocketMQ's servers start, fail and stop. A broker starts in five seconds, a
// slave registers ten seconds later, and both take several times as long on a busy machine. A
// broker takes 16 s to end in good order, which data that is deleted afterwards does not need.
var servers = driver.Servers{
	StartWithin: 4 * time.Minute, StopGrace: time.Second,
	AskEvery: 50 * time.Millisecond, AskWithin: 5 * time.Second,
	LastComplaint: driver.LastLineWith(" ERROR ", " WARN ", "Exception"),
}

// FindSoftware looks for Java, and for Maven if the servers are not downloaded yet.
func (rocketSystem) FindSoftware(system.Settings) error { return driver.FindJava(distribution) }

// Fetch downloads the servers, unless they are on this machine already.
func (rocketSystem) Fetch(ctx context.Context, _ system.Settings,
	progress func(sentence string)) error {
	_, err := driver.FetchJava(ctx, distribution, progress)
	return err
}

// NodeNames returns the names of the servers: the first is the master.
func (rocketSystem) NodeNames(p system.Provision) []string {
	return append(driver.Numbered("n", p.Nodes), namesNode)
}

// provisioned is a cluster whose endpoints are the name server and the brokers.
type provisioned struct {
	*driver.Cluster
	names string // the name server's address
}

// Endpoints returns the addresses of the name server and of the brokers.
func (p *provisioned) Endpoints() []string {
	all := []string{p.names}
	for _, n := range p.Members() {
		if n.Address != p.names {
			all = append(all, n.Address)
		}
	}
	return all
}

// Provision starts a name server, a master and its slaves as processes of this machine, each on a
// loopback address of its own. It returns when all slaves follow the master.
func (rocketSystem) Provision(ctx context.Context, p system.Provision) (
	system.Provisioned, error) {
	java, err := driver.FetchJava(ctx, distribution, nil)
	if err != nil {
		return nil, err
	}
	return servers.Provision(ctx, p, starter{p, java}.build)
}

// starter starts one cluster.
type starter struct {
	system.Provision
	java driver.Java
}

func (s starter) build(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
	hosts, err := c.Hosts(s.Nodes+1, brokerPort, fastPort, namesPort)
	if err != nil {
		return nil, err
	}
	// A broker listens for slaves on every address of the machine.
	ports, err := c.FreePorts(s.Nodes)
	if err != nil {
		return nil, err
	}
	if err := c.Secure(s.Settings.Text(setSecurity), benchUser); err != nil {
		return nil, err
	}
	names := s.NodeNames()
	var brokers []*driver.Node
	for i := range s.Nodes {
		brokers = append(brokers, c.Add(names[i], driver.At(hosts[i], brokerPort)))
	}
	nameServer := c.Add(namesNode, driver.At(hosts[s.Nodes], namesPort))
	p := &provisioned{c, nameServer.Address}
	if err := s.furnish(c, nameServer, s.namesConfig(nameServer)); err != nil {
		return nil, err
	}
	for i, n := range brokers {
		if err := s.furnish(c, n, s.brokerConfig(c, p, brokers, i, ports)); err != nil {
			return nil, err
		}
	}
	return p, s.launch(ctx, p, nameServer, brokers)
}

// NodeNames returns the names of the servers.
func (s starter) NodeNames() []string { return rocketSystem{}.NodeNames(s.Provision) }

// launch starts the name server, and then the brokers. A slave learns there of its master.
func (s starter) launch(ctx context.Context, p *provisioned, nameServer *driver.Node,
	brokers []*driver.Node) error {
	of := &cluster{options: system.Options{Endpoints: []string{p.names}, TLS: p.TLS(),
		Credentials: p.Credentials()}, links: make(map[string]*conn)}
	defer func() { _ = of.Close(ctx) }() // it has no clients, and its connections end
	if err := p.Launch([]*driver.Node{nameServer}, s.command); err != nil {
		return err
	}
	err := p.Await(ctx, func(ctx context.Context) error {
		_, err := of.ask(ctx, p.names, askCluster, nil, nil)
		return err
	})
	if err != nil {
		return err
	}
	if err := p.Launch(brokers, s.command); err != nil {
		return err
	}
	return p.Await(ctx, func(ctx context.Context) error { return of.follows(ctx, s.Nodes-1) })
}

// follows returns nil when the master is known to the name server, with as many slaves, and these
// are in sync.
func (c *cluster) follows(ctx context.Context, slaves int) error {
	brokers, err := c.brokers(ctx)
	if err != nil {
		return err
	}
	b := broker{brokerName, brokers[brokerName].Addresses}
	at, err := b.master()
	if err != nil {
		return err
	}
	have, err := c.inSync(ctx, at)
	if err == nil && (have != slaves || len(b.slaves()) != slaves) {
		err = fmt.Errorf("%d of %d slaves are in sync, and %d are registered", have, slaves,
			len(b.slaves()))
	}
	return err
}

func (s starter) furnish(c *driver.Cluster, n *driver.Node, config string) error {
	files := map[string]string{configFile: config, loggingFile: logging}
	if c.TLS() != nil {
		var p driver.Properties
		p.Set("tls.test.mode.enable", false) // with it a server signs its certificate itself
		p.Set("tls.server.keyPath", n.Path(driver.KeyFile))
		p.Set("tls.server.certPath", n.Path(driver.CertificateFile))
		p.Set("tls.client.authServer", true)
		p.Set("tls.client.trustCertPath", n.Path(driver.CAFile))
		files[tlsFile] = p.String()
	}
	return s.java.Furnish(c, n, files)
}

func (s starter) namesConfig(n *driver.Node) string {
	var p driver.Properties
	p.Set("listenPort", namesPort)
	p.Set("bindAddress", n.Host)
	p.Set("rocketmqHome", n.Dir)
	p.Set("kvConfigPath", n.Path("kvConfig.json"))
	p.Set("configStorePath", n.Path("namesrv.properties"))
	return p.String()
}

// brokerConfig returns the configuration of a broker, which holds the secrets.
func (s starter) brokerConfig(c *driver.Cluster, names *provisioned, brokers []*driver.Node, i int,
	ports []int) string {
	n, role := brokers[i], slaveRole
	var p driver.Properties
	switch {
	case i > 0: // a slave
	case s.Durability.Majority():
		role = syncMaster
		p.Set(confInSync, driver.Majority(s.Nodes))
	default:
		role = asyncMaster
	}
	flush := s.Settings.Text(setFlush)
	if s.Durability.Synced() {
		flush = syncFlush
	}
	p.Set("brokerClusterName", brokerName)
	p.Set("brokerName", brokerName)
	p.Set("brokerId", i)
	p.Set(confRole, role)
	p.Set(confFlush, flush)
	p.Set("namesrvAddr", names.names)
	p.Set("registerNameServerPeriod", 10_000) // by default slaves look for a master twice a minute
	p.Set("brokerIP1", n.Host)
	p.Set("brokerIP2", n.Host)
	p.Set("bindAddress", n.Host)
	p.Set("listenPort", brokerPort)
	p.Set("haListenPort", ports[i])
	p.Set("rocketmqHome", n.Dir)
	p.Set("storePathRootDir", n.Path("store"))
	p.Set("storePathCommitLog", n.Path("store", "commitlog"))
	p.Set(setLogFile, s.Settings.Bytes(setLogFile))
	p.Set("autoCreateTopicEnable", false)
	p.Set("autoCreateSubscriptionGroup", false)
	if secrets := c.Credentials(); secrets.User != "" {
		p.Set("authenticationEnabled", true)
		p.Set("authenticationProvider",
			"org.apache.rocketmq.auth.authentication.provider.DefaultAuthenticationProvider")
		p.Set("authenticationMetadataProvider", "org.apache.rocketmq.auth.authentication.provider."+
			"LocalAuthenticationMetadataProvider")
		p.Set("initAuthenticationUser", fmt.Sprintf(`{"username":"%s","password":"%s"}`,
			secrets.User, secrets.Password))
		p.Set("innerClientAuthenticationCredentials", fmt.Sprintf(
			`{"accessKey":"%s","secretKey":"%s"}`, secrets.User, secrets.Password))
	}
	return p.String()
}

// logging makes a server write its warnings to its output. Otherwise it writes a dozen files.
const logging = `<configuration>
<appender name="out" class="org.apache.rocketmq.logging.ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %level %logger{0} %m%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="out"/></root></configuration>
`

// opened are the parts of Java that the servers access by reflection.
var opened = []string{"java.nio", "sun.nio.ch", "jdk.internal.misc"}

func (s starter) command(n *driver.Node) process.Spec {
	heap, class := s.Settings.Bytes(setHeap), brokerClass
	if n.Name == namesNode {
		heap, class = namesHeap, namesClass
	}
	options := append(s.java.Options(n, heap), "-XX:+UseG1GC",
		"-XX:MaxDirectMemorySize="+strconv.FormatInt(s.Settings.Bytes(setDirect), 10),
		"--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED",
		"-Drmq.logback.configurationFile="+n.Path(loggingFile),
		"-Drocketmq.home.dir="+n.Dir, "-Duser.home="+n.Dir)
	for _, name := range opened {
		options = append(options, "--add-opens", "java.base/"+name+"=ALL-UNNAMED")
	}
	if s.Settings.Text(setSecurity) == driver.SecurityTLS {
		options = append(options, "-Dtls.enable=true", "-Dtls.server.mode=enforcing",
			"-Dtls.config.file="+n.Path(tlsFile))
	} else {
		options = append(options, "-Dtls.server.mode=disabled")
	}
	return s.java.Command(options, class, "-c", n.Path(configFile))
}
