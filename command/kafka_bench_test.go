package command

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/systems/kafka"
)

// kafkaTools are Kafka's own tools, of the same release as the brokers.
var kafkaTools = maven.Artifacts{
	Name:        "kafka-tools-4.3.1",
	Coordinates: []string{"org.apache.kafka:kafka-tools:4.3.1", "org.slf4j:slf4j-simple:1.7.36"},
	Sums:        toolSums,
}

// kafkaPrinted matches the producer's last line. The tools print no end-to-end latency.
var kafkaPrinted = regexp.MustCompile(
	`ms max latency, ([\d.]+) ms 50th, [\d.]+ ms 95th, ([\d.]+) ms 99th`)

// kafkaClient are plimsoll's settings for the batches of the rival, and for the interval at which
// Kafka's own client commits by default.
const kafkaClient = "linger: 5ms, batch_size: 1048576, auto_commit_interval: 5s"

// BenchmarkKafkaTools compares plimsoll with kafka-producer-perf-test and
// kafka-consumer-perf-test: acks=all, idempotent, batches of 5 ms or 1 MB, not compressed,
// messages without a key spread as Kafka's client does. To keep a rate, the producer sleeps for at
// least 2 ms, and then sends what is due at once; plimsoll's load has bursts as large.
func BenchmarkKafkaTools(b *testing.B) {
	duel{
		system: kafka.New(), rival: "Kafka's tools", rate: 20_000, burst: 40, partitions: 12,
		server: map[string]string{
			"security": "plaintext"}, client: kafkaClient, load: "spread: client\n",
		start: startKafkaTools,
		figures: func(printed string) reported {
			n := numbers(kafkaPrinted, printed)
			return reported{publish50: n[0], publish99: n[1]}
		},
	}.run(b)
}

func startKafkaTools(r *ring, topic string) []*exec.Cmd {
	jars, err := kafkaTools.Fetch(r.Context(), func(s string) { r.Log(s) })
	if err != nil {
		r.Fatal(err)
	}
	r.makeTopic(topic)
	servers := strings.Join(r.endpoints, ",")
	// The heap and the collector that Kafka's scripts give them.
	java := func(tool string, args ...string) *exec.Cmd {
		return r.java(nil, append([]string{"-Xmx512M", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
			"-XX:InitiatingHeapOccupancyPercent=35",
			"-cp", maven.Classpath(jars), "org.apache.kafka.tools." + tool}, args...)...)
	}
	return []*exec.Cmd{
		java("ConsumerPerformance", "--bootstrap-server", servers, "--topic", topic,
			"--num-records", r.rivalMessages(), "--timeout", "30000"),
		java("ProducerPerformance", "--bootstrap-server", servers, "--topic", topic,
			"--num-records", r.rivalMessages(),
			"--warmup-records", fmt.Sprint(int(float64(r.rate)*duelWarmup.Seconds())),
			"--record-size", strconv.Itoa(duelBytes), "--throughput", strconv.Itoa(
				r.rate), "--command-property",
			"linger.ms=5", "batch.size=1048576", "acks=all", "enable.idempotence=true"),
	}
}
