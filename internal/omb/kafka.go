package omb

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type kafkaFile struct {
	head
	ReplicationFactor int64  `yaml:"replicationFactor"`
	TopicConfig       string `yaml:"topicConfig"`
	CommonConfig      string `yaml:"commonConfig"`
	ProducerConfig    string `yaml:"producerConfig"`
	ConsumerConfig    string `yaml:"consumerConfig"`
	Reset             bool   `yaml:"reset"` // Redpanda's fork
}

// kind is how a property's value becomes one of a setting.
type kind int

const (
	asText kind = iota
	asMillis
	asBytes
	asCount
	asBool
)

// kafkaSettings are plimsoll's names of properties of Kafka's clients.
var kafkaSettings = map[string]struct {
	name string
	kind kind
}{
	"linger.ms":                             {"linger", asMillis},
	"batch.size":                            {"batch_size", asBytes},
	"max.in.flight.requests.per.connection": {"max_in_flight_requests", asCount},
	"compression.type":                      {"compression_type", asText},
	"request.timeout.ms":                    {"request_timeout", asMillis},
	"delivery.timeout.ms":                   {"delivery_timeout", asMillis},
	"transaction.timeout.ms":                {"transaction_timeout", asMillis},
	"fetch.min.bytes":                       {"fetch_min_bytes", asBytes},
	"fetch.max.wait.ms":                     {"fetch_max_wait", asMillis},
	"fetch.max.bytes":                       {"fetch_max_bytes", asBytes},
	"max.partition.fetch.bytes":             {"max_partition_fetch_bytes", asBytes},
	"max.poll.records":                      {"max_poll_records", asCount},
	"auto.commit.interval.ms":               {"auto_commit_interval", asMillis},
	"session.timeout.ms":                    {"session_timeout", asMillis},
	"heartbeat.interval.ms":                 {"heartbeat_interval", asMillis},
}

// kafkaMeaning says why properties have no setting of their own.
var kafkaMeaning = map[string]string{
	"buffer.memory":                         "the workload's max_in_flight bounds what a producer holds",
	"max.block.ms":                          "a producer that is full waits, and the wait is charged to the message",
	"enable.auto.commit":                    "positions of what was handled are committed every auto_commit_interval",
	"auto.offset.reset":                     "subscriptions are there before the load",
	"isolation.level":                       "it follows from the workload's delivery",
	"client.id":                             "plimsoll's clients have names of their own",
	"offsetCommitLingerMs":                  "auto_commit_interval says how often positions are committed",
	"max.request.size":                      "batch_size bounds a request's batches",
	"key.serializer":                        "keys and payloads are bytes",
	"value.serializer":                      "keys and payloads are bytes",
	"key.deserializer":                      "keys and payloads are bytes",
	"value.deserializer":                    "keys and payloads are bytes",
	"transactional.id":                      "delivery: exactly_once in the workload asks for transactions",
	"retries":                               "delivery_timeout says how long a message is tried",
	"group.id":                              "subscriptions have names of the run's own",
	"ssl.truststore.location":               "name the authority's certificate, in PEM, as ca_file under tls",
	"ssl.keystore.location":                 "name the client's certificate and key, in PEM, as cert_file and key_file under tls",
	"ssl.endpoint.identification.algorithm": "names in certificates are always checked; server_name under tls gives another one",
}

var assignors = map[string]string{
	"rangeassignor": "range", "roundrobinassignor": "roundrobin", "stickyassignor": "sticky", "cooperativestickyassignor": "cooperative-sticky",
}

func (d *driver) kafka() {
	var f kafkaFile
	if !d.decode(&f) {
		return
	}
	d.out.Target.System = "kafka"
	topic := parseProperties(f.TopicConfig)
	k := kafkaDriver{driver: d, done: map[string]string{}}
	for _, part := range []string{f.CommonConfig, f.ProducerConfig, f.ConsumerConfig} {
		for _, p := range parseProperties(part) {
			k.client(p)
		}
	}
	for _, key := range []string{"topicConfig", "commonConfig", "producerConfig", "consumerConfig"} {
		if !d.doc.Has(key) {
			d.note("%s is absent, with which OMB fails; here it is empty", key)
		}
	}
	if f.Reset {
		d.note("reset has no effect: plimsoll deletes the topics that it made, and no others")
	}
	k.topic(topic, f.ReplicationFactor)
	k.durability(topic)
	k.security()
}

// kafkaDriver gathers what several properties together mean.
type kafkaDriver struct {
	*driver
	done                        map[string]string // properties seen, by name
	acks, idempotence, protocol string
	mechanism, jaas             string
}

// client translates a property of producers or consumers.
func (k *kafkaDriver) client(p property) {
	if before, twice := k.done[p.name]; twice {
		if before != p.value {
			k.note("%s stands in several parts with different values: the first is taken", p.name)
		}
		return
	}
	k.done[p.name] = p.value
	switch p.name {
	case "bootstrap.servers":
		for server := range strings.SplitSeq(p.value, ",") {
			k.endpoint(server)
		}
	case "acks":
		k.acks = p.value
	case "enable.idempotence":
		k.idempotence = p.value
	case "security.protocol":
		k.protocol = strings.ToUpper(p.value)
	case "sasl.mechanism":
		k.mechanism = strings.ToLower(p.value)
	case "sasl.jaas.config":
		k.jaas = p.value
	case "partition.assignment.strategy":
		k.assignment(p.value)
	default:
		k.simple(p)
	}
}

func (k *kafkaDriver) assignment(value string) {
	class, _, _ := strings.Cut(value, ",")
	class = class[strings.LastIndex(class, ".")+1:]
	if name := assignors[strings.ToLower(strings.TrimSpace(class))]; name != "" {
		k.set("partition_assignment_strategy", name)
		return
	}
	k.note("partition.assignment.strategy is none that plimsoll has: cooperative-sticky is used")
}

// simple translates a property that is a setting by itself.
func (k *kafkaDriver) simple(p property) {
	to, known := kafkaSettings[p.name]
	switch {
	case known:
		k.convert(p.name, p.value, to.name, to.kind)
	case kafkaMeaning[p.name] != "":
		k.note("%s is left out: %s", p.name, kafkaMeaning[p.name])
	case strings.Contains(p.name, "password") || strings.Contains(p.name, "secret") || strings.HasPrefix(p.name, "sasl.") || strings.HasPrefix(p.name, "ssl."):
		k.note("%s is left out: the target's tls and credentials say how to connect", p.name)
	default:
		k.note("%s is left out: plimsoll has no setting for it", p.name)
	}
}

// convert sets a setting in plimsoll's way of writing values.
func (d *driver) convert(from, value, name string, k kind) {
	value = strings.TrimSpace(value)
	n, err := strconv.ParseInt(value, 10, 64)
	if (k == asMillis || k == asBytes || k == asCount) && (err != nil || n < 0) {
		d.note("%s is left out: its value is not a whole number", from)
		return
	}
	switch k {
	case asMillis:
		d.set(name, fmt.Sprintf("%dms", n))
	case asBytes:
		if name == "batch_size" && n < 1024 {
			d.note("%s %d becomes 1KB, the least that batch_size can be", from, n)
			n = 1024
		}
		d.set(name, quantity.ExactBytes(n))
	case asBool:
		d.set(name, strings.ToLower(value))
	default:
		d.set(name, value)
	}
}

// topic translates the topics' configuration, but for what makes the level.
func (k *kafkaDriver) topic(config []property, replication int64) {
	const least, most = 3, 9
	switch {
	case replication >= least && replication <= most:
		k.set("replication_factor", strconv.FormatInt(replication, 10))
	default:
		k.note("replicationFactor %d cannot be had: every durability level has 3 copies or more, so 3 are asked for", replication)
	}
	var further []string
	for _, p := range config {
		switch {
		case slices.Contains([]string{"min.insync.replicas", "flush.messages", "flush.ms", "unclean.leader.election.enable"}, p.name):
		case p.value == "" || strings.ContainsAny(p.name+p.value, ",="):
			k.note("%s of the topics is left out: topic_configs cannot hold its value", p.name)
		default:
			further = append(further, p.name+"="+p.value)
		}
	}
	if len(further) > 0 {
		k.set("topic_configs", strings.Join(further, ", "))
	}
}

// durability finds the level: acks and min.insync.replicas are the replication
// half of it, the flush after each message is the local half.
func (k *kafkaDriver) durability(config []property) {
	minISR, flushed := int64(0), false
	for _, p := range config {
		switch p.name {
		case "min.insync.replicas":
			minISR, _ = strconv.ParseInt(p.value, 10, 64)
		case "flush.messages":
			flushed = flushed || p.value == "1"
		case "flush.ms":
			if p.value == "0" {
				flushed = true
			} else {
				k.note("flush.ms is left out: no durability level syncs by time")
			}
		case "unclean.leader.election.enable":
			if p.value == "true" {
				k.note("unclean.leader.election.enable is left out: every durability level sets it to false")
			}
		}
	}
	why := "acks=" + k.acks
	if k.acks == "" {
		why = "acks is absent, which Java clients since 3.0 take for all"
	}
	sync := false
	switch cmp.Or(strings.ToLower(k.acks), "all") {
	case "all", "-1":
		sync = minISR >= 2
		why += fmt.Sprintf(" and min.insync.replicas=%d", minISR)
		if minISR == 0 {
			why = strings.TrimSuffix(why, "0") + "1 unless the servers say otherwise"
		}
		if !sync {
			k.note("with min.insync.replicas=1 an acknowledgement of acks=all may be the leader's alone, which is level %d; level %d asks for a majority", k.local(false, flushed), k.local(true, flushed))
		}
	case "0":
		k.note("acks=0 waits for no acknowledgement, which is less than any durability level: at level 4 the leader answers")
	}
	if flushed {
		why += ", with a flush after each message"
	}
	level := k.local(sync, flushed)
	k.level(level, why)
	switch {
	case k.idempotence == "":
	case k.idempotence == "true" && !sync:
		k.note("enable.idempotence is left out: it needs acks=all, and level %d is acks=1", level)
	default:
		k.convert("enable.idempotence", k.idempotence, "enable_idempotence", asBool)
	}
}

func (k *kafkaDriver) local(sync, flushed bool) workload.Level {
	switch {
	case sync && flushed:
		return workload.SyncSync
	case sync:
		return workload.SyncAsync
	case flushed:
		return workload.AsyncSync
	}
	return workload.AsyncAsync
}

func (k *kafkaDriver) security() {
	if strings.HasSuffix(k.protocol, "SSL") {
		k.encrypted()
	}
	if k.jaas != "" || strings.HasPrefix(k.protocol, "SASL") {
		where := "sasl.jaas.config"
		if k.jaas == "" {
			where = "security.protocol asks for a login, and its configuration"
		}
		k.secret(where, true)
		switch k.mechanism {
		case "plain", "scram-sha-256", "scram-sha-512":
			k.set("sasl_mechanism", k.mechanism)
		case "":
		default:
			k.note("sasl.mechanism %.20q is none that plimsoll has: plain is used", k.mechanism)
		}
	}
}
