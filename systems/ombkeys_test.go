package systems

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// ombKey is a key of a driver file with values other than OMB's default. The path of a key within
// a mapping has a dot; a property of a text has a colon before its name.
type ombKey struct {
	path   string
	values []string
}

var (
	ombNumbers = []string{"0", "1", "7", "100", "16384", "-1", "99999999999"}
	ombWords   = append([]string{"x", "''"}, ombNumbers...)
	ombTruths  = []string{"true", "false", "maybe"}
)

// kafkaKeys are the keys of OMB's drivers of Kafka and Redpanda.
func kafkaKeys() []ombKey {
	kafka := []ombKey{
		{"replicationFactor", []string{"1", "2", "3", "5", "12", "-4"}},
		{"reset", []string{"true"}},
		{"topicConfig:min.insync.replicas", []string{"1", "2", "3", "x"}},
		{"topicConfig:flush.messages", []string{"1", "4096", "9223372036854775807", "x"}},
		{"topicConfig:flush.ms", []string{"0", "1000"}},
		{"topicConfig:unclean.leader.election.enable", []string{"true", "false"}},
		{"topicConfig:retention.ms", ombWords}, {"topicConfig:a,b", ombWords},
		{"commonConfig:bootstrap.servers", []string{"a:9092", "b:1,c:2"}},
		{"commonConfig:security.protocol", []string{"SSL", "SASL_SSL", "SASL_PLAINTEXT", "x"}},
		{"commonConfig:sasl.mechanism", []string{"PLAIN", "SCRAM-SHA-256", "GSSAPI"}},
		{"commonConfig:sasl.jaas.config", []string{"hunter2"}},
		{"commonConfig:ssl.truststore.location", []string{"/a/b"}},
		{"producerConfig:acks", []string{"all", "-1", "0", "1", "2"}},
		{"producerConfig:enable.idempotence", ombTruths},
		{"producerConfig:compression.type", []string{"gzip", "none", "producer", "x"}},
		{"consumerConfig:partition.assignment.strategy",
			[]string{"a.b.RangeAssignor", "a.OwnAssignor"}},
		{"consumerConfig:acks", []string{"0"}},
	}
	for part, names := range map[string][]string{
		"producerConfig": {"linger.ms", "batch.size", "max.in.flight.requests.per.connection",
			"request.timeout.ms", "delivery.timeout.ms", "transaction.timeout.ms",
			"buffer.memory", "max.block.ms", "max.request.size", "transactional.id", "retries",
			"key.serializer", "send.buffer.bytes", "no.such.property"},
		"consumerConfig": {"fetch.min.bytes", "fetch.max.wait.ms", "fetch.max.bytes",
			"max.partition.fetch.bytes", "max.poll.records", "auto.commit.interval.ms",
			"session.timeout.ms", "heartbeat.interval.ms", "auto.offset.reset",
			"enable.auto.commit", "isolation.level", "client.id", "offsetCommitLingerMs",
			"group.id", "max.poll.interval.ms", "sim=1"},
	} {
		for _, name := range names {
			kafka = append(kafka, ombKey{part + ":" + name, ombWords})
		}
	}
	return kafka
}

// ombKeys are the documented keys of the drivers, by class.
func ombKeys() map[string][]ombKey {
	return map[string][]ombKey{
		"kafka.KafkaBenchmarkDriver":       kafkaKeys(),
		"redpanda.RedpandaBenchmarkDriver": kafkaKeys(),
		"nats.NatsBenchmarkDriver": {
			{"natsHostUrl", []string{"nats://a:4222", "tls://b:1,tls://c:2"}},
			{"replicationFactor", []string{"1", "2", "3", "5", "9"}},
			{"storageType", []string{"Memory"}}, {"maxBytes", []string{"0", "7", "100000", "-2"}},
		},
		"redis.RedisBenchmarkDriver": {
			{"redisHost", []string{"a"}}, {"redisPort", []string{"7", "70000"}},
			{"redisUser", []string{"bob"}}, {"redisPass", []string{"hunter2"}},
			{"jedisPoolMaxTotal", ombNumbers}, {"jedisPoolMaxIdle", ombNumbers},
		},
		"artemis.ArtemisBenchmarkDriver": {
			{"brokerAddress", []string{"tcp://a:61616", "tcp://a:1?sslEnabled=true&x=1"}},
		},
		"rabbitmq.RabbitMqBenchmarkDriver": {
			{"amqpUris", []string{"[amqp://a:5672]", "['amqp://u:hunter2@a/v', 'amqp://b/w?x=1']"}},
			{"messagePersistence", []string{"true"}}, {"queueType", []string{"QUORUM", "STREAM"}},
			{"producerCreationDelay", ombNumbers}, {"producerCreationBatchSize", ombNumbers},
			{"consumerCreationDelay", ombNumbers}, {"consumerCreationBatchSize", ombNumbers},
		},
		"pulsar.PulsarBenchmarkDriver": {
			{"client.serviceUrl", []string{"pulsar://a:6650", "pulsar+ssl://a:1,b:2"}},
			{"client.httpUrl", []string{"http://z:8081", "https://y"}},
			{"client.clientMemoryLimitMB", ombNumbers}, {"client.ioThreads", ombNumbers},
			{"client.connectionsPerBroker", ombNumbers},
			{"client.maxConcurrentLookupRequests", ombNumbers},
			{"client.namespacePrefix", []string{"a/b", "x"}},
			{"client.clusterName", []string{"c"}}, {"client.topicType", []string{"non-persistent"}},
			{"client.persistence.ensembleSize", []string{"1", "2", "5", "99"}},
			{"client.persistence.writeQuorum", []string{"1", "2", "5", "99"}},
			{"client.persistence.ackQuorum", []string{"1", "3"}},
			{"client.persistence.deduplicationEnabled", []string{"true"}},
			{"client.tlsAllowInsecureConnection", []string{"true"}},
			{"client.tlsEnableHostnameVerification", []string{"true"}},
			{"client.authentication.plugin", []string{"a.TokenPlugin", "b.Other"}},
			{"client.authentication.data", []string{"hunter2"}},
			{"producer.batchingEnabled", []string{"false"}},
			{"producer.batchingMaxPublishDelayMs", []string{"0", "7", "-1", "99999999"}},
			{"producer.batchingMaxBytes", ombNumbers}, {"producer.blockIfQueueFull",
				[]string{"false"}},
			{"producer.pendingQueueSize", []string{"1", "7", "-1", "99999999999"}},
			{"consumer.receiverQueueSize", ombNumbers},
			{"consumer.subscriptionType", []string{"Shared", "Exclusive", "Key_Shared"}},
		},
	}
}

// ombInput is a driver file: values by path.
type ombInput map[string]string

// yaml writes the file of a driver class.
func (in ombInput) yaml(class string) string {
	lines := []string{"driverClass: " + classPrefix + class}
	for _, parent := range []string{"", "topicConfig:", "commonConfig:", "producerConfig:",
		"consumerConfig:", "client.", "client.persistence.", "client.authentication.", "producer.",
		"consumer."} {
		var own []string
		for path, value := range in {
			at := strings.IndexByte(path, ':') + 1 // names of properties have dots
			if at == 0 {
				at = strings.LastIndexByte(path, '.') + 1
			}
			if path[:at] == parent {
				own = append(own, ombLine(path[:at], path[at:], value))
			}
		}
		slices.Sort(own)
		if len(own) > 0 || parent == "client." && in.has(parent) {
			lines = append(append(lines, ombHead(parent)...), own...)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// has reports whether a path begins with a parent.
func (in ombInput) has(parent string) bool {
	for path := range in {
		if strings.HasPrefix(path, parent) {
			return true
		}
	}
	return false
}

func ombHead(parent string) []string {
	name, isText := strings.CutSuffix(parent, ":")
	path := strings.Split(strings.TrimSuffix(name, "."), ".")
	switch last := path[len(path)-1]; {
	case parent == "":
		return nil
	case isText:
		return []string{last + ": |", "  # text"}
	default:
		return []string{strings.Repeat("  ", len(path)-1) + last + ":"}
	}
}

func ombLine(parent, name, value string) string {
	indent := strings.Repeat("  ", strings.Count(parent, ".")+strings.Count(parent, ":"))
	if strings.HasSuffix(parent, ":") {
		return indent + strings.ReplaceAll(name, "=", `\=`) + "=" + strings.Trim(value, "'")
	}
	return indent + name + ": " + value
}

// TestImportedTargetsAreTaken: whatever the values of a driver file are, the target that import
// writes is one that the system takes, and each key of the file is translated or named in a note.
func TestImportedTargetsAreTaken(t *testing.T) {
	dialects := omb.Of(All())
	const rounds = 50
	for class, keys := range ombKeys() {
		t.Run(class, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			taken := 0
			for range rounds {
				in := ombInput{}
				for _, k := range keys {
					if random.IntN(3) == 0 {
						in[k.path] = k.values[random.IntN(len(k.values))]
					}
				}
				if checkImport(t, dialects, class, in) {
					taken++
				}
			}
			if taken < rounds/3 {
				t.Errorf("%d of %d files were translated: too few to show anything", taken, rounds)
			}
		})
	}
}

// checkImport checks one file, and reports whether it was translated.
func checkImport(t *testing.T, dialects omb.Dialects, class string, in ombInput) bool {
	t.Helper()
	src := in.yaml(class)
	d, err := omb.ParseDriver(dialects, "x.yaml", []byte(src))
	if err != nil {
		if _, ok := err.(strict.Violations); !ok {
			t.Errorf("error %T: %v", err, err)
		}
		return false
	}
	isTaken(t, d)
	whole := d.YAML()
	notes := strings.Join(d.Notes, "\n")
	if strings.Contains(whole+notes, "hunter2") {
		t.Errorf("the target shows a secret:\n%s", whole)
	}
	for path, value := range in {
		name := path[strings.LastIndexAny(path, ".:")+1:]
		if at := strings.IndexByte(path, ':'); at >= 0 {
			name = path[at+1:]
		}
		less := ombInput{}
		for other, v := range in {
			if other != path {
				less[other] = v
			}
		}
		without, err := omb.ParseDriver(dialects, "x.yaml", []byte(less.yaml(class)))
		if err == nil && without.YAML() == whole && !strings.Contains(notes, name) {
			t.Errorf("%s: %s leaves no trace in the target:\n%s\n%s", path, value, src, whole)
		}
	}
	return true
}

// TestOneAnswerAboutTheLevel: head and notes of a target do not contradict each other.
func TestOneAnswerAboutTheLevel(t *testing.T) {
	for settings, want := range map[string]string{
		"producerConfig: |\n  acks=0\n": "weaker than every durability level; the nearest is: " +
			"--durability 4",
		"producerConfig: |\n  acks=1\n":                               "amount to: --durability 4",
		"producerConfig: |\n  acks=all\n":                             "amount to: --durability 4",
		"topicConfig: |\n  min.insync.replicas=2\n":                   "amount to: --durability 2",
		"topicConfig: |\n  min.insync.replicas=2\n  flush.messages=1": "amount to: --durability 1",
		"topicConfig: |\n  min.insync.replicas=2\n  flush.ms=0":       "amount to: --durability 2",
		"topicConfig: |\n  flush.messages=7\n":                        "amount to: --durability 4",
	} {
		src := "driverClass: " + classPrefix + "kafka.KafkaBenchmarkDriver\n" +
			"replicationFactor: 3\n" + settings
		d, err := omb.ParseDriver(omb.Of(All()), "x.yaml", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		head := strings.Join(strings.Fields(strings.ReplaceAll(d.YAML(), "#", "")), " ")
		if !strings.Contains(head, want) {
			t.Errorf("%s\nhas no head %q:\n%s", settings, want, d.YAML())
		}
		if weaker := strings.Contains(fmt.Sprint(d.Notes), "weaker"); weaker {
			t.Errorf("a note gives a second answer: %q", d.Notes)
		}
	}
}
