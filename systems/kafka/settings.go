package kafka

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the clients' and the topics' settings, in Kafka's own words without
// the unit.
const (
	setLinger            = "linger"
	setBatchSize         = "batch_size"
	setMaxInFlight       = "max_in_flight_requests"
	setCompression       = "compression_type"
	setIdempotence       = "enable_idempotence"
	setRequestTimeout    = "request_timeout"
	setDeliveryTimeout   = "delivery_timeout"
	setTxnInterval       = "transaction_interval"
	setTxnTimeout        = "transaction_timeout"
	setFetchMinBytes     = "fetch_min_bytes"
	setFetchMaxWait      = "fetch_max_wait"
	setFetchMaxBytes     = "fetch_max_bytes"
	setFetchMaxPartition = "max_partition_fetch_bytes"
	setMaxPollRecords    = "max_poll_records"
	setCommitInterval    = "auto_commit_interval"
	setSessionTimeout    = "session_timeout"
	setHeartbeat         = "heartbeat_interval"
	setAssignment        = "partition_assignment_strategy"
	setGroupType         = "group_type"
	setRecordLock        = "record_lock_duration"
	setMetadataAge       = "metadata_max_age"
	setReset             = "auto_offset_reset"
	setRack              = "client_rack"
	setSASL              = "sasl_mechanism"
	setReplication       = "replication_factor"
	setTopicConfigs      = "topic_configs"
)

// Values of the settings.
const (
	none        = "none"
	assignRange = "range"
	latest      = "latest"
	earliest    = "earliest"
)

// declared holds every setting of clients, topics and servers.
var declared = slices.Concat(clientSettings, serverSettings)

// clientSettings are the settings of producers, consumers and topics.
var clientSettings = system.MustSettings(`
linger duration 5ms 0s..1m
    how long a producer waits for a batch to fill (as the Java client does since 4.0)
batch_size bytes 1MB 1KB..2147483647 bytes
    most bytes of one batch of a partition (the Java client's default is 16KB)
max_in_flight_requests count 5 1..1000
    most produce requests in flight to one broker; an idempotent producer always has 5
compression_type text none none|gzip|snappy|lz4|zstd
    how batches are compressed
enable_idempotence bool true
    let the brokers recognise copies that retries make; it needs acks=all, so levels 3 and 4
    go without
request_timeout duration 10s 1ms..
    how long a broker may take for a produce request
delivery_timeout duration 30s 1ms..
    how long a message is retried; an idempotent one that a broker may have got is retried until
    the producer closes (the Java client's default is 2m)
transaction_interval duration 100ms 1ms..
    exactly once: how often a producer commits its transaction
transaction_timeout duration 40s 1ms..
    exactly once: when the coordinator aborts a transaction that its producer left
fetch_min_bytes bytes 1 1..2147483647 bytes
    a broker answers a fetch as soon as it has this many bytes
fetch_max_wait duration 500ms 1ms..
    longest wait of a fetch for fetch_min_bytes
fetch_max_bytes bytes 50MB 1..2147483647 bytes
    most bytes of one fetch
max_partition_fetch_bytes bytes 1MB 1..2147483647 bytes
    most bytes of one partition in a fetch
max_poll_records count 10000 1..1M
    most messages handled between two looks at the group (the Java client's default is 500); a
    member of a share group has at most 500 for itself, or as many if these are fewer
auto_commit_interval duration 1s 100ms..
    how often the position of handled messages is committed (the Java client's default is 5s)
session_timeout duration 45s 1ms..
    after how long without a heartbeat a consumer's partitions go to others
heartbeat_interval duration 3s 1ms..
    how often a consumer sends a heartbeat, whose answer announces a rebalance
partition_assignment_strategy text cooperative-sticky cooperative-sticky|sticky|range|roundrobin
    how the partitions are shared among the consumers of a subscription; the brokers of group_type
    consumer know range, and otherwise share evenly
group_type text classic classic|consumer|share
    what a subscription is: a consumer group whose members agree on their partitions (classic), one
    whose brokers assign them (consumer; Kafka 4.0, KIP-848), or a share group (Kafka 4.2,
    KIP-932), whose members take single records of all partitions
record_lock_duration duration 30s 15s..1h
    share groups: after how long a record without an acknowledgement is delivered again
metadata_max_age duration 5m 1s..
    how often clients look for new partitions
auto_offset_reset text earliest earliest|latest
    where a consumer group begins in a partition that is added later (the clients' own default,
    latest, misses what was sent before a consumer found it)
client_rack text none
    the rack of consumers: brokers that have racks and replica.selector.class let them fetch from
    a copy in theirs
sasl_mechanism text plain plain|scram-sha-256|scram-sha-512
    how clients authenticate when the target has user and password
replication_factor count 3 1..9
    replicas of each partition: 3 or more at levels 1 and 2; left out at levels 3 and 4, as many
    as there are brokers, up to 3
topic_configs text none
    further configuration of each topic, as name=value, name=value; except the values that the
    durability level sets
`)

// late reports whether groups begin at the end of a partition in which they have no position.
func (c *cluster) late() bool { return c.Text(setReset) == latest }

// reset is where a group begins in a partition in which it has no position.
func (c *cluster) reset() kgo.Offset {
	if c.late() {
		return kgo.NewOffset().AtEnd()
	}
	return kgo.NewOffset().AtStart()
}

var codecs = map[string]kgo.CompressionCodec{
	none: kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

var balancers = map[string]func() kgo.GroupBalancer{
	"cooperative-sticky": kgo.CooperativeStickyBalancer, "sticky": kgo.StickyBalancer,
	assignRange: kgo.RangeBalancer, "roundrobin": kgo.RoundRobinBalancer,
}

// parseConfigs reads name=value, name=value.
func parseConfigs(text string) (map[string]string, error) {
	all := map[string]string{}
	if text == none {
		return all, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("%q is not name=value: write them with commas between, like "+
				"retention.ms=60000, segment.bytes=1048576", strings.TrimSpace(part))
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("%q stands twice: keep one", name)
		}
		all[name] = value
	}
	return all, nil
}

func copiesOf(s system.Settings, l workload.Level) driver.Copies {
	return driver.Copies{Settings: s, Setting: setReplication, Level: l}
}

// problems returns the violations of the settings at a level. It makes no connection.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := driver.CheckRanges(s, clientSettings)
	if s.Duration(setHeartbeat)*2 > s.Duration(setSessionTimeout) {
		bad.Wrong(setHeartbeat, "must be at most half of %s, which is %s", setSessionTimeout,
			s.Text(setSessionTimeout))
	}
	if sharesRecords(s) && s.Text(setReset) == latest {
		bad.Wrong(setReset, "is for consumer groups: share groups begin at the start")
	}
	return append(append(bad.Violations, levelProblems(s, l)...), copiesOf(s, l).Check()...)
}
