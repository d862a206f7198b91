package nats

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the settings, in JetStream's own words.
const (
	setAckTimeout       = "ack_timeout"
	setReconnectBuffer  = "reconnect_buf_size"
	setPullMaxMessages  = "pull_max_messages"
	setPullExpires      = "pull_expires"
	setPullHeartbeat    = "pull_heartbeat"
	setAckWait          = "ack_wait"
	setMaxAckPending    = "max_ack_pending"
	setDeliverPolicy    = "deliver_policy"
	setConsumerReplicas = "consumer_replicas"
	setConsumerMemory   = "consumer_mem_storage"
	setReplicas         = "num_replicas"
	setTopicsPerStream  = "topics_per_stream"
	setStorage          = "storage"
	setRetention        = "retention"
	setMaxAge           = "max_age"
	setMaxBytes         = "max_bytes"
	setDiscard          = "discard"
	setCompression      = "compression"
	setServers          = "servers"
	setSyncInterval     = "sync_interval"
	setMaxFileStore     = "max_file_store"
	setMaxMemoryStore   = "max_memory_store"
	setMaxPayload       = "max_payload"
	setMaxBufferedMsgs  = "max_buffered_msgs"
	setMaxBufferedSize  = "max_buffered_size"
)

// Values of the settings, and what bounds them.
const (
	valueFile      = "file"
	valueMemory    = "memory"
	valueInterest  = "interest"
	valueAll       = "all"
	valueOld       = "old"
	valueS2        = "s2"
	valueAuto      = "auto"
	valueEmbedded  = "embedded"
	valueProcesses = "processes"
	minReplicas    = 3
	maxReplicas    = 5
	minHeartbeat   = 100 * time.Millisecond
)

// declared is every setting, with the default that is echoed in the result.
// The defaults are the server's and the client library's own except where the
// sentence says otherwise.
func declared() []system.Setting {
	var all []system.Setting
	all = append(all, clientSettings()...)
	all = append(all, streamSettings()...)
	return append(all, serverSettings()...)
}

func clientSettings() []system.Setting {
	return []system.Setting{
		{Name: setAckTimeout, Kind: system.Duration, Default: "5s",
			Doc: "longest wait for the acknowledgement of a publish; after it the message " +
				"counts as unanswered"},
		{Name: setReconnectBuffer, Kind: system.Bytes, Default: "8MB",
			Doc: "most bytes that a client holds back while it reconnects; 0: publishing fails " +
				"at once"},
		{Name: setPullMaxMessages, Kind: system.Count, Default: "500",
			Doc: "most messages that a consumer has asked for and not handled, in two requests"},
		{Name: setPullExpires, Kind: system.Duration, Default: "1s",
			Doc: "how long a pull request stands, and so how long closing a consumer takes (the " +
				"library's default is 30s)"},
		{Name: setPullHeartbeat, Kind: system.Duration, Default: "500ms",
			Doc: "how often an idle pull request shows that it lives; two missed and the " +
				"consumer asks again (the library's default is half of pull_expires)"},
		{Name: setAckWait, Kind: system.Duration, Default: "30s",
			Doc: "how long the server waits for an acknowledgement before it delivers a message " +
				"again"},
		{Name: setMaxAckPending, Kind: system.Count, Default: "10000",
			Doc: "most messages of one subscription that are delivered and not acknowledged " +
				"(the server's default is 1000)"},
		{Name: setDeliverPolicy, Kind: system.Text, Default: valueAll,
			OneOf: []string{valueAll, "new"},
			Doc:   "where a new subscription begins: at the first message kept, or at the next one"},
		{Name: setConsumerReplicas, Kind: system.Count, Default: "0",
			Doc: "replicas of a subscription's own state; 0: as many as the stream has"},
		{Name: setConsumerMemory, Kind: system.Bool, Default: "false",
			Doc: "keep a subscription's own state in memory only"},
	}
}

func streamSettings() []system.Setting {
	return []system.Setting{
		{Name: setReplicas, Kind: system.Count, Default: "3",
			Doc: "copies of each stream, 3 to 5: Raft replicas at levels 1 and 2, one stream " +
				"and its mirrors at levels 3 and 4"},
		{Name: setTopicsPerStream, Kind: system.Count, Default: "1",
			Doc: "how many topics share a stream, each as subjects of its own; they share its " +
				"limits, and their messages go with the last of them; 1: each topic is a " +
				"stream, with copies, a leader and timers of its own"},
		{Name: setStorage, Kind: system.Text, Default: valueFile,
			OneOf: []string{valueFile, valueMemory},
			Doc:   "where a stream keeps its messages"},
		{Name: setRetention, Kind: system.Text, Default: "limits",
			OneOf: []string{"limits", valueInterest},
			Doc: "limits keeps everything up to max_age and max_bytes; interest deletes what " +
				"every subscription has acknowledged"},
		{Name: setMaxAge, Kind: system.Duration, Default: "0s",
			Doc: "age at which a stream deletes a message; 0: never"},
		{Name: setMaxBytes, Kind: system.Bytes, Default: "0",
			Doc: "size at which a stream is full; 0: when the server's store is"},
		{Name: setDiscard, Kind: system.Text, Default: "new", OneOf: []string{"new", valueOld},
			Doc: "what a full stream does: refuse new messages, or drop the oldest ones unread " +
				"(the server's default)"},
		{Name: setCompression, Kind: system.Text, Default: "none", OneOf: []string{"none", valueS2},
			Doc: "how a stream compresses its files"},
	}
}

func serverSettings() []system.Setting {
	return driver.ServerSettings([]system.Setting{
		{Name: setServers, Kind: system.Text, Default: valueAuto,
			OneOf: []string{valueAuto, valueEmbedded, valueProcesses},
			Doc: "where the servers run: embedded in plimsoll's own process, or processes, each " +
				"at a host of its own, which can be broken and mended; auto: processes where they " +
				"are to be broken, otherwise embedded"},
		{Name: setSyncInterval, Kind: system.Duration, Default: "2m",
			Doc: "how often files are synced at levels 2 and 4; levels 1 and 3 sync every write"},
		{Name: setMaxFileStore, Kind: system.Bytes, Default: "0",
			Doc: "most disk that each server fills; " +
				"0: an equal part of nine tenths of what is free"},
		{Name: setMaxMemoryStore, Kind: system.Bytes, Default: "1GB",
			Doc: "most memory that each server's memory streams fill"},
		{Name: setMaxPayload, Kind: system.Bytes, Default: "1MB",
			Doc: "largest message"},
		{Name: setMaxBufferedMsgs, Kind: system.Count, Default: "100000",
			Doc: "most messages that wait to enter a stream; beyond it publishes are refused"},
		{Name: setMaxBufferedSize, Kind: system.Bytes, Default: "128MB",
			Doc: "most bytes that wait to enter a stream; beyond it publishes are refused"},
	})
}

// config is the settings, read once.
type config struct {
	ackTimeout      time.Duration
	reconnectBuffer int
	pull            pullConfig
	consumer        jetstream.ConsumerConfig // what all subscriptions have in common
	// what all streams have in common; Replicas is the number of copies
	stream          jetstream.StreamConfig
	topicsPerStream int
	server          serverConfig
}

type pullConfig struct {
	messages           int
	expires, heartbeat time.Duration
}

type serverConfig struct {
	where                 string // the servers run: setServers
	syncInterval          time.Duration
	maxFile, maxMemory    int64
	maxPayload            int64
	bufferedMsgs, bufSize int64
}

// Check says what is wrong as far as one can without a server.
func (natsSystem) Check(asked system.Check) error {
	c := readConfig(asked.Settings)
	bad := c.problems(asked.Settings, asked.Durability)
	if asked.Nodes > 0 {
		bad = append(bad, tooFewNodes(c, asked.Nodes)...)
		return bad.Err()
	}
	return append(bad, driver.AlreadyRunning(asked.Settings, serverSettings())...).Err()
}

func tooFewNodes(c config, nodes int) strict.Violations {
	if nodes >= c.stream.Replicas || c.stream.Replicas > maxReplicas {
		return nil
	}
	return strict.Violations{{Message: fmt.Sprintf("%d copies of each stream need as many "+
		"nodes, not %d: ask for more nodes", c.stream.Replicas, nodes)}}
}

// readConfig reads the settings.
func readConfig(s system.Settings) config {
	c := config{
		ackTimeout:      s.Duration(setAckTimeout),
		reconnectBuffer: int(s.Bytes(setReconnectBuffer)),
		pull: pullConfig{
			messages: int(s.Count(setPullMaxMessages)),
			expires:  s.Duration(setPullExpires), heartbeat: s.Duration(setPullHeartbeat),
		},
		consumer: consumerConfig(s),
		stream:   streamConfig(s), topicsPerStream: int(s.Count(setTopicsPerStream)),
		server: serverConfig{
			where:        s.Text(setServers),
			syncInterval: s.Duration(setSyncInterval),
			maxFile:      s.Bytes(setMaxFileStore), maxMemory: s.Bytes(setMaxMemoryStore),
			maxPayload:   s.Bytes(setMaxPayload),
			bufferedMsgs: s.Count(setMaxBufferedMsgs), bufSize: s.Bytes(setMaxBufferedSize),
		},
	}
	if c.reconnectBuffer == 0 {
		c.reconnectBuffer = -1 // the client library's way of saying none
	}
	return c
}

func consumerConfig(s system.Settings) jetstream.ConsumerConfig {
	c := jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckWait:       s.Duration(setAckWait),
		MaxAckPending: int(s.Count(setMaxAckPending)),
		MaxDeliver:    -1,
		Replicas:      int(s.Count(setConsumerReplicas)),
		MemoryStorage: s.Bool(setConsumerMemory),
	}
	if s.Text(setDeliverPolicy) != valueAll {
		c.DeliverPolicy = jetstream.DeliverNewPolicy
	}
	return c
}

func streamConfig(s system.Settings) jetstream.StreamConfig {
	c := jetstream.StreamConfig{
		Replicas:    int(s.Count(setReplicas)),
		Storage:     jetstream.FileStorage,
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardNew,
		Compression: jetstream.NoCompression,
		MaxAge:      s.Duration(setMaxAge),
		MaxBytes:    -1,
		MaxMsgs:     -1,
		PersistMode: jetstream.DefaultPersistMode,
	}
	if s.Text(setStorage) == valueMemory {
		c.Storage = jetstream.MemoryStorage
	}
	if s.Text(setRetention) == valueInterest {
		c.Retention = jetstream.InterestPolicy
	}
	if s.Text(setDiscard) == valueOld {
		c.Discard = jetstream.DiscardOld
	}
	if s.Text(setCompression) == valueS2 {
		c.Compression = jetstream.S2Compression
	}
	if limit := s.Bytes(setMaxBytes); limit > 0 {
		c.MaxBytes = limit
	}
	return c
}

// problems is what is wrong with the settings, and why they cannot give the
// level.
func (c config) problems(s system.Settings, l workload.Level) strict.Violations {
	var bad strict.Violations
	for _, rule := range []struct {
		broken  bool
		setting string
		must    string
	}{
		{c.ackTimeout <= 0, setAckTimeout, "must be above 0"},
		{c.pull.messages < 1, setPullMaxMessages, "must be at least 1"},
		{c.pull.heartbeat < minHeartbeat, setPullHeartbeat,
			"must be at least " + quantity.ExactDuration(minHeartbeat)},
		{c.pull.heartbeat > c.pull.expires/2, setPullExpires,
			fmt.Sprintf("must be at least twice %s, which is %s", setPullHeartbeat,
				quantity.ExactDuration(c.pull.heartbeat))},
		{c.topicsPerStream < 1, setTopicsPerStream, "must be at least 1"},
		{c.stream.Replicas < minReplicas || c.stream.Replicas > maxReplicas, setReplicas,
			fmt.Sprintf("must be %d to %d, because every durability level asks for copies",
				minReplicas, maxReplicas)},
		{c.consumer.MaxAckPending < 1, setMaxAckPending, "must be at least 1"},
		{c.consumer.AckWait <= 0, setAckWait, "must be above 0"},
	} {
		if rule.broken {
			bad = append(bad, s.Wrong(rule.setting, rule.must))
		}
	}
	return append(bad, c.levelProblems(s, l)...)
}
