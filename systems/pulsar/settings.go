package pulsar

import (
	"fmt"
	"slices"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the clients' and the topics' settings, in Pulsar's own words.
const (
	setBatchingDelay    = "batching_max_publish_delay"
	setBatchingMessages = "batching_max_messages"
	setBatchingSize     = "batching_max_size"
	setBatching         = "batching_enabled"
	setMaxPending       = "max_pending_messages"
	setMemoryLimit      = "memory_limit"
	setCompression      = "compression_type"
	setSendTimeout      = "send_timeout"
	setSubscriptionType = "subscription_type"
	setReceiverQueue    = "receiver_queue_size"
	setAckGroupTime     = "ack_grouping_max_time"
	setAckGroupSize     = "ack_grouping_max_size"
	setConnections      = "connections_per_broker"
	setOperationTimeout = "operation_timeout"
	setKeepAlive        = "keep_alive_interval"
	setTenant           = "tenant"
	setNamespace        = "namespace"
	setBundles          = "bundles"
	setEnsemble         = "ensemble"
	setWriteQuorum      = "write_quorum"
	setRetention        = "retention"
	setAdminEndpoints   = "admin_endpoints"
	setBookieHTTPPort   = "bookie_http_port"
)

// Values of the settings, and what bounds them.
const (
	none          = "none"
	infinite      = "infinite"
	auto          = "auto"
	exclusive     = "exclusive"
	failover      = "failover"
	shared        = "shared"
	keyShared     = "key_shared"
	minEnsemble   = 3
	maxEnsemble   = 9
	minKeepAlive  = time.Second
	largestFrame  = 5 << 20 // what brokers take of one batch unless they are told otherwise
	connectionCap = 100
)

// declared is every setting: those of the clients, the topics, the servers.
func declared() []system.Setting {
	return slices.Concat(producerSettings(), consumerSettings(), clientSettings(), topicSettings(),
		serverSettings())
}

func producerSettings() []system.Setting {
	return []system.Setting{
		{Name: setBatching, Kind: system.Bool, Default: "true",
			Doc: "gather the messages of a partition into batches"},
		{Name: setBatchingDelay, Kind: system.Duration, Default: "1ms",
			Doc: "how often a producer sends what it has gathered for a partition; the Go " +
				"client's clock ticks for each partition and is not started by a message, so a " +
				"message waits half of it on average (its default is 10ms)"},
		{Name: setBatchingMessages, Kind: system.Count, Default: "100000",
			Doc: "most messages of one batch (the client's default, 1000, ends batches of small " +
				"messages early)"},
		{Name: setBatchingSize, Kind: system.Bytes, Default: "1MB",
			Doc: "most bytes of one batch (the client's default is 128KB)"},
		{Name: setMaxPending, Kind: system.Count, Default: "10000",
			Doc: "most unanswered messages of one producer in one partition; sending waits when " +
				"there are more (the client's default is 1000)"},
		{Name: setMemoryLimit, Kind: system.Bytes, Default: "0",
			Doc: "most bytes of unanswered messages of one producer; sending waits when there " +
				"are more; 0: the number of messages alone bounds them (the client's default is " +
				"64MB)"},
		{Name: setCompression, Kind: system.Text, Default: none,
			OneOf: []string{none, "lz4", "zlib", "zstd", "snappy"},
			Doc:   "how batches are compressed"},
		{Name: setSendTimeout, Kind: system.Duration, Default: "30s",
			Doc: "after how long without an answer a message counts as unanswered; the client " +
				"goes on trying it until the producer closes"},
	}
}

func consumerSettings() []system.Setting {
	return []system.Setting{
		{Name: setSubscriptionType, Kind: system.Text, Default: failover,
			OneOf: []string{exclusive, failover, shared, keyShared},
			Doc: "who of a subscription's consumers gets a message: failover gives each " +
				"partition to one of them and keeps its order, shared deals messages out in " +
				"turn and keeps none, key_shared keeps the order of each key, exclusive " +
				"allows one consumer (the client's default)"},
		{Name: setReceiverQueue, Kind: system.Count, Default: "1000",
			Doc: "most messages of one partition that a consumer has fetched and not handled"},
		{Name: setAckGroupTime, Kind: system.Duration, Default: "100ms",
			Doc: "longest that acknowledgements are gathered before they are sent; 0: each at " +
				"once"},
		{Name: setAckGroupSize, Kind: system.Count, Default: "1000",
			Doc: "most acknowledgements that are gathered before they are sent"},
	}
}

func clientSettings() []system.Setting {
	return []system.Setting{
		{Name: setConnections, Kind: system.Count, Default: "1",
			Doc: "connections of each producer and each consumer to each broker"},
		{Name: setOperationTimeout, Kind: system.Duration, Default: "10s",
			Doc: "how long opening, closing and lookups may take (the client's default is 30s)"},
		{Name: setKeepAlive, Kind: system.Duration, Default: "30s",
			Doc: "how often an idle connection is asked whether it lives; one that is silent " +
				"for twice as long is given up"},
		{Name: setAdminEndpoints, Kind: system.Text, Default: auto,
			Doc: "where the brokers' admin API is, as host:port with commas between; auto: port " +
				"8080 of the endpoints' hosts, with TLS 8443"},
		{Name: setBookieHTTPPort, Kind: system.Count, Default: "8000",
			Doc: "port at which the bookies tell their configuration over HTTP; levels 1 and 3 " +
				"are read back there"},
	}
}

func topicSettings() []system.Setting {
	return []system.Setting{
		{Name: setTenant, Kind: system.Text, Default: "public",
			Doc: "tenant of the topics; it must be there"},
		{Name: setNamespace, Kind: system.Text, Default: "plimsoll",
			Doc: "namespace of the topics; -level-1 to -level-4 is put behind it, because a " +
				"namespace's persistence policy makes the level"},
		{Name: setBundles, Kind: system.Count, Default: "12",
			Doc: "bundles of the namespace, which are what brokers share out among them " +
				"(Pulsar's default, 4, gives one of three brokers half of the load)"},
		{Name: setEnsemble, Kind: system.Count, Default: "3",
			Doc: "bookies that each ledger is spread over, 3 or more; with as many as there are " +
				"bookies a dead one stalls writes until it is back, because no other can take " +
				"its place"},
		{Name: setWriteQuorum, Kind: system.Count, Default: "3",
			Doc: "copies of each entry, 3 or more; the acknowledgement waits for a majority of " +
				"them at levels 1 and 2, for one at levels 3 and 4"},
		{Name: setRetention, Kind: system.Text, Default: infinite, OneOf: []string{infinite, none},
			Doc: "infinite keeps everything, none deletes ledgers that all subscriptions have " +
				"acknowledged (Pulsar's default)"},
	}
}

// config is the settings in the types that the library takes.
type config struct {
	batching              bool
	batchingDelay         time.Duration
	batchingMessages      uint
	batchingSize          uint
	maxPending            int
	memoryLimit           int64
	compression           client.CompressionType
	sendTimeout           time.Duration
	subscription          client.SubscriptionType
	receiverQueue         int
	ackGroupTime          time.Duration
	ackGroupSize          uint32
	connections           int
	operationTimeout      time.Duration
	keepAlive             time.Duration
	tenant, namespace     string
	bundles               int
	ensemble, writeQuorum int
	keep                  bool
	adminEndpoints        string
	bookieHTTPPort        int
}

// readConfig takes settings that problems found nothing wrong with.
func readConfig(s system.Settings) config {
	c := config{
		batching: s.Bool(setBatching), batchingDelay: s.Duration(setBatchingDelay),
		batchingMessages: uint(s.Count(setBatchingMessages)),
		batchingSize:     uint(s.Bytes(setBatchingSize)),
		maxPending:       int(s.Count(setMaxPending)), memoryLimit: s.Bytes(setMemoryLimit),
		compression: compressions[s.Text(setCompression)], sendTimeout: s.Duration(setSendTimeout),
		subscription:  subscriptionTypes[s.Text(setSubscriptionType)],
		receiverQueue: int(s.Count(setReceiverQueue)),
		ackGroupTime:  s.Duration(setAckGroupTime), ackGroupSize: uint32(s.Count(setAckGroupSize)),
		connections:      int(s.Count(setConnections)),
		operationTimeout: s.Duration(setOperationTimeout),
		keepAlive:        s.Duration(setKeepAlive),
		tenant:           s.Text(setTenant), namespace: s.Text(setNamespace),
		bundles:  int(s.Count(setBundles)),
		ensemble: int(s.Count(setEnsemble)), writeQuorum: int(s.Count(setWriteQuorum)),
		keep: s.Text(setRetention) == infinite, adminEndpoints: s.Text(setAdminEndpoints),
		bookieHTTPPort: int(s.Count(setBookieHTTPPort)),
	}
	if c.memoryLimit == 0 {
		c.memoryLimit = -1 // the client library's way of saying none
	}
	if s.Text(setTopology) == standalone {
		c.ensemble, c.writeQuorum = 1, 1
	}
	return c
}

var compressions = map[string]client.CompressionType{
	none: client.NoCompression, "lz4": client.LZ4, "zlib": client.ZLib, "zstd": client.ZSTD,
	"snappy": client.SNAPPY,
}

var subscriptionTypes = map[string]client.SubscriptionType{
	exclusive: client.Exclusive, failover: client.Failover, shared: client.Shared,
	keyShared: client.KeyShared,
}

// problems is all that is wrong with the settings at a level, before anything
// is connected to.
func problems(s system.Settings, l workload.Level) strict.Violations {
	var bad strict.Violations
	wrong := func(name, format string, args ...any) {
		bad = append(bad, s.Wrong(name, fmt.Sprintf(format, args...)))
	}
	count := func(name string, least, most int64) {
		if n := s.Count(name); n < least || n > most {
			wrong(name, "must be from %d to %d", least, most)
		}
	}
	count(setBatchingMessages, 1, 1_000_000)
	count(setMaxPending, 1, 1_000_000)
	count(setReceiverQueue, 1, 1_000_000)
	count(setAckGroupSize, 1, 1_000_000)
	count(setConnections, 1, connectionCap)
	count(setBundles, 1, 1024)
	count(setBookieHTTPPort, 1, 65535)
	if d := s.Duration(setBatchingDelay); d < 10*time.Microsecond || d > time.Minute {
		wrong(setBatchingDelay, "must be from 10us to 1m; to send each message at once set %s "+
			"to false", setBatching)
	}
	if n := s.Bytes(setBatchingSize); n < 1<<10 || n > largestFrame {
		wrong(setBatchingSize, "must be from 1KB to 5MB, the most that a broker takes")
	}
	for _, name := range []string{setSendTimeout, setOperationTimeout, setKeepAlive} {
		if d := s.Duration(name); d < time.Second || d > time.Hour {
			wrong(name, "must be from 1s to 1h")
		}
	}
	if d := s.Duration(setAckGroupTime); d < 0 || d > time.Minute {
		wrong(setAckGroupTime, "must be from 0s to 1m")
	}
	for _, name := range []string{setTenant, setNamespace} {
		if !validName(s.Text(name)) {
			wrong(name, "must be letters, digits, - and _, such as plimsoll")
		}
	}
	if _, err := parseAdmin(s.Text(setAdminEndpoints)); err != nil {
		wrong(setAdminEndpoints, "%v", err)
	}
	return append(bad, levelProblems(s, l)...)
}

// validName says whether a name can be a part of a topic's and of a path.
func validName(name string) bool {
	for _, r := range name {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' ||
			r == '_'
		if !plain {
			return false
		}
	}
	return name != "" && len(name) <= 100
}
