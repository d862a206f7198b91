package command

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/systems/pulsar"
)

// pulsarPrinted matches the last report of a pulsar-perf process, in ms: publish latency of the
// producer, end-to-end latency of the consumer.
var pulsarPrinted = regexp.MustCompile(`Aggregated latency stats --- Latency: mean: +[\d.]+ ms - med: +([\d.]+) - 95pct: +[\d.]+ - 99pct: +([\d.]+)`)

// BenchmarkPulsarTools compares plimsoll with pulsar-perf: batches of 1 ms or 1 MB, not
// compressed, a receiver queue of 1,000 messages for each partition, each message acknowledged
// separately.
func BenchmarkPulsarTools(b *testing.B) {
	d := besidePulsarPerf(10_000, 3, 10_000)
	d.burst = 10
	d.run(b)
}

// BenchmarkPulsarStall stops all servers for a second, while both sides have at most 50 messages
// in flight.
func BenchmarkPulsarStall(b *testing.B) {
	d := besidePulsarPerf(1_000, 1, 50)
	d.stall = time.Second
	d.run(b)
}

func besidePulsarPerf(rate, partitions, unanswered int) duel {
	return duel{
		system: pulsar.New(), rival: "pulsar-perf", rate: rate, partitions: partitions, unanswered: unanswered,
		server: map[string]string{"security": "plaintext"},
		client: "batching_max_publish_delay: 1ms, batching_max_size: 1MB, max_pending_messages: " +
			"10000, receiver_queue_size: 1000, subscription_type: failover",
		start: startPulsarPerf,
		figures: func(printed string) reported {
			producer, consumer, _ := strings.Cut(printed, endOfPart)
			publish, endToEnd := numbers(pulsarPrinted, producer), numbers(pulsarPrinted, consumer)
			return reported{publish[0], publish[1], endToEnd[0], endToEnd[1]}
		},
	}
}

func startPulsarPerf(r *ring, topic string) []*exec.Cmd {
	dist, err := pulsar.Distribution.Fetch(r.Context(), func(s string) { r.Log(s) })
	if err != nil {
		r.Fatal(err)
	}
	r.makeTopic(topic)
	name := "persistent://public/plimsoll-level-2/" + topic
	url := "pulsar://" + strings.Join(r.endpoints, ",")
	// Pulsar's script gives each 2 GB and the Z collector, which takes more
	// CPU than this.
	java := func(args ...string) *exec.Cmd {
		return r.java(nil, append([]string{"-Xmx512M", "-XX:MaxDirectMemorySize=512M",
			"-XX:+UseG1GC", "-Djava.net.preferIPv4Stack=true",
			"-Dio.netty.tryReflectionSetAccessible=true", "--add-opens",
			"java.base/sun.net=ALL-UNNAMED", "--add-opens", "java.base/java.lang=ALL-UNNAMED",
			"--add-opens", "java.base/java.util.zip=ALL-UNNAMED", "--add-opens",
			"java.base/java.nio=ALL-UNNAMED", "--add-opens",
			"java.base/jdk.internal.misc=ALL-UNNAMED",
			"-Dpulsar.allocator.exit_on_oom=true", "-Dio.netty.recycler.maxCapacityPerThread=4096",
			"-Dlog4j.configurationFile=log4j2.yaml", "-Dpulsar.log.appender=Console",
			"-Dpulsar.log.dir=" + r.dir,
			// Its last output comes while it ends.
			"-Dpulsar.log.immediateFlush=true", "-Dlog4j.shutdownHookEnabled=false",
			"-cp", filepath.Join(dist, "conf") + string(filepath.ListSeparator) +
				maven.Classpath(filepath.Join(dist, "lib")),
			"org.apache.pulsar.testclient.PulsarPerfTestTool", filepath.Join(dist, "conf",
				"client.conf")}, args...)...)
	}
	consumer := java("consume", "--service-url", url, "--subscription-type", "Failover",
		"--receiver-queue-size", "1000",
		"--subscription-position", "Earliest", "--test-duration", fmt.Sprint(
			rivalTime.Seconds()), name)
	producer := java("produce", "--service-url", url, "--rate", strconv.Itoa(r.rate), "--size",
		strconv.Itoa(duelBytes),
		"--batch-time-window", "1", "--batch-max-bytes", "1048576", "--batch-max-messages",
		"100000", "--max-outstanding", strconv.Itoa(r.unanswered),
		"--warmup-time", fmt.Sprint(duelWarmup.Seconds()), "--test-duration", fmt.Sprint(
			rivalTime.Seconds()), name)
	return []*exec.Cmd{producer, consumer}
}
