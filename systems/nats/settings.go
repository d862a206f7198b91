package nats

import (
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the settings, in JetStream's own words.
const (
	setLinger           = "linger"
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

// Values of the settings and their bounds.
const (
	valueFile      = "file"
	valueMemory    = "memory"
	valueInterest  = "interest"
	valueAll       = "all"
	valueOld       = "old"
	valueS2        = "s2"
	valueAuto      = "auto"
	valueProcesses = "processes"
)

// declared lists every setting, with the default that the result shows. The defaults are the
// server's and the client library's own except where the sentence says otherwise.
var declared = slices.Concat(clientSettings, serverSettings)

// clientSettings are the settings of clients, subscriptions and streams.
var clientSettings = system.MustSettings(`
linger duration 0s 0s..1m
    how long a producer waits for an atomic batch to fill, of at most 1,000 messages and 8MB,
    which the servers store and acknowledge as one; 0: each message is published by itself
ack_timeout duration 5s
    longest wait for the acknowledgement of a publish; after it the message counts as
    unanswered
reconnect_buf_size bytes 8MB
    most bytes that a client holds back while it reconnects; 0: publishing fails at once
pull_max_messages count 500 1..
    most messages that a consumer has asked for and not handled, in two requests
pull_expires duration 1s
    how long a pull request stays open, and so how long closing a consumer takes (the library's
    default is 30s)
pull_heartbeat duration 500ms 100ms..
    how often the server confirms an idle pull request; after two misses the consumer asks again
    (the library's default is half of pull_expires)
ack_wait duration 30s
    how long the server waits for an acknowledgement before it delivers a message again
max_ack_pending count 10000 1..
    most messages of one subscription that are delivered and not acknowledged (the server's
    default is 1000)
deliver_policy text all all|new
    where a new subscription begins: at the first message kept, or at the next one
consumer_replicas count 0
    replicas of a subscription's own state; 0: as many as the stream has
consumer_mem_storage bool false
    keep a subscription's own state in memory only
num_replicas count 3 1..5
    copies of each stream: 3 to 5 Raft replicas at levels 1 and 2; one stream and its mirrors at
    levels 3 and 4, left out 3, or 1 on a server without a cluster
topics_per_stream count 1 1..
    how many topics share a stream, each as subjects of its own; they share its limits, and
    their messages go with the last of them; 1: each topic is a stream, with copies, a leader
    and timers of its own
storage text file file|memory
    where a stream keeps its messages
retention text limits limits|interest
    limits keeps everything up to max_age and max_bytes; interest deletes what every
    subscription has acknowledged
max_age duration 0s
    age at which a stream deletes a message; 0: never
max_bytes bytes 0
    size at which a stream is full; 0: when the server's store is
discard text new new|old
    what a full stream does: refuse new messages, or drop the oldest ones unread (the server's
    default)
compression text none none|s2
    how a stream compresses its files
`)

var serverSettings = driver.ServerSettings(system.MustSettings(`
servers text auto auto|embedded|processes
    where the servers run: embedded in plimsoll's own process, or processes, each on its own
    address and open to faults; auto: processes if faults are to be injected or the servers
    have their own CPUs, otherwise embedded
sync_interval duration 2m
    levels 2 and 4: how often files are synced; levels 1 and 3 sync every write
max_file_store bytes 0
    most disk that each server fills; 0: an equal part of nine tenths of what is free
max_memory_store bytes 1GB
    most memory that each server's memory streams fill
max_payload bytes 1MB
    largest message
max_buffered_msgs count 100000
    most messages that wait to enter a stream; beyond it publishes are refused
max_buffered_size bytes 128MB
    most bytes that wait to enter a stream; beyond it publishes are refused
`))

// Check returns all violations of a request. It contacts no server.
func (natsSystem) Check(asked system.Check) error {
	bad := problems(asked.Settings, asked.Durability)
	if asked.Nodes > 0 {
		bad = append(bad, copiesOf(asked.Settings, asked.Durability).CheckNodes(asked.Nodes)...)
		return bad.Err()
	}
	return append(bad, driver.AlreadyRunning(asked.Settings, serverSettings)...).Err()
}

func copiesOf(s system.Settings, l workload.Level) driver.Copies {
	return driver.Copies{Settings: s, Setting: setReplicas, Level: l}
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

		AllowAtomicPublish: s.Duration(setLinger) > 0,
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

// problems returns the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad, heartbeat := s.OutOfRange(clientSettings), s.Duration(setPullHeartbeat)
	for _, rule := range []struct {
		broken  bool
		setting string
		must    string
	}{
		{s.Duration(setAckTimeout) <= 0, setAckTimeout, "must be above 0"},
		{heartbeat > s.Duration(setPullExpires)/2, setPullExpires,
			fmt.Sprintf("must be at least twice %s, which is %s", setPullHeartbeat,
				quantity.ExactDuration(heartbeat))},
		{s.Duration(setAckWait) <= 0, setAckWait, "must be above 0"},
	} {
		if rule.broken {
			bad = append(bad, s.Wrong(rule.setting, rule.must))
		}
	}
	if levels := levelProblems(s, l); levels != nil {
		return append(bad, levels...)
	}
	return append(bad, copiesOf(s, l).Check()...)
}
