package sqs

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

const (
	elasticVersion = "1.7.1"
	elasticClass   = "org.elasticmq.server.Main"
	clientPort     = 9324
	configFile     = "elasticmq.conf"
	nodeName       = "n1"

	setHeap    = "heap"
	setStorage = "messages_storage"
)

// serverSettings are the settings of the server that plimsoll starts.
var serverSettings = driver.ServerSettings(system.MustSettings(`
heap bytes 256MiB 64MiB..
    heap of ElasticMQ's virtual machine; it holds every message that is not deleted
messages_storage bool true
    ElasticMQ also writes messages and queues to a file, which a restart needs (ElasticMQ's
    default is memory only)
`))

// FindSoftware looks for Java, and for Maven if ElasticMQ is not downloaded yet.
func (sqsSystem) FindSoftware(system.Settings) error { return driver.FindJava(jars) }

// sums are the checksums of the files that Maven brings; TestPinned writes them with -update.
//
//go:embed jars.sha256
var sums string

// jars are the files of ElasticMQ.
var jars = maven.Artifacts{
	Name:        "elasticmq-" + elasticVersion,
	Coordinates: []string{"org.elasticmq:elasticmq-server_2.13:" + elasticVersion},
	Sums:        sums,
}

// servers describes how ElasticMQ starts, fails and stops.
var servers = driver.Servers{
	StartWithin: 3 * time.Minute, StopGrace: 10 * time.Second,
	AskEvery: 50 * time.Millisecond, AskWithin: 2 * time.Second,
	LastComplaint: driver.LastLineWith("ERROR", "Exception"),
}

// checkNodes returns the violations of the number of servers to start: nodes, or 0 when they run
// already.
func checkNodes(s system.Settings, nodes int) strict.Violations {
	if nodes == 0 {
		return driver.AlreadyRunning(s, serverSettings)
	}
	bad := s.OutOfRange(serverSettings)
	if nodes != 1 {
		bad = append(bad, strict.Violation{Message: fmt.Sprintf("ElasticMQ has no replicas and "+
			"the testbed has %d nodes: write testbed: {nodes: 1}", nodes)})
	}
	return bad
}

// Fetch downloads ElasticMQ, unless it is on this machine.
func (sqsSystem) Fetch(ctx context.Context, _ system.Settings,
	progress func(sentence string)) error {
	_, err := driver.FetchJava(ctx, jars, progress)
	return err
}

// NodeNames returns the name of the only node: ElasticMQ has no replicas.
func (sqsSystem) NodeNames(system.Provision) []string { return []string{nodeName} }

// Provision starts an ElasticMQ, and returns when it answers.
func (sqsSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	java, err := driver.FetchJava(ctx, jars, nil)
	if err != nil {
		return nil, err
	}
	return servers.Provision(ctx, p, driver.BuildAt(1, func(ctx context.Context, c *driver.Cluster,
		addresses [][]string) error {
		return start(ctx, c, java, p.Settings, addresses[0][0])
	}, clientPort))
}

// start starts the server of a cluster.
func start(ctx context.Context, c *driver.Cluster, java driver.Java, s system.Settings,
	address string) error {
	n := c.Add(nodeName, address)
	if err := java.Furnish(c, n, map[string]string{configFile: elasticConfig(n, s)}); err != nil {
		return err
	}
	options := append(java.Options(n, s.Bytes(setHeap)), "-XX:+UseSerialGC",
		"-Dconfig.file="+n.Path(configFile))
	err := c.Launch(c.Members(), func(*driver.Node) process.Spec {
		return java.Command(options, elasticClass)
	})
	if err != nil {
		return err
	}
	return c.AwaitEach(ctx, c.Members(), isHealthy)
}

// elasticConfig makes the server listen only on its own address, keep messages in a file, and show
// its version in the ARN of each queue.
func elasticConfig(n *driver.Node, s system.Settings) string {
	return fmt.Sprintf(`include classpath("application.conf")
node-address { protocol = http, host = %[1]q, port = %[2]s }
rest-sqs { bind-hostname = %[1]q, bind-port = %[2]s }
aws { region = "%[3]s-%[4]s" }
messages-storage { enabled = %[5]t, driver-class = "org.h2.Driver", uri = %[6]q }
`, n.Host, n.Port, elasticRegion, elasticVersion, s.Bool(setStorage),
		"jdbc:h2:"+n.Path("messages"))
}

// isHealthy returns nil when the server reports that it is healthy.
func isHealthy(ctx context.Context, n *driver.Node) error {
	return driver.GetPlain(ctx, n.Address, "/health", nil)
}
