package kafka

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the servers' settings, in Kafka's own words where it has them.
const (
	setHeap            = "heap"
	setGC              = "gc"
	setSecurity        = "security"
	setNetworkThreads  = "num_network_threads"
	setIOThreads       = "num_io_threads"
	setReplicaFetchers = "num_replica_fetchers"
	setSegmentBytes    = "log_segment_bytes"
	setMessageMax      = "message_max_bytes"
	setReplicaLag      = "replica_lag_time_max"
	setBrokerSession   = "broker_session_timeout"
)

// Values of the servers' settings and their bounds.
const (
	gcSerial  = "serial"
	saslSSL   = "sasl_ssl"
	plaintext = "plaintext"
)

// serverSettings configure the servers that plimsoll starts. The defaults are
// Kafka's own unless the description says otherwise.
var serverSettings = driver.ServerSettings(system.MustSettings(`
version text 4.3.1
    Kafka's version, which Maven downloads: 3.7 or later, of which 4.1.1 and 4.3.1 were tried; a
    rolling restart can start another
heap bytes 256MB 128MB..: with less a server does not start
    each server's Java heap, reserved whole at the start; the page cache holds the messages
    (Kafka's scripts take 1GB)
gc text g1 g1|serial
    Java's garbage collector: g1 with the options of Kafka's scripts, or serial, which takes
    less memory and pauses longer
security text sasl_plaintext sasl_plaintext|sasl_ssl|plaintext
    how clients and servers authenticate: a password, a password over TLS, or nothing
    (Kafka's default)
num_network_threads count 3 1..1000
    threads of each server that read requests and send answers
num_io_threads count 8 1..1000
    threads of each server that carry requests out
num_replica_fetchers count 1 1..1000
    threads with which each server copies from each of the others
log_segment_bytes bytes 1GB 1MB..2147483647 bytes
    size at which a partition begins a new file
message_max_bytes bytes 16MB
    largest batch that is accepted (Kafka's default is 1MB)
replica_lag_time_max duration 30s 1s..1h
    how long a copy may lag before acks=all no longer waits for it
broker_session_timeout duration 9s 1s..1h
    after how long without a heartbeat a server's partitions go to others
`))

// kafkaVersion matches the versions whose servers are brokers and controllers without ZooKeeper
// (KRaft) and know the configuration that plimsoll writes.
var kafkaVersion = regexp.MustCompile(`^(3\.([7-9]|\d\d)|[4-9]\.\d{1,2})\.\d{1,2}$`)

// serverConfig holds the values of the servers' configuration.
type serverConfig struct {
	system.Settings
	replication, minISR int
	synced              bool // every message is synced before it is acknowledged
}

func readServerConfig(s system.Settings, l workload.Level, nodes int) serverConfig {
	c := serverConfig{
		Settings: s, replication: min(nodes, copiesOf(s, l).On(nodes)),
		minISR: 1, synced: l.Synced(),
	}
	if l.Majority() {
		c.minISR = driver.Majority(c.replication)
	}
	return c
}

// checkNodes returns the violations of the settings of servers to start. nodes is their number, or
// 0 when they run already.
func checkNodes(s system.Settings, l workload.Level, nodes int) strict.Violations {
	if nodes == 0 {
		return driver.AlreadyRunning(s, serverSettings)
	}
	bad := driver.CheckRanges(s, serverSettings)
	if v := s.Text(system.SettingVersion); !kafkaVersion.MatchString(v) {
		bad.Wrong(system.SettingVersion, "must be a version from 3.7.0 on, such as 4.3.1")
	}
	if n := s.Bytes(setMessageMax); n < 1<<10 || n > s.Bytes(setHeap)/4 {
		bad.Wrong(setMessageMax, "must be from 1KB to a quarter of %s, which is %s", setHeap,
			s.Text(setHeap))
	}
	return append(bad.Violations, copiesOf(s, l).CheckNodes(nodes)...)
}

// identity holds one server's place in its cluster, and the shared secrets.
type identity struct {
	id int // from 1
	// the addresses it listens on: one for clients and other brokers, one for controllers
	client, quorum string
	voters         string // the controllers, as controller.quorum.voters has them
	extra          bool   // a broker only: controllers can neither join nor leave
	users          users
}

// users holds the passwords that the servers know. They are only in server.properties, which only
// its owner may read.
type users struct {
	bench, broker string
}

const (
	benchUser      = "bench"  // plimsoll's
	brokerUser     = "broker" // of the servers towards each other
	clientListener = "CLIENT"
	quorumListener = "CONTROLLER"
	dataFolder     = "data"
	propertiesFile = "server.properties"
	// Internal topics have few partitions: each of Kafka's default 50 costs the start a file and
	// an election on every server.
	offsetsPartitions     = 6
	transactionPartitions = 6
	sharePartitions       = 6
	memberHeartbeat       = 1000 // milliseconds
	// The log cleaner's default of 128 MB does not fit a heap of that size.
	cleanerBuffer = 4 << 20
	// socketMax is Kafka's bound of a request; a batch must fit.
	socketMax = 100 << 20
)

// properties is the content of server.properties.
func (c serverConfig) properties(n identity) string {
	internalISR := driver.Majority(c.replication)
	protocol := strings.ToUpper(c.Text(setSecurity))
	var p driver.Properties
	n.setPlace(&p, protocol)
	// Like every path here, relative to the server's folder, so that no character of a user's path
	// has a meaning in this file.
	p.Set("log.dirs", dataFolder)

	p.Set("default.replication.factor", c.replication)
	p.Set("min.insync.replicas", c.minISR)
	p.Set("unclean.leader.election.enable", "false")
	p.Set("auto.create.topics.enable", "false")
	p.Set("offsets.topic.replication.factor", c.replication)
	p.Set("offsets.topic.num.partitions", offsetsPartitions)
	p.Set("transaction.state.log.replication.factor", c.replication)
	p.Set("transaction.state.log.min.isr", internalISR)
	p.Set("transaction.state.log.num.partitions", transactionPartitions)
	p.Set("share.coordinator.state.topic.replication.factor", c.replication)
	p.Set("share.coordinator.state.topic.min.isr", internalISR)
	p.Set("share.coordinator.state.topic.num.partitions", sharePartitions)
	// A consumer must be in its group when it is opened, not seconds later.
	p.Set("group.initial.rebalance.delay.ms", "0")
	setHeartbeats(&p)
	p.Set("log.cleaner.dedupe.buffer.size", cleanerBuffer)

	p.Set("num.network.threads", c.Count(setNetworkThreads))
	p.Set("num.io.threads", c.Count(setIOThreads))
	p.Set("num.replica.fetchers", c.Count(setReplicaFetchers))
	p.Set("log.segment.bytes", c.Bytes(setSegmentBytes))
	p.Set("message.max.bytes", c.Bytes(setMessageMax))
	// Followers fetch batches larger than replica.fetch.max.bytes too, so Kafka's default stays.
	p.Set("socket.request.max.bytes", max(socketMax, 2*c.Bytes(setMessageMax)))
	p.Set("replica.lag.time.max.ms", c.Duration(setReplicaLag).Milliseconds())
	p.Set("broker.session.timeout.ms", c.Duration(setBrokerSession).Milliseconds())
	if c.synced {
		p.Set("log.flush.interval.messages", 1)
	}
	if c.Text(setSecurity) != plaintext {
		setPasswords(&p, n.users)
	}
	if c.Text(setSecurity) == saslSSL {
		// Both listeners present the server's certificate and require none of clients, which have
		// a password.
		p.Set("ssl.keystore.type", "PEM")
		p.Set("ssl.keystore.location", driver.KeyStoreFile)
		p.Set("ssl.truststore.type", "PEM")
		p.Set("ssl.truststore.location", driver.CAFile)
	}
	return p.String()
}

// setPlace sets what the server is in its cluster, and where it listens.
func (n identity) setPlace(p *driver.Properties, protocol string) {
	roles, listeners := "broker,controller", clientListener+"://"+n.client+","+
		quorumListener+"://"+n.quorum
	if n.extra {
		roles, listeners = "broker", clientListener+"://"+n.client
	}
	p.Set("process.roles", roles)
	p.Set("node.id", n.id)
	p.Set("controller.quorum.voters", n.voters)
	p.Set("listeners", listeners)
	p.Set("advertised.listeners", clientListener+"://"+n.client)
	p.Set("controller.listener.names", quorumListener)
	p.Set("inter.broker.listener.name", clientListener)
	p.Set("listener.security.protocol.map",
		clientListener+":"+protocol+","+quorumListener+":"+protocol)
}

// setHeartbeats sets how often members ask for their partitions, where brokers assign them: at
// Kafka's 5s a consumer has none for 5s.
func setHeartbeats(p *driver.Properties) {
	for _, kind := range slices.Sorted(maps.Keys(newerTypes)) {
		p.Set("group."+kind+".heartbeat.interval.ms", memberHeartbeat)
		p.Set("group."+kind+".min.heartbeat.interval.ms", memberHeartbeat)
	}
}

// setPasswords makes both listeners require a password. Clients may use SCRAM too, if they were
// given a SCRAM password through the Admin API.
func setPasswords(p *driver.Properties, u users) {
	const (
		plainLogin = "org.apache.kafka.common.security.plain.PlainLoginModule required"
		scramLogin = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
	)
	client := "listener.name." + strings.ToLower(clientListener) + "."
	quorum := "listener.name." + strings.ToLower(quorumListener) + "."
	own := fmt.Sprintf(`%s username="%s" password="%s" user_%s="%s"`, plainLogin, brokerUser,
		u.broker, brokerUser, u.broker)
	p.Set("sasl.mechanism.inter.broker.protocol", "PLAIN")
	p.Set("sasl.mechanism.controller.protocol", "PLAIN")
	p.Set(client+"sasl.enabled.mechanisms", "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512")
	p.Set(client+"plain.sasl.jaas.config", fmt.Sprintf(`%s user_%s="%s";`, own, benchUser, u.bench))
	p.Set(client+"scram-sha-256.sasl.jaas.config", scramLogin)
	p.Set(client+"scram-sha-512.sasl.jaas.config", scramLogin)
	p.Set(quorum+"sasl.enabled.mechanisms", "PLAIN")
	p.Set(quorum+"plain.sasl.jaas.config", own+";")
}

// javaOptions returns the options of Kafka's scripts, except for the heap, which is a
// setting.
func (c serverConfig) javaOptions(java driver.Java, n *driver.Node) []string {
	options := append(java.Options(n, c.Bytes(setHeap)), driver.Collectors[c.Text(setGC)])
	if c.Text(setGC) != gcSerial {
		options = append(options, "-XX:MaxGCPauseMillis=20",
			"-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent")
	}
	return append(options, "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
		"-Dorg.slf4j.simpleLogger.showShortLogName=true")
}
