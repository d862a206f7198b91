package kafka

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type ombFile struct {
	omb.Head
	ReplicationFactor int64  `yaml:"replicationFactor"`
	TopicConfig       string `yaml:"topicConfig"`
	CommonConfig      string `yaml:"commonConfig"`
	ProducerConfig    string `yaml:"producerConfig"`
	ConsumerConfig    string `yaml:"consumerConfig"`
	Reset             bool   `yaml:"reset"` // Redpanda's fork
}

// ombKind says how a property's value is converted to a setting's value.
type ombKind int

const (
	asText ombKind = iota
	asMillis
	asBytes
	asCount
	asBool
)

// ombSettings maps properties of Kafka's clients to plimsoll's settings.
var ombSettings = map[string]struct {
	name string
	kind ombKind
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
	"client.rack":                           {"client_rack", asText},
	"metadata.max.age.ms":                   {"metadata_max_age", asMillis},
}

// ombMeaning says why a property has no setting.
var ombMeaning = map[string]string{
	"buffer.memory": "the workload's max_in_flight bounds what a producer holds",
	"max.block.ms": "a producer that is full waits, and the wait is charged " +
		"to the message",
	"enable.auto.commit": "positions of handled messages are committed every " +
		"auto_commit_interval",
	"isolation.level":         "it follows from the workload's delivery",
	"client.id":               "plimsoll's clients have names of their own",
	"offsetCommitLingerMs":    "auto_commit_interval says how often positions are committed",
	"max.request.size":        "batch_size bounds a request's batches",
	"key.serializer":          "keys and payloads are bytes",
	"value.serializer":        "keys and payloads are bytes",
	"key.deserializer":        "keys and payloads are bytes",
	"value.deserializer":      "keys and payloads are bytes",
	"transactional.id":        "delivery: exactly_once in the workload asks for transactions",
	"retries":                 "delivery_timeout says how long a message is tried",
	"group.id":                "subscriptions have names of the run's own",
	"ssl.truststore.location": "name the authority's certificate, in PEM, as ca_file under tls",
	"ssl.keystore.location": "name the client's certificate and key, in PEM, as cert_file and " +
		"key_file under tls",
	"ssl.endpoint.identification.algorithm": "names in certificates are always checked; " +
		"server_name under tls gives another one",
}

// ofProducers are properties that decide what an acknowledgement means. Consumers ignore them.
var ofProducers = []string{"acks", "enable.idempotence"}

var assignors = map[string]string{
	"rangeassignor": "range", "roundrobinassignor": "roundrobin", "stickyassignor": "sticky",
	"cooperativestickyassignor": "cooperative-sticky",
}

func translateOMB(d *omb.DriverFile) {
	var f ombFile
	if !d.Decode(&f) {
		return
	}
	topic := omb.ParseProperties(f.TopicConfig)
	k := ombDriver{DriverFile: d, done: map[string]string{}}
	for _, part := range []string{f.CommonConfig, f.ProducerConfig} {
		for _, p := range omb.ParseProperties(part) {
			k.client(p)
		}
	}
	for _, p := range omb.ParseProperties(f.ConsumerConfig) {
		if slices.Contains(ofProducers, p.Name) {
			d.Note("%s in consumerConfig has no effect, here and in OMB: it is for producers",
				p.Name)
			continue
		}
		k.client(p)
	}
	for _, key := range []string{"topicConfig", "commonConfig", "producerConfig",
		"consumerConfig"} {
		if !d.Has(key) {
			d.Note("%s is missing, and OMB fails without it; here it is empty", key)
		}
	}
	if f.Reset {
		d.Note("reset has no effect: plimsoll deletes the topics that it made, and no others")
	}
	k.topic(topic, f.ReplicationFactor)
	k.durability(topic, f.ReplicationFactor)
	k.security()
}

// ombDriver gathers what several properties together mean.
type ombDriver struct {
	*omb.DriverFile
	done                        map[string]string // properties seen, by name
	acks, idempotence, protocol string
	mechanism, jaas             string
}

// client translates a property of producers or consumers.
func (k *ombDriver) client(p omb.Property) {
	if before, twice := k.done[p.Name]; twice {
		if before != p.Value {
			k.Note("%s stands in several parts with different values: the first is taken", p.Name)
		}
		return
	}
	k.done[p.Name] = p.Value
	switch p.Name {
	case "bootstrap.servers":
		for server := range strings.SplitSeq(p.Value, ",") {
			k.Endpoint(server)
		}
	case "acks":
		k.acks = p.Value
	case "enable.idempotence":
		k.idempotence = p.Value
	case "security.protocol":
		k.protocol = strings.ToUpper(p.Value)
	case "sasl.mechanism":
		k.mechanism = strings.ToLower(p.Value)
	case "sasl.jaas.config":
		k.jaas = p.Value
	case "partition.assignment.strategy":
		k.assignment(p.Value)
	case "auto.offset.reset":
		k.reset(p.Value)
	default:
		k.simple(p)
	}
}

func (k *ombDriver) reset(value string) {
	if value = strings.TrimSpace(value); value != earliest && value != latest {
		k.Note("auto.offset.reset=%s is left out: %s is used", value, earliest)
		return
	}
	k.Set("auto.offset.reset", setReset, value)
}

func (k *ombDriver) assignment(value string) {
	class, _, _ := strings.Cut(value, ",")
	class = class[strings.LastIndex(class, ".")+1:]
	if name := assignors[strings.ToLower(strings.TrimSpace(class))]; name != "" {
		k.Set("partition.assignment.strategy", "partition_assignment_strategy", name)
		return
	}
	k.Note("partition.assignment.strategy is not supported: cooperative-sticky is used")
}

// simple translates a property that is a setting by itself.
func (k *ombDriver) simple(p omb.Property) {
	to, known := ombSettings[p.Name]
	switch {
	case known:
		k.convert(p.Name, p.Value, to.name, to.kind)
	case ombMeaning[p.Name] != "":
		k.Note("%s is left out: %s", p.Name, ombMeaning[p.Name])
	case strings.Contains(p.Name, "password") || strings.Contains(p.Name, "secret") ||
		strings.HasPrefix(p.Name, "sasl.") || strings.HasPrefix(p.Name, "ssl."):
		k.Note("%s is left out: the target's tls and credentials say how to connect", p.Name)
	default:
		k.Note("%s is left out: plimsoll has no setting for it", p.Name)
	}
}

// convert sets a setting in plimsoll's way of writing values.
func (k *ombDriver) convert(from, value, name string, as ombKind) {
	value = strings.TrimSpace(value)
	n, err := strconv.ParseInt(value, 10, 64)
	if as == asMillis || as == asBytes || as == asCount {
		switch {
		case err != nil:
			k.Note("%s is left out: its value is not a whole number", from)
			return
		case n < 0:
			k.Note("%s is left out: its value, %d, is negative", from, n)
			return
		}
	}
	switch as {
	case asMillis:
		k.Set(from, name, fmt.Sprintf("%dms", n))
	case asBytes:
		if name == "batch_size" && n < 1024 {
			k.Note("%s %d becomes 1KB, the least that batch_size can be", from, n)
			n = 1024
		}
		k.Set(from, name, quantity.ExactBytes(n))
	case asBool:
		k.Set(from, name, strings.ToLower(value))
	default:
		k.Set(from, name, value)
	}
}

// topic translates the topics' configuration, except the properties that decide the level.
func (k *ombDriver) topic(config []omb.Property, replication int64) {
	if replication > 0 {
		k.Set("replicationFactor", "replication_factor", strconv.FormatInt(replication, 10))
	} else {
		k.Note("replicationFactor %d is not a number of copies: the default is used",
			replication)
	}
	var further []string
	seen := map[string]bool{}
	for _, p := range config {
		name, value := strings.TrimSpace(p.Name), strings.TrimSpace(p.Value)
		switch {
		case slices.Contains([]string{minISR, flushMessages, flushMs, unclean}, name):
		case name == "" || value == "" || strings.ContainsAny(name+value, ",=") ||
			!strict.IsText(name+value) || seen[name]:
			k.Note("%s of the topics is left out: topic_configs cannot hold it", p.Name)
		default:
			further = append(further, name+"="+value)
		}
		seen[name] = true
	}
	if len(further) > 0 {
		k.Set("topicConfig", "topic_configs", strings.Join(further, ", "))
	}
}

// durability finds the level: acks, min.insync.replicas and the copies decide its replication, the
// flush after each message its sync.
func (k *ombDriver) durability(config []omb.Property, replication int64) {
	inSync, flushed := k.flushes(config)
	why := "acks=" + k.acks
	if k.acks == "" {
		why = "acks is absent, and the default of Java clients since 3.0 is all"
	}
	sync := false
	acks := cmp.Or(strings.ToLower(strings.TrimSpace(k.acks)), "all")
	switch acks {
	case "all", "-1":
		k.refuseCopies(inSync, replication)
		sync = inSync >= 2
		why += fmt.Sprintf(" and min.insync.replicas=%d", max(inSync, 1))
		if inSync == 0 {
			why += " unless the servers say otherwise"
		}
		if !sync {
			k.Note("an acknowledgement of acks=all may be the leader's alone here, which is level "+
				"%d; level %d asks for a majority", k.local(false, flushed), k.local(true, flushed))
		}
	case "0":
		why += ", which has no acknowledgement; at this level the leader answers"
	case "1":
	default:
		why += ", which Kafka does not know"
	}
	if inSync > 0 && acks != "all" && acks != "-1" {
		k.Note("%s has no effect, here and in Kafka, because acks is not all", minISR)
	}
	if flushed {
		why += ", with a flush after each message"
	}
	level := k.local(sync, flushed)
	if acks == "0" {
		k.SetNearest(level, why)
	} else {
		k.SetLevel(level, why)
	}
	switch {
	case k.idempotence == "":
	case strings.EqualFold(k.idempotence, "true") && !sync:
		k.Note("enable.idempotence is left out: it needs acks=all, and level %d is acks=1", level)
	default:
		k.convert("enable.idempotence", k.idempotence, "enable_idempotence", asBool)
	}
}

// refuseCopies rejects a file that waits for more copies than there are. Servers refuse each of its
// messages or, in later versions, wait for fewer copies than the file says, so it has no level.
func (k *ombDriver) refuseCopies(inSync, replication int64) {
	if replication <= 0 || inSync <= replication {
		return
	}
	k.Reject("topicConfig", fmt.Sprintf("has %s=%d, more than the %d of replicationFactor: Kafka "+
		"refuses every message of acks=all then, unless its version counts fewer: write at most %d",
		minISR, inSync, replication, replication))
}

// flushes reads the topics' properties that decide the level: the copies that must be in sync, and
// whether each message is flushed. It notes what no level has.
func (k *ombDriver) flushes(config []omb.Property) (inSync int64, flushed bool) {
	for _, p := range config {
		name, value := strings.TrimSpace(p.Name), strings.TrimSpace(p.Value)
		switch name {
		case minISR:
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 1 {
				k.Note("%s is left out: its value is not a number of copies", minISR)
			} else if inSync = n; n > 2 {
				k.Note("%s=%d becomes the majority of the copies at levels 1 and 2", minISR, n)
			}
		case flushMessages:
			if flushed = value == everyMessage; !flushed && value != never {
				k.Note("%s=%s is left out: no durability level has a sync after some of the "+
					"messages, only after each (1) or none, so the cost of these syncs is not "+
					"measured", flushMessages, value)
			} else if !flushed {
				k.Note("%s=%s means that messages are not flushed", flushMessages, value)
			}
		case flushMs:
			k.Note("%s=%s is left out: servers sync by time after the acknowledgement, and no "+
				"durability level has that", flushMs, value)
		case unclean:
			k.Note("%s=%s is left out: every durability level sets it to false", unclean, value)
		}
	}
	return inSync, flushed
}

func (k *ombDriver) local(sync, flushed bool) workload.Level {
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

func (k *ombDriver) security() {
	switch k.protocol {
	case "", "PLAINTEXT", "SASL_PLAINTEXT":
	case "SSL", "SASL_SSL":
		k.Encrypt("")
	default:
		k.Note("unknown security.protocol %.20q: connections are not encrypted",
			k.protocol)
	}
	if k.jaas != "" || strings.HasPrefix(k.protocol, "SASL") {
		where := "sasl.jaas.config"
		switch {
		case k.jaas == "":
			where = "security.protocol asks for a login, and its configuration"
		case k.protocol != "":
			where = "security.protocol is " + k.protocol + ", and sasl.jaas.config"
		}
		k.Secret(where, true)
		switch k.mechanism {
		case "plain", "scram-sha-256", "scram-sha-512":
			k.Set("sasl.mechanism", "sasl_mechanism", k.mechanism)
		case "":
		default:
			k.Note("sasl.mechanism %.20q is not supported: plain is used", k.mechanism)
		}
	} else if k.mechanism != "" {
		k.Note("sasl.mechanism is left out: nothing asks for a login")
	}
}

// OMB says how to translate OMB's drivers of Kafka and of Redpanda, which speaks Kafka's protocol.
func (kafkaSystem) OMB() omb.Dialect {
	const begins = "driver begins at the record's timestamp, in whole milliseconds"
	return omb.Dialect{
		Title: "Kafka",
		Drivers: map[string]func(*omb.DriverFile){
			"kafka.KafkaBenchmarkDriver":       translateOMB,
			"redpanda.RedpandaBenchmarkDriver": translateOMB,
		},
		Caveats: []omb.Caveat{
			{Driver: "kafka", Note: "the end-to-end latency of OMB's Kafka " + begins,
				Upstream: true},
			{Driver: "redpanda", Note: "the end-to-end latency of OMB's Redpanda " + begins,
				Upstream: true},
		},
	}
}
