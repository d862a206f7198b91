package kafka

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the servers' settings, in Kafka's own words where it has one.
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

// Values of the servers' settings, and what bounds them.
const (
	gcG1          = "g1"
	gcSerial      = "serial"
	saslPlaintext = "sasl_plaintext"
	saslSSL       = "sasl_ssl"
	plaintext     = "plaintext"

	leastHeap            = 128 << 20 // with less a broker does not start
	leastSegment         = 1 << 20   // Kafka's own bound
	ofAServerThatWeStart = " (of the servers that plimsoll starts)"
)

// serverSettings shape the servers that plimsoll starts. The defaults are
// Kafka's own except where the sentence says otherwise.
func serverSettings() []system.Setting {
	all := []system.Setting{
		{Name: setHeap, Kind: system.Bytes, Default: "256MB",
			Doc: "each server's Java heap, reserved whole at the start; the page cache holds the messages (Kafka's scripts take 1GB)"},
		{Name: setGC, Kind: system.Text, Default: gcG1, OneOf: []string{gcG1, gcSerial},
			Doc: "Java's garbage collector: g1 with the options of Kafka's scripts, or serial, which takes less memory and pauses longer"},
		{Name: setSecurity, Kind: system.Text, Default: saslPlaintext, OneOf: []string{saslPlaintext, saslSSL, plaintext},
			Doc: "what clients and servers show each other: a password, a password over TLS, or nothing (Kafka's default)"},
		{Name: setNetworkThreads, Kind: system.Count, Default: "3",
			Doc: "threads of each server that read requests and send answers"},
		{Name: setIOThreads, Kind: system.Count, Default: "8",
			Doc: "threads of each server that carry requests out"},
		{Name: setReplicaFetchers, Kind: system.Count, Default: "1",
			Doc: "threads with which each server copies from each other one"},
		{Name: setSegmentBytes, Kind: system.Bytes, Default: "1GB",
			Doc: "size at which a partition begins a new file"},
		{Name: setMessageMax, Kind: system.Bytes, Default: "16MB",
			Doc: "largest batch that is accepted (Kafka's default is 1MB)"},
		{Name: setReplicaLag, Kind: system.Duration, Default: "30s",
			Doc: "how long a copy may lag before acks=all no longer waits for it"},
		{Name: setBrokerSession, Kind: system.Duration, Default: "9s",
			Doc: "after how long without a heartbeat a server's partitions go to others"},
	}
	for i := range all {
		all[i].Server = true
		all[i].Doc += ofAServerThatWeStart
	}
	return all
}

// serverConfig is the servers' settings in the types that they are used in.
type serverConfig struct {
	heap                        int64
	gc, security                string
	networkThreads, ioThreads   int64
	replicaFetchers             int64
	segmentBytes, messageMax    int64
	replicaLag, sessionTimeout  time.Duration
	replication, minISR, fsyncs int // fsyncs: messages between two; 0: as the kernel likes
}

func readServerConfig(s system.Settings, l workload.Level, nodes int) serverConfig {
	c := serverConfig{
		heap: s.Bytes(setHeap), gc: s.Text(setGC), security: s.Text(setSecurity),
		networkThreads: s.Count(setNetworkThreads), ioThreads: s.Count(setIOThreads), replicaFetchers: s.Count(setReplicaFetchers),
		segmentBytes: s.Bytes(setSegmentBytes), messageMax: s.Bytes(setMessageMax),
		replicaLag: s.Duration(setReplicaLag), sessionTimeout: s.Duration(setBrokerSession),
		replication: min(nodes, int(min(s.Count(setReplication), maxReplication))), minISR: 1,
	}
	if synchronous(l) {
		c.minISR = majority(c.replication)
	}
	if synced(l) {
		c.fsyncs = 1
	}
	return c
}

// checkNodes is all that is wrong with the servers to start, before anything
// is: nodes is their number, 0 when they run already.
func checkNodes(s system.Settings, nodes int) strict.Violations {
	var bad strict.Violations
	wrong := func(name, format string, args ...any) {
		bad = append(bad, s.Wrong(name, fmt.Sprintf(format, args...)))
	}
	if nodes == 0 {
		for _, d := range serverSettings() {
			if s.Given(d.Name) {
				wrong(d.Name, "shapes servers that plimsoll starts, and these run already: remove it, or remove the endpoints")
			}
		}
		return bad
	}
	for _, name := range []string{setNetworkThreads, setIOThreads, setReplicaFetchers} {
		if n := s.Count(name); n < 1 || n > 1000 {
			wrong(name, "must be from 1 to 1000")
		}
	}
	for _, name := range []string{setReplicaLag, setBrokerSession} {
		if d := s.Duration(name); d < time.Second || d > time.Hour {
			wrong(name, "must be from 1s to 1h")
		}
	}
	if n := s.Bytes(setHeap); n < leastHeap {
		wrong(setHeap, "must be at least %s: with less a server does not start", quantity.Bytes(leastHeap))
	}
	if n := s.Bytes(setSegmentBytes); n < leastSegment || n > largestInt32 {
		wrong(setSegmentBytes, "must be from %s to %d bytes", quantity.Bytes(leastSegment), largestInt32)
	}
	if n := s.Bytes(setMessageMax); n < 1<<10 || n > s.Bytes(setHeap)/4 {
		wrong(setMessageMax, "must be from 1KB to a quarter of %s, which is %s", setHeap, s.Text(setHeap))
	}
	if n := s.Count(setReplication); n > int64(nodes) {
		wrong(setReplication, "asks for %d copies of each partition, and the testbed has %d nodes: ask for more nodes, such as testbed: {nodes: %d}", n, nodes, n)
	}
	return bad
}

// identity is one server's place in its cluster, and the secrets that all
// share.
type identity struct {
	id             int    // from 1
	client, quorum string // the addresses it listens on: for clients and other brokers, for controllers
	voters         string // all servers, as controller.quorum.voters has them
	users          users
}

// users are the passwords that the servers know. They stand in
// server.properties, which only its owner may read, and nowhere else.
type users struct {
	bench, broker string
}

const (
	benchUser      = "bench"  // plimsoll's
	brokerUser     = "broker" // the servers', towards each other
	clientListener = "CLIENT"
	quorumListener = "CONTROLLER"
	dataFolder     = "data"
	tempFolder     = "tmp"
	hostsFile      = "hosts"
	propertiesFile = "server.properties"
	keyStoreFile   = "node.pem"
	caFile         = "ca.pem"
	// Internal topics spread over few partitions: each of 50, Kafka's default,
	// costs the start a file and an election on every server.
	offsetsPartitions     = 6
	transactionPartitions = 6
	sharePartitions       = 6
	// Kafka's 128 MB for the log cleaner do not fit a heap of that size.
	cleanerBuffer = 4 << 20
	// socketMax is Kafka's bound of a request; a batch must fit.
	socketMax = 100 << 20
)

// properties is the content of server.properties.
func (c serverConfig) properties(n identity) string {
	internalISR := majority(c.replication)
	p := propertyList{
		{"process.roles", "broker,controller"},
		{"node.id", strconv.Itoa(n.id)},
		{"controller.quorum.voters", n.voters},
		{"listeners", clientListener + "://" + n.client + "," + quorumListener + "://" + n.quorum},
		{"advertised.listeners", clientListener + "://" + n.client},
		{"controller.listener.names", quorumListener},
		{"inter.broker.listener.name", clientListener},
		{"listener.security.protocol.map", clientListener + ":" + c.protocol() + "," + quorumListener + ":" + c.protocol()},
		// Relative to the server's folder, as every path here: no path that a
		// user chose can then hold what means something in this file.
		{"log.dirs", dataFolder},

		{"default.replication.factor", strconv.Itoa(c.replication)},
		{"min.insync.replicas", strconv.Itoa(c.minISR)},
		{"unclean.leader.election.enable", "false"},
		{"auto.create.topics.enable", "false"},
		{"offsets.topic.replication.factor", strconv.Itoa(c.replication)},
		{"offsets.topic.num.partitions", strconv.Itoa(offsetsPartitions)},
		{"transaction.state.log.replication.factor", strconv.Itoa(c.replication)},
		{"transaction.state.log.min.isr", strconv.Itoa(internalISR)},
		{"transaction.state.log.num.partitions", strconv.Itoa(transactionPartitions)},
		{"share.coordinator.state.topic.replication.factor", strconv.Itoa(c.replication)},
		{"share.coordinator.state.topic.min.isr", strconv.Itoa(internalISR)},
		{"share.coordinator.state.topic.num.partitions", strconv.Itoa(sharePartitions)},
		// A consumer is there when it is opened, not seconds later.
		{"group.initial.rebalance.delay.ms", "0"},
		{"log.cleaner.dedupe.buffer.size", strconv.Itoa(cleanerBuffer)},

		{"num.network.threads", strconv.FormatInt(c.networkThreads, 10)},
		{"num.io.threads", strconv.FormatInt(c.ioThreads, 10)},
		{"num.replica.fetchers", strconv.FormatInt(c.replicaFetchers, 10)},
		{"log.segment.bytes", strconv.FormatInt(c.segmentBytes, 10)},
		{"message.max.bytes", strconv.FormatInt(c.messageMax, 10)},
		// A copy gets a batch that is larger than replica.fetch.max.bytes
		// nevertheless, so that stays Kafka's own.
		{"socket.request.max.bytes", strconv.FormatInt(max(socketMax, 2*c.messageMax), 10)},
		{"replica.lag.time.max.ms", strconv.FormatInt(c.replicaLag.Milliseconds(), 10)},
		{"broker.session.timeout.ms", strconv.FormatInt(c.sessionTimeout.Milliseconds(), 10)},
	}
	if c.fsyncs > 0 {
		p.add("log.flush.interval.messages", strconv.Itoa(c.fsyncs))
	}
	if c.security != plaintext {
		p.sasl(n.users)
	}
	if c.security == saslSSL {
		p.tls()
	}
	return p.String()
}

func (c serverConfig) protocol() string { return strings.ToUpper(c.security) }

// propertyList is a Java properties file. No value needs escaping but for
// backslashes, and none has one.
type propertyList []struct{ name, value string }

func (p *propertyList) add(name, value string) {
	*p = append(*p, struct{ name, value string }{name, value})
}

// sasl has both listeners ask for a password. Clients may use SCRAM as well,
// once somebody has given them a SCRAM password through the Admin API.
func (p *propertyList) sasl(u users) {
	const (
		plainLogin = "org.apache.kafka.common.security.plain.PlainLoginModule required"
		scramLogin = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
	)
	client, quorum := "listener.name."+strings.ToLower(clientListener)+".", "listener.name."+strings.ToLower(quorumListener)+"."
	own := fmt.Sprintf(`%s username="%s" password="%s" user_%s="%s"`, plainLogin, brokerUser, u.broker, brokerUser, u.broker)
	p.add("sasl.mechanism.inter.broker.protocol", "PLAIN")
	p.add("sasl.mechanism.controller.protocol", "PLAIN")
	p.add(client+"sasl.enabled.mechanisms", "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512")
	p.add(client+"plain.sasl.jaas.config", fmt.Sprintf(`%s user_%s="%s";`, own, benchUser, u.bench))
	p.add(client+"scram-sha-256.sasl.jaas.config", scramLogin)
	p.add(client+"scram-sha-512.sasl.jaas.config", scramLogin)
	p.add(quorum+"sasl.enabled.mechanisms", "PLAIN")
	p.add(quorum+"plain.sasl.jaas.config", own+";")
}

// tls has both listeners show the server's certificate. They ask for none of
// whoever connects: that is what the password is for.
func (p *propertyList) tls() {
	p.add("ssl.keystore.type", "PEM")
	p.add("ssl.keystore.location", keyStoreFile)
	p.add("ssl.truststore.type", "PEM")
	p.add("ssl.truststore.location", caFile)
}

func (p propertyList) String() string {
	var b strings.Builder
	for _, one := range p {
		fmt.Fprintf(&b, "%s=%s\n", one.name, one.value)
	}
	return b.String()
}

// javaOptions are those of Kafka's scripts, but for the heap, which is a
// setting. The folder for temporary files is the server's own: native
// libraries are unpacked into it and would stay after a kill. Names are looked
// up in the server's own hosts file.
func (c serverConfig) javaOptions(dir string) []string {
	heap := strconv.FormatInt(c.heap, 10)
	options := []string{"-Xms" + heap, "-Xmx" + heap}
	if c.gc == gcSerial {
		options = append(options, "-XX:+UseSerialGC")
	} else {
		options = append(options, "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent")
	}
	return append(options,
		"-Djava.awt.headless=true", "-Djava.net.preferIPv4Stack=true", "-Djava.io.tmpdir="+filepath.Join(dir, tempFolder),
		"-Djdk.net.hosts.file="+filepath.Join(dir, hostsFile),
		"-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
		"-Dorg.slf4j.simpleLogger.showShortLogName=true")
}
