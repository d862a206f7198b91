package kafka

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	clientPort = 9092
	quorumPort = 9093

	serverClass  = "kafka.Kafka"
	storageClass = "kafka.tools.StorageTool"
)

// servers describes how Kafka's servers start, fail and stop. Servers on two cores start in some
// seconds, and take ten times as long on a busy machine. A server that stops hands over the
// partitions that it leads.
var servers = driver.Servers{
	StartWithin: 4 * time.Minute, StopGrace: 15 * time.Second,
	AskEvery: 50 * time.Millisecond, AskWithin: 2 * time.Second,
	LastComplaint: maven.LastComplaint,
}

// sums are the checksums of the files that Maven brings; TestPinned writes them with -update.
//
//go:embed jars.sha256
var sums string

// jarsOf returns the servers of a version. They include a binding of slf4j, without which there is
// no log.
func jarsOf(version string) maven.Artifacts {
	return maven.Artifacts{
		Name: "kafka-" + version,
		Coordinates: []string{
			"org.apache.kafka:kafka_2.13:" + version,
			"org.slf4j:slf4j-simple:1.7.36",
		},
		Sums: sums,
	}
}

// Fetch downloads the servers' jars, unless they are on this machine. Provision does so too; with
// Fetch the caller can show progress, and the bound of a start does not apply.
func (kafkaSystem) Fetch(ctx context.Context, s system.Settings,
	progress func(sentence string)) error {
	_, err := driver.FetchJava(ctx, jarsOf(s.Text(system.SettingVersion)), progress)
	return err
}

// FindSoftware looks for Java, and for Maven if the servers are not downloaded yet.
func (kafkaSystem) FindSoftware(s system.Settings) error {
	return driver.FindJava(jarsOf(s.Text(system.SettingVersion)))
}

// NodeNames returns the names of the servers.
func (kafkaSystem) NodeNames(p system.Provision) []string { return driver.Numbered("n", p.All()) }

// Provision starts a KRaft cluster of p.Nodes servers as processes of this machine, each both
// broker and controller, on a loopback address of its own if possible; extra servers are brokers
// only. It returns when every server reports that all servers are registered and that a controller
// leads.
func (kafkaSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	s, err := newStarter(ctx, p)
	if err != nil {
		return nil, err
	}
	return servers.Provision(ctx, p,
		driver.BuildAt(len(s.names), s.buildAt, clientPort, quorumPort))
}

// starter starts a cluster.
type starter struct {
	java   driver.Java
	names  []string
	voters int // the first servers are controllers
	config serverConfig
}

func newStarter(ctx context.Context, p system.Provision) (starter, error) {
	java, err := driver.JavaOf(ctx, p, jarsOf(p.Settings.Text(system.SettingVersion)))
	config := readServerConfig(p.Settings, p.Durability, p.Nodes)
	return starter{java, kafkaSystem{}.NodeNames(p), p.Nodes, config}, err
}

// buildAt starts servers. Each listens for clients at its first address and for controllers at its
// second.
func (s starter) buildAt(ctx context.Context, c *driver.Cluster, addresses [][]string) error {
	nodes, err := s.furnish(c, addresses)
	if err != nil {
		return err
	}
	if err := s.format(ctx, c, nodes); err != nil {
		return err
	}
	if err := c.Launch(nodes, s.command); err != nil {
		return err
	}
	c.SetVersions(func(ctx context.Context, n *driver.Node, version string) (process.Spec, error) {
		java, err := driver.FetchJava(ctx, jarsOf(version), nil)
		return starter{java, s.names, s.voters, s.config}.command(n), err
	})
	if err := awaitAnswers(ctx, c, mechanismPlain); err != nil {
		return err
	}
	return c.Once(func() error { return enrol(ctx, c, s.config.Text(setSASL)) })
}

// command returns the command of a server.
func (s starter) command(n *driver.Node) process.Spec {
	return s.java.Command(s.config.javaOptions(s.java, n), serverClass, n.Path(propertiesFile))
}

// furnish creates the servers' folders and everything in them except the data.
func (s starter) furnish(c *driver.Cluster, addresses [][]string) ([]*driver.Node, error) {
	var u users
	if s.config.Text(setSecurity) != plaintext {
		u = users{bench: c.Secret(), broker: c.Secret()}
		c.SetCredentials(system.Credentials{User: benchUser, Password: u.bench})
	}
	if s.config.Text(setSecurity) == saslSSL {
		if err := c.Encrypt(); err != nil {
			return nil, err
		}
	}
	var voters []string
	for i, a := range addresses[:s.voters] {
		voters = append(voters, strconv.Itoa(i+1)+"@"+a[1])
	}
	var nodes []*driver.Node
	for i, a := range addresses {
		n := c.Add(s.names[i], a[0])
		nodes = append(nodes, n)
		who := identity{id: i + 1, client: a[0], quorum: a[1], voters: strings.Join(voters, ","),
			users: u, extra: i >= s.voters}
		files := map[string]string{propertiesFile: s.config.properties(who)}
		if err := s.java.Furnish(c, n, files, dataFolder); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// format gives every data folder its identity, which Kafka requires before the first start. Each
// takes a Java process, so they run in parallel.
func (s starter) format(ctx context.Context, c *driver.Cluster, nodes []*driver.Node) error {
	id := clusterID(c)
	// Without the optimising compiler: the process runs for only a second.
	options := []string{"-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}
	return system.Each(ctx, len(nodes), len(nodes), nil, func(ctx context.Context, i int) error {
		n := nodes[i]
		return c.Run(ctx, n, "format the data folder of "+n.Name,
			s.java.Command(options, storageClass, "format", "-t", id, "-c", n.Path(propertiesFile)))
	})
}

// clusterID returns a random identity in Kafka's form.
func clusterID(c *driver.Cluster) string {
	var b [16]byte
	c.Random(b[:])
	b[0] &= 0x7f // no leading dash, which would look like an option
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Ways in which clients authenticate: values of the setting.
const (
	mechanismPlain    = "plain"
	mechanismSCRAM256 = "scram-sha-256"
	mechanismSCRAM512 = "scram-sha-512"
	scramIterations   = 4096 // Kafka's minimum
)

// awaitAnswers waits until every server answers clients that authenticate in a given way and
// reports that all servers are registered, and until the controllers have a leader.
func awaitAnswers(ctx context.Context, c *driver.Cluster, mechanismName string) error {
	options := append(clientOptions(c, mechanismName), kgo.RequestRetries(0),
		kgo.DialTimeout(servers.AskWithin), kgo.RetryTimeout(servers.AskWithin))
	client, err := kgo.NewClient(options...)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	defer client.Close()
	return c.Await(ctx, func(ctx context.Context) error { return ask(ctx, client) })
}

// enrol gives plimsoll's user a SCRAM password too, if its clients use SCRAM, and waits until
// every server knows the password.
func enrol(ctx context.Context, c *driver.Cluster, name string) error {
	kinds := map[string]kadm.ScramMechanism{mechanismSCRAM256: kadm.ScramSha256,
		mechanismSCRAM512: kadm.ScramSha512}
	kind, is := kinds[name]
	if !is || c.Credentials().User == "" {
		return nil
	}
	client, err := kgo.NewClient(clientOptions(c, mechanismPlain)...)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	defer client.Close()
	user := kadm.UpsertSCRAM{
		User: c.Credentials().User, Password: c.Credentials().Password,
		Mechanism: kind, Iterations: scramIterations,
	}
	answers, err := kadm.NewClient(client).AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{user})
	if err == nil {
		err = answers.Error()
	}
	if err != nil {
		return fmt.Errorf("give the user a SCRAM password: %w", err)
	}
	return awaitAnswers(ctx, c, name)
}

// clientOptions returns the options of a client of the servers.
func clientOptions(c *driver.Cluster, mechanismName string) []kgo.Opt {
	options := []kgo.Opt{kgo.SeedBrokers(c.Endpoints()...)}
	if m := mechanism(mechanismName, c.Credentials()); m != nil {
		options = append(options, kgo.SASL(m))
	}
	if config := c.TLS(); config != nil {
		options = append(options, kgo.DialTLSConfig(config))
	}
	return options
}

// ask checks that every server knows all servers, and that one knows the controllers' leader.
func ask(ctx context.Context, client *kgo.Client) error {
	seeds := client.SeedBrokers()
	for i, broker := range seeds {
		request := kmsg.NewPtrMetadataRequest()
		request.Topics = []kmsg.MetadataRequestTopic{} // nil would mean all
		response, err := request.RequestWith(ctx, broker)
		if err != nil {
			return fmt.Errorf("n%d does not answer: %w", i+1, err)
		}
		if len(response.Brokers) != len(seeds) {
			return fmt.Errorf("n%d knows %d of %d servers", i+1, len(response.Brokers), len(seeds))
		}
	}
	request := kmsg.NewPtrDescribeQuorumRequest()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = "__cluster_metadata"
	topic.Partitions = append(topic.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, seeds[0])
	if err != nil {
		return fmt.Errorf("ask who leads the controllers: %w", err)
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 ||
		response.Topics[0].Partitions[0].LeaderID < 1 {
		return errors.New("the controllers have no leader")
	}
	return nil
}
