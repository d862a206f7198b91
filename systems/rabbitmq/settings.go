package rabbitmq

import (
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the clients' and the topics' settings, in RabbitMQ's own words.
const (
	setQueueType    = "queue_type"
	setDeliveryMode = "delivery_mode"
	setReplicas     = "replicas"
	setQueueVersion = "queue_version"
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

	setStreamPort     = "stream_port"
	setStreamBatch    = "stream_batch_size"
	setStreamCredits  = "stream_credits"
	setOffsetInterval = "stream_offset_interval"
)

// Values of the settings, and what bounds them.
const (
	none = "none"
	auto = "auto"

	classic  = "classic"
	mirrored = "mirrored"
	quorum   = "quorum"
	streamed = "stream"

	persistent = "persistent"
	transient  = "transient"

	direct  = "direct"
	fanout  = "fanout"
	headers = "headers"

	minReplicas = 3
	maxReplicas = 9
	maxChannels = 2047 // the server's default of channel_max
)

// declared is every setting: those of the topics, the clients, the servers.
func declared() []system.Setting {
	return slices.Concat(topicSettings(), producerSettings(), consumerSettings(), streamSettings(),
		serverSettings())
}

func topicSettings() []system.Setting {
	return []system.Setting{
		{Name: setQueueType, Kind: system.Text, Default: auto,
			OneOf: []string{auto, classic, mirrored, quorum, streamed},
			Doc: "what the partitions are: classic (one copy), mirrored (classic with ha-mode " +
				"all, which RabbitMQ 4 no longer has), quorum, stream; auto is quorum at levels " +
				"1 and 2 and classic at 3 and 4"},
		{Name: setDeliveryMode, Kind: system.Text, Default: auto,
			OneOf: []string{auto, persistent, transient},
			Doc: "whether classic and mirrored queues write messages to disk before they " +
				"confirm; auto is what the durability level asks for"},
		{Name: setReplicas, Kind: system.Count, Default: "3",
			Doc: "members of each quorum queue and stream (x-quorum-initial-group-size, " +
				"x-initial-cluster-size); a mirrored queue has one on every node"},
		{Name: setQueueVersion, Kind: system.Text, Default: "1", OneOf: []string{"1", "2"},
			Doc: "storage of classic and mirrored queues (x-queue-version); version 2 of " +
				"RabbitMQ 3 confirms before it syncs, so levels 1 and 3 refuse it"},
		{Name: setExchangeType, Kind: system.Text, Default: direct,
			OneOf: []string{direct, "topic", fanout, headers},
			Doc: "how the topic's exchange routes to the queues of a partition; fanout does not " +
				"route, so its topics have one partition"},
		{Name: setVhost, Kind: system.Text, Default: "/",
			Doc: "the virtual host of a cluster that runs already"},
		{Name: setManagement, Kind: system.Text, Default: auto,
			Doc: "where a cluster that runs already has its management API, as " +
				"http://host:15672; auto is port 15672 of each endpoint, with TLS 15671"},
		{Name: setSASL, Kind: system.Text, Default: "plain", OneOf: []string{"plain", "external"},
			Doc: "how clients show who they are: user and password, or the TLS certificate"},
	}
}

func producerSettings() []system.Setting {
	return []system.Setting{
		{Name: setConnections, Kind: system.Count, Default: "1",
			Doc: "connections of each producer, which share its partitions (the client library " +
				"sends one message at a time on a connection)"},
		{Name: setChannels, Kind: system.Count, Default: "1",
			Doc: "channels of each of a producer's connections, which share its partitions"},
		{Name: setHeartbeat, Kind: system.Duration, Default: "10s",
			Doc: "how often either side of an idle connection shows that it lives; three missed " +
				"ones end it"},
		{Name: setConfirmTimeout, Kind: system.Duration, Default: "30s",
			Doc: "how long the server may take to confirm a message; after it the producer " +
				"gives up its connection and makes another"},
		// Three nodes that boot at once on two cores take longer than half a minute.
		{Name: setReconnect, Kind: system.Duration, Default: "2m",
			Doc: "how long a client whose connection was lost looks for another node while " +
				"messages wait; after it a producer refuses them and a consumer ends"},
	}
}

func consumerSettings() []system.Setting {
	return []system.Setting{
		{Name: setPrefetch, Kind: system.Count, Default: "500",
			Doc: "most messages that a consumer has of each queue and not acknowledged; at most " +
				"once has no bound"},
		{Name: setAckBatch, Kind: system.Count, Default: "50",
			Doc: "most messages acknowledged at once (basic.ack with multiple); what was " +
				"handled is acknowledged as soon as no message waits"},
	}
}

func streamSettings() []system.Setting {
	return []system.Setting{
		{Name: setStreamPort, Kind: system.Count, Default: "0",
			Doc: "port of the stream protocol at each endpoint of a cluster that runs already; " +
				"0 is 5552, with TLS 5551"},
		{Name: setStreamBatch, Kind: system.Count, Default: "100",
			Doc: "most messages of a stream that go out in one frame; the client library sends " +
				"what there is and waits for no more"},
		{Name: setStreamCredits, Kind: system.Count, Default: "10",
			Doc: "chunks of a stream that the server may send before the consumer has handled one"},
		{Name: setOffsetInterval, Kind: system.Duration, Default: "1s",
			Doc: "how often a consumer of a stream stores the offset of what it handled"},
	}
}

// config is the settings in the types that they are used in.
type config struct {
	plan
	exchange, vhost, management, sasl string
	queueVersion                      int

	connections, channels               int
	heartbeat, confirmTimeout, patience time.Duration

	prefetch, ackBatch int

	streamPort, streamBatch, streamCredits int
	offsetInterval                         time.Duration
}

// readConfig takes settings that problems found nothing wrong with.
func readConfig(s system.Settings, l workload.Level) config {
	c := config{
		plan:     planOf(s, l),
		exchange: s.Text(setExchangeType), vhost: s.Text(setVhost),
		management: s.Text(setManagement), sasl: s.Text(setSASL),
		queueVersion: 1, connections: int(s.Count(setConnections)),
		channels:  int(s.Count(setChannels)),
		heartbeat: s.Duration(setHeartbeat), confirmTimeout: s.Duration(setConfirmTimeout),
		patience: s.Duration(setReconnect),
		prefetch: int(s.Count(setPrefetch)), ackBatch: int(s.Count(setAckBatch)),
		streamPort: int(s.Count(setStreamPort)), streamBatch: int(s.Count(setStreamBatch)),
		streamCredits:  int(s.Count(setStreamCredits)),
		offsetInterval: s.Duration(setOffsetInterval),
	}
	if s.Text(setQueueVersion) == "2" {
		c.queueVersion = 2
	}
	return c
}

// problems is all that is wrong with the settings at a level, before anything
// is connected to.
func problems(s system.Settings, l workload.Level) strict.Violations {
	var bad strict.Violations
	wrong := func(name, format string, args ...any) {
		bad = append(bad, s.Wrong(name, fmt.Sprintf(format, args...)))
	}
	for _, bound := range []struct {
		name        string
		least, most int64
	}{
		{setConnections, 1, 64}, {setChannels, 1, maxChannels}, {setPrefetch, 1, 65535},
		{setAckBatch, 1, 65535},
		{setReplicas, minReplicas, maxReplicas}, {setStreamPort, 0, 65535},
		{setStreamBatch, 1, 10_000}, {setStreamCredits, 1, 1000},
	} {
		if n := s.Count(bound.name); n < bound.least || n > bound.most {
			wrong(bound.name, "must be from %d to %d", bound.least, bound.most)
		}
	}
	if s.Count(setAckBatch) > s.Count(setPrefetch) {
		wrong(setAckBatch, "must be at most %s, which is %s", setPrefetch, s.Text(setPrefetch))
	}
	for _, bound := range []struct {
		name  string
		least time.Duration
	}{
		{setHeartbeat, time.Second}, {setConfirmTimeout, 100 * time.Millisecond},
		{setReconnect, 100 * time.Millisecond}, {setOffsetInterval, 10 * time.Millisecond},
	} {
		if d := s.Duration(bound.name); d < bound.least || d > time.Hour {
			wrong(bound.name, "must be from %s to 1h", bound.least)
		}
	}
	if text := s.Text(setManagement); text != auto {
		if err := checkURL(text); err != nil {
			wrong(setManagement, "%v", err)
		}
	}
	if s.Text(setVhost) == "" {
		wrong(setVhost, "must not be empty: RabbitMQ's first virtual host is /")
	}
	return append(bad, levelProblems(s, l)...)
}
