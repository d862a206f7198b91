package pulsar

import (
	"slices"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
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
	setDiscovery        = "partition_discovery"
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

// Values of the settings and their bounds.
const (
	none        = "none"
	infinite    = "infinite"
	auto        = "auto"
	exclusive   = "exclusive"
	failover    = "failover"
	shared      = "shared"
	keyShared   = "key_shared"
	maxEnsemble = 9
)

// declared holds every setting of clients, topics and servers.
var declared = slices.Concat(clientSettings, serverSettings)

// clientSettings are the settings of producers, consumers, connections and topics.
var clientSettings = system.MustSettings(`
batching_enabled bool true
    gather the messages of a partition into batches
batching_max_publish_delay duration 1ms 10us..1m; to send at once set batching_enabled to false
    how often a producer sends what it has gathered for a partition; the Go client's clock
    ticks for each partition and is not started by a message, so a message waits half of it on
    average (its default is 10ms)
batching_max_messages count 100000 1..1000000
    most messages of one batch (the client's default, 1000, ends batches of small messages
    early)
batching_max_size bytes 1MB 1KB..5MB, the most that a broker takes
    most bytes of one batch (the client's default is 128KB)
max_pending_messages count 10000 1..1000000
    most unanswered messages of one producer in one partition; sending waits when there are
    more (the client's default is 1000)
memory_limit bytes 0
    most bytes of unanswered messages of one producer; sending waits when there are more; 0:
    the number of messages alone bounds them (the client's default is 64MB)
compression_type text none none|lz4|zlib|zstd|snappy
    how batches are compressed
send_timeout duration 30s 1s..1h
    after this time without an answer a message counts as unanswered; the client goes on trying
    it until the producer closes
subscription_type text failover exclusive|failover|shared|key_shared
    which consumer of a subscription gets a message: failover gives each partition to one of
    them and keeps its order, shared deals messages out in turn and keeps none, key_shared
    keeps the order of each key, exclusive allows one consumer (the client's default)
receiver_queue_size count 1000 1..1000000
    most messages of one partition that a consumer has fetched and not handled
ack_grouping_max_time duration 100ms 0s..1m
    longest that acknowledgements are gathered before they are sent; 0: each at once
ack_grouping_max_size count 1000 1..1000000
    most acknowledgements that are gathered before they are sent
partition_discovery duration 1m 1s..1h
    how often producers and consumers look for new partitions
connections_per_broker count 1 1..100
    connections of each producer and each consumer to each broker
operation_timeout duration 10s 1s..1h
    how long opening, closing and lookups may take (the client's default is 30s)
keep_alive_interval duration 30s 1s..1h
    how often an idle connection is checked; one that is silent for twice as long is
    closed
admin_endpoints text auto
    where the brokers' admin API is, as host:port with commas between; auto: port 8080 of the
    endpoints' hosts, with TLS 8443
bookie_http_port count 8000 1..65535
    port at which bookies show their configuration over HTTP; levels 1 and 3 are read back
    there
tenant text public
    tenant of the topics; it must exist
namespace text plimsoll
    namespace of the topics; -level-1 to -level-4 is appended, because a namespace's
    persistence policy decides the level
bundles count 12 1..1024
    bundles of the namespace, which are distributed over the brokers (Pulsar's default,
    4, gives one of three brokers half of the load)
ensemble count 3
    bookies that each ledger is spread over: 3 or more at levels 1 and 2; left out at levels 3
    and 4, as many as there are, up to 3; with as many as there are bookies a dead one stalls
    writes until it is back, because no other can take its place
write_quorum count 3
    copies of each entry, at most ensemble, 3 or more at levels 1 and 2; the acknowledgement
    waits for a majority of them at levels 1 and 2, for one at levels 3 and 4
retention text infinite infinite|none
    infinite keeps everything, none deletes ledgers that all subscriptions have acknowledged
    (Pulsar's default)
`)

// copies is how many bookies have a ledger, and how many of them an entry.
type copies struct{ ensemble, writeQuorum int }

// readCopies reads settings that passed problems.
func readCopies(s system.Settings) copies {
	if s.Text(setTopology) == standalone {
		return copies{1, 1}
	}
	c := copies{int(s.Count(setEnsemble)), int(s.Count(setWriteQuorum))}
	if !s.Given(setWriteQuorum) {
		c.writeQuorum = min(c.writeQuorum, c.ensemble)
	}
	return c
}

func copiesOf(s system.Settings, l workload.Level) driver.Copies {
	return driver.Copies{Settings: s, Setting: setEnsemble, Level: l}
}

// fit limits the copies that the target leaves to the number of bookies.
func (c *copies) fit(s system.Settings, l workload.Level, bookies int) {
	if s.Text(setTopology) == standalone {
		return
	}
	c.ensemble = copiesOf(s, l).On(bookies)
	if !s.Given(setWriteQuorum) {
		c.writeQuorum = min(c.writeQuorum, c.ensemble)
	}
}

var compressions = map[string]client.CompressionType{
	none: client.NoCompression, "lz4": client.LZ4, "zlib": client.ZLib, "zstd": client.ZSTD,
	"snappy": client.SNAPPY,
}

var subscriptionTypes = map[string]client.SubscriptionType{
	exclusive: client.Exclusive, failover: client.Failover, shared: client.Shared,
	keyShared: client.KeyShared,
}

// problems returns the violations of the settings at a level. It makes no connection.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := driver.CheckRanges(s, clientSettings)
	for _, name := range []string{setTenant, setNamespace} {
		if !validName(s.Text(name)) {
			bad.Wrong(name, "must be letters, digits, - and _, such as plimsoll")
		}
	}
	if _, err := parseAdmin(s.Text(setAdminEndpoints)); err != nil {
		bad.Wrong(setAdminEndpoints, "%v", err)
	}
	return append(bad.Violations, levelProblems(s, l)...)
}

// validName reports whether a name can be part of a topic's name and of a path.
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
