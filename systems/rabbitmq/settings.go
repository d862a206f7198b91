package rabbitmq

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the clients' and the topics' settings, in RabbitMQ's own words.
const (
	setProtocol     = "protocol"
	setQueueType    = "queue_type"
	setDeliveryMode = "delivery_mode"
	setReplicas     = "replicas"
	setQueueVersion = "queue_version"
	setQueueMode    = "queue_mode"
	setMaxPriority  = "max_priority"
	setExchangeType = "exchange_type"
	setVhost        = "vhost"
	setManagement   = "management"
	setSASL         = "sasl_mechanism"

	setConnections    = "connections_per_producer"
	setChannels       = "channels_per_connection"
	setHeartbeat      = "heartbeat"
	setConfirmTimeout = "confirm_timeout"
	setReconnect      = "reconnect_timeout"

	setPrefetch = "prefetch"
	setAckBatch = "ack_batch"
	setAckDelay = "ack_delay"

	setStreamPort     = "stream_port"
	setStreamBatch    = "stream_batch_size"
	setStreamCredits  = "stream_credits"
	setOffsetInterval = "stream_offset_interval"
)

// Values of the settings and their bounds.
const (
	none = "none"
	auto = "auto"

	classic  = "classic"
	mirrored = "mirrored"
	quorum   = "quorum"
	streamed = "stream"

	persistent = "persistent"
	transient  = "transient"

	plain = "plain"

	direct  = "direct"
	fanout  = "fanout"
	headers = "headers"

	lazy = "lazy"
)

// declared lists every setting of topics, clients and servers.
var declared = slices.Concat(clientSettings, serverSettings)

// clientSettings are the settings of topics, producers, consumers and streams. A client looks for
// another node for two minutes, because three nodes that boot together on two cores take more than
// half a minute.
var clientSettings = system.MustSettings(`
protocol text amqp091 amqp091|amqp10
    what clients of queues speak: AMQP 0.9.1, or AMQP 1.0 (RabbitMQ 4 or later), by which the
    consumers of a subscription share its queues
queue_type text auto auto|classic|mirrored|quorum|stream
    what the partitions are: classic (one copy), mirrored (classic with ha-mode all, which
    RabbitMQ 4 no longer has), quorum, stream; auto is quorum at levels 1 and 2 and classic at
    3 and 4
delivery_mode text auto auto|persistent|transient
    whether classic and mirrored queues write messages to disk before they confirm; auto is
    as the durability level requires
replicas count 3 3..9
    members of each quorum queue and stream (x-quorum-initial-group-size,
    x-initial-cluster-size); a mirrored queue has one on every node
queue_version text 1 1|2
    storage of classic and mirrored queues (x-queue-version); version 2 confirms before it
    syncs, so levels 1 and 3 refuse it; RabbitMQ 4 has only that, so classic queues there are
    level 4
queue_mode text default default|lazy
    whether classic and mirrored queues write each message to disk and keep none in memory
    (x-queue-mode); RabbitMQ 3.12 and 3.13 do so in any case, and 4 has no such queues
max_priority count 0 0..255
    levels of priority of classic and mirrored queues (x-max-priority), each of which costs the
    server a queue; 0 is none; messages are sent without a priority
exchange_type text direct direct|topic|fanout|headers
    how the topic's exchange routes to the queues of a partition; fanout does not route, so
    its topics have one partition
vhost text /
    the virtual host, on a cluster that runs already
management text auto
    the management API of a cluster that runs already, as http://host:15672; auto is
    port 15672 of each endpoint, with TLS 15671
sasl_mechanism text plain plain|external
    how clients authenticate: user and password, or the TLS certificate
connections_per_producer count 1 1..64
    connections of each producer, which share its partitions
channels_per_connection count 1 1..2047
    channels of each of a producer's connections, which share its partitions
heartbeat duration 10s 1s..1h
    interval of heartbeats on an idle connection; three missed ones end it
confirm_timeout duration 30s 100ms..1h
    how long the server may take to confirm a message; after it the producer gives up its
    connection and makes another
reconnect_timeout duration 2m 100ms..1h
    how long a client whose connection was lost looks for another node while messages wait;
    after it a producer refuses them and a consumer ends
prefetch count 500 1..65535
    most unacknowledged messages of each queue at a consumer; at most once has no
    bound with amqp091
ack_batch count 50 1..65535
    most messages acknowledged at once (basic.ack with multiple)
ack_delay duration 0s 0s..1s
    how long handled messages wait for others when no message waits to be handled; then they
    are acknowledged together (streams have no acknowledgements)
stream_port count 0 0..65535
    port of the stream protocol at each endpoint of a cluster that runs already; 0 is 5552,
    with TLS 5551
stream_batch_size count 100 1..10000
    most messages of a stream in one frame; the client library sends the waiting ones
    without waiting for more
stream_credits count 10 1..1000
    chunks of a stream that the server may send before the consumer has handled one
stream_offset_interval duration 1s 10ms..1h
    how often a consumer of a stream stores the offset of handled messages
`)

// problems returns the violations of the settings at a level. It makes no connection.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := driver.CheckRanges(s, clientSettings)
	if s.Count(setAckBatch) > s.Count(setPrefetch) {
		bad.Wrong(setAckBatch, "must be at most %s, which is %s", setPrefetch, s.Text(setPrefetch))
	}
	if text := s.Text(setManagement); text != auto {
		if err := checkURL(text); err != nil {
			bad.Wrong(setManagement, "%v", err)
		}
	}
	if s.Text(setVhost) == "" {
		bad.Wrong(setVhost, "must not be empty: RabbitMQ's first virtual host is /")
	}
	p := planOf(s, l)
	p.protocolProblems(bad)
	for _, name := range []string{setQueueMode, setMaxPriority} {
		if p.ofLog() && s.Given(name) {
			bad.Wrong(name, "is for classic and mirrored queues, and these are of type %s: "+
				"remove it, or choose another %s", p.kind, setQueueType)
		}
	}
	return append(bad.Violations, levelProblems(s, l)...)
}
