package kafka

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
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
	setSASL              = "sasl_mechanism"
	setReplication       = "replication_factor"
	setTopicConfigs      = "topic_configs"
)

// Values of the settings, and what bounds them.
const (
	none           = "none"
	minReplication = 3
	maxReplication = 9
	// idempotentInFlight is how many requests to one broker the protocol
	// allows a producer whose copies are recognised.
	idempotentInFlight = 5
	largestInt32       = 1<<31 - 1
)

// declared is every setting: those of the clients, the topics, the servers.
func declared() []system.Setting {
	return slices.Concat(producerSettings(), consumerSettings(), topicSettings(), serverSettings())
}

func producerSettings() []system.Setting {
	return []system.Setting{
		{Name: setLinger, Kind: system.Duration, Default: "5ms",
			Doc: "how long a producer waits for a batch to fill (as the Java client does since " +
				"4.0)"},
		{Name: setBatchSize, Kind: system.Bytes, Default: "1MB",
			Doc: "most bytes of one batch of a partition (the Java client's default is 16KB)"},
		{Name: setMaxInFlight, Kind: system.Count, Default: "5",
			Doc: "most produce requests in flight to one broker; an idempotent producer always " +
				"has 5"},
		{Name: setCompression, Kind: system.Text, Default: none,
			OneOf: []string{none, "gzip", "snappy", "lz4", "zstd"},
			Doc:   "how batches are compressed"},
		{Name: setIdempotence, Kind: system.Bool, Default: "true",
			Doc: "let the brokers recognise copies that retries make; it needs acks=all, so " +
				"levels 3 and 4 go without"},
		{Name: setRequestTimeout, Kind: system.Duration, Default: "10s",
			Doc: "how long a broker may take for a produce request"},
		{Name: setDeliveryTimeout, Kind: system.Duration, Default: "30s",
			Doc: "how long a message is tried; an idempotent one that a broker may have got is " +
				"tried until the producer closes (the Java client's default is 2m)"},
		{Name: setTxnInterval, Kind: system.Duration, Default: "100ms",
			Doc: "exactly once: how often a producer commits its transaction"},
		{Name: setTxnTimeout, Kind: system.Duration, Default: "40s",
			Doc: "exactly once: when the coordinator aborts a transaction that its producer left"},
	}
}

func consumerSettings() []system.Setting {
	return []system.Setting{
		{Name: setFetchMinBytes, Kind: system.Bytes, Default: "1",
			Doc: "a fetch answers as soon as it has so many bytes"},
		{Name: setFetchMaxWait, Kind: system.Duration, Default: "500ms",
			Doc: "longest wait of a fetch for fetch_min_bytes"},
		{Name: setFetchMaxBytes, Kind: system.Bytes, Default: "50MB",
			Doc: "most bytes of one fetch"},
		{Name: setFetchMaxPartition, Kind: system.Bytes, Default: "1MB",
			Doc: "most bytes of one partition in a fetch"},
		{Name: setMaxPollRecords, Kind: system.Count, Default: "10000",
			Doc: "most messages handled between two looks at the group (the Java client's " +
				"default is 500)"},
		{Name: setCommitInterval, Kind: system.Duration, Default: "1s",
			Doc: "how often the position of what was handled is committed (the Java client's " +
				"default is 5s)"},
		{Name: setSessionTimeout, Kind: system.Duration, Default: "45s",
			Doc: "after how long without a heartbeat a consumer's partitions go to others"},
		{Name: setHeartbeat, Kind: system.Duration, Default: "3s",
			Doc: "how often a consumer shows that it lives, and hears of a rebalance"},
		{Name: setAssignment, Kind: system.Text, Default: "cooperative-sticky",
			OneOf: []string{"cooperative-sticky", "sticky", "range", "roundrobin"},
			Doc:   "how the partitions are shared among the consumers of a subscription"},
	}
}

func topicSettings() []system.Setting {
	return []system.Setting{
		{Name: setSASL, Kind: system.Text, Default: "plain",
			OneOf: []string{"plain", "scram-sha-256", "scram-sha-512"},
			Doc:   "how user and password are shown, when the target has them"},
		{Name: setReplication, Kind: system.Count, Default: "3",
			Doc: "replicas of each partition, 3 or more"},
		{Name: setTopicConfigs, Kind: system.Text, Default: none,
			Doc: "further configuration of each topic, as name=value, name=value; what makes " +
				"the durability level is set by it and cannot stand here"},
	}
}

// config is the settings in the types that the library takes.
type config struct {
	linger, requestTimeout, deliveryTimeout time.Duration
	batchSize                               int32
	maxInFlight                             int
	compression                             kgo.CompressionCodec
	idempotence                             bool
	txnInterval, txnTimeout                 time.Duration

	fetchMinBytes, fetchMaxBytes, fetchMaxPartition int32
	fetchMaxWait, commitInterval                    time.Duration
	session, heartbeat                              time.Duration
	maxPoll                                         int
	assignment                                      kgo.GroupBalancer

	sasl         string
	replication  int16
	topicConfigs map[string]string
}

// readConfig takes settings that problems found nothing wrong with.
func readConfig(s system.Settings) config {
	bytes := func(name string) int32 { return int32(min(s.Bytes(name), largestInt32)) }
	c := config{
		linger: s.Duration(setLinger), batchSize: bytes(setBatchSize),
		maxInFlight:     int(s.Count(setMaxInFlight)),
		requestTimeout:  s.Duration(setRequestTimeout),
		deliveryTimeout: s.Duration(setDeliveryTimeout),
		compression:     codecs[s.Text(setCompression)], idempotence: s.Bool(setIdempotence),
		txnInterval: s.Duration(setTxnInterval), txnTimeout: s.Duration(setTxnTimeout),
		fetchMinBytes: bytes(setFetchMinBytes), fetchMaxBytes: bytes(setFetchMaxBytes),
		fetchMaxPartition: bytes(setFetchMaxPartition),
		fetchMaxWait:      s.Duration(setFetchMaxWait), commitInterval: s.Duration(
			setCommitInterval),
		session: s.Duration(setSessionTimeout), heartbeat: s.Duration(setHeartbeat),
		maxPoll: int(s.Count(setMaxPollRecords)), assignment: balancers[s.Text(setAssignment)](),
		sasl: s.Text(setSASL), replication: int16(min(s.Count(setReplication), maxReplication)),
	}
	c.topicConfigs, _ = parseConfigs(s.Text(setTopicConfigs))
	return c
}

var codecs = map[string]kgo.CompressionCodec{
	none: kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

var balancers = map[string]func() kgo.GroupBalancer{
	"cooperative-sticky": kgo.CooperativeStickyBalancer, "sticky": kgo.StickyBalancer,
	"range": kgo.RangeBalancer, "roundrobin": kgo.RoundRobinBalancer,
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

// problems is all that is wrong with the settings at a level, before anything
// is connected to.
func problems(s system.Settings, l workload.Level) strict.Violations {
	var bad strict.Violations
	wrong := func(name, format string, args ...any) {
		bad = append(bad, s.Wrong(name, fmt.Sprintf(format, args...)))
	}
	for _, name := range []string{setRequestTimeout, setDeliveryTimeout, setTxnInterval,
		setTxnTimeout, setFetchMaxWait, setCommitInterval, setSessionTimeout, setHeartbeat} {
		if s.Duration(name) < time.Millisecond {
			wrong(name, "must be at least 1ms")
		}
	}
	for _, name := range []string{setBatchSize, setFetchMinBytes, setFetchMaxBytes,
		setFetchMaxPartition} {
		if n := s.Bytes(name); n < 1 || n > largestInt32 {
			wrong(name, "must be from 1 to %d bytes", largestInt32)
		}
	}
	if n := s.Bytes(setBatchSize); n > 0 && n < 1024 {
		wrong(setBatchSize, "must be at least 1KB")
	}
	if s.Duration(setLinger) < 0 || s.Duration(setLinger) > time.Minute {
		wrong(setLinger, "must be from 0s to 1m")
	}
	if n := s.Count(setMaxInFlight); n < 1 || n > 1000 {
		wrong(setMaxInFlight, "must be from 1 to 1000")
	}
	if n := s.Count(setMaxPollRecords); n < 1 || n > 1_000_000 {
		wrong(setMaxPollRecords, "must be from 1 to 1M")
	}
	if s.Duration(setHeartbeat)*2 > s.Duration(setSessionTimeout) {
		wrong(setHeartbeat, "must be at most half of %s, which is %s", setSessionTimeout,
			s.Text(setSessionTimeout))
	}
	if n := s.Count(setReplication); n < minReplication || n > maxReplication {
		wrong(setReplication, "must be from %d to %d, because every durability level asks for "+
			"copies", minReplication, maxReplication)
	}
	return append(bad, levelProblems(s, l)...)
}
