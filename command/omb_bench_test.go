package command

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/systems/kafka"
)

// ombPrinted is OMB's line on the publish latencies of the whole run, in ms.
var ombPrinted = regexp.MustCompile(
	`Aggregated Pub Latency \(ms\) avg: +[\d.]+ - 50%: +([\d.]+) - 95%: +[\d.]+ - 99%: +([\d.]+)`)

// ombBegins is part of the line that OMB prints when it begins to count its load, which is already
// under way.
const ombBegins = "Starting benchmark traffic"

// ombEnds is in the line that OMB prints behind its last figures. Its process may stay after it.
const ombEnds = "Writing test result into"

// ombMost bounds the minute of load, the least that OMB offers, and its end.
const ombMost = 90 * time.Second

// ombStart bounds the time until that line: OMB waits up to a minute for its consumers.
const ombStart = 2 * time.Minute

// BenchmarkOMB compares plimsoll with a worker of the OpenMessaging Benchmark on Kafka: acks=all,
// batches of 5 ms or 1 MB, not compressed, messages without a key spread as Kafka's client does,
// offsets committed every 5 s. With OMB's own files for Kafka, its consumer commits after each
// poll, which plimsoll's does not.
func BenchmarkOMB(b *testing.B) {
	home := os.Getenv("OMB_HOME")
	if home == "" {
		b.Skipf("%s needs OMB_HOME, the folder of a build of the OpenMessaging Benchmark with its "+
			"jars in lib: docs/OMB.md says how to build one", b.Name())
	}
	for _, rate := range []int{20_000, 1_000} {
		b.Run(fmt.Sprintf("%d-msgs-per-s", rate), func(b *testing.B) {
			duel{
				system: kafka.New(), rival: "OMB", rate: rate, partitions: 12,
				server: map[string]string{"security": "plaintext"},
				client: kafkaClient, load: "spread: client\n", killed: true,
				start: func(r *ring, _ string) []*exec.Cmd { return startOMB(r, home) },
				figures: func(printed string) reported {
					n := numbers(ombPrinted, printed)
					return reported{publish50: n[0], publish99: n[1]}
				},
			}.run(b)
		})
	}
}

// startOMB starts OMB, and returns when its load is under way. OMB makes a topic of its own, which
// stays until the cluster ends.
func startOMB(r *ring, home string) []*exec.Cmd {
	r.writeOMB()
	begins, ends := make(chan struct{}), make(chan struct{})
	said := &heard{awaited: []awaited{{ombBegins, begins}, {ombEnds, ends}}}
	cmd := r.javaTo(said, nil, "-Xms1G", "-Xmx1G", "-XX:+UseG1GC",
		"-cp", filepath.Join(home, "lib", "*"), "io.openmessaging.benchmark.Benchmark",
		"-d", "driver.yaml", "-o", "result.json", "omb.yaml")
	select {
	case <-begins:
	case <-time.After(ombStart):
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		r.Fatalf("OMB offered no load within %s:\n%s", ombStart, said)
	}
	go func() {
		select {
		case <-ends:
		case <-time.After(ombMost):
		}
		_ = cmd.Process.Kill()
	}()
	return []*exec.Cmd{cmd}
}

// writeOMB writes OMB's driver, workload and payload into the folder of the duel.
func (r *ring) writeOMB() {
	r.Helper()
	payload := make([]byte, duelBytes)
	_, _ = rand.Read(payload) // never fails
	writeIn(r, r.dir, map[string]string{
		"payload.data": string(payload),
		"driver.yaml": fmt.Sprintf(`name: Kafka
driverClass: io.openmessaging.benchmark.driver.kafka.KafkaBenchmarkDriver
replicationFactor: 3
topicConfig: |
  min.insync.replicas=2
commonConfig: |
  bootstrap.servers=%s
producerConfig: |
  acks=all
  linger.ms=5
  batch.size=1048576
consumerConfig: |
  auto.offset.reset=earliest
  enable.auto.commit=true
  max.partition.fetch.bytes=10485760
`, strings.Join(r.endpoints, ",")),
		"omb.yaml": fmt.Sprintf(`name: duel
topics: 1
partitionsPerTopic: %d
messageSize: %d
payloadFile: payload.data
subscriptionsPerTopic: 1
consumerPerSubscription: 1
producersPerTopic: 1
producerRate: %d
consumerBacklogSizeGB: 0
warmupDurationMinutes: 0
testDurationMinutes: 1
`, r.partitions, duelBytes, r.rate),
	})
}

// heard keeps a process's output, and reports when texts have come. One goroutine writes; others
// read after the process's end.
type heard struct {
	printed bytes.Buffer // not embedded: io.Copy would fill it without a Write
	awaited []awaited    // in the order in which they come
}

// awaited is a text and a channel that is closed when it has come.
type awaited struct {
	text string
	came chan struct{}
}

func (h *heard) Write(p []byte) (int, error) {
	n, err := h.printed.Write(p)
	for len(h.awaited) > 0 && bytes.Contains(h.printed.Bytes(), []byte(h.awaited[0].text)) {
		close(h.awaited[0].came)
		h.awaited = h.awaited[1:]
	}
	return n, err
}

func (h *heard) String() string { return h.printed.String() }
