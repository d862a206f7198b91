package command

import (
	"fmt"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/systems/rabbitmq"
)

// perfTest is the RabbitMQ team's own tool.
var perfTest = maven.Artifacts{Name: "perf-test-2.22.1",
	Coordinates: []string{"com.rabbitmq:perf-test:2.22.1"}, Sums: toolSums}

// perfTestInterval is PerfTest's reporting interval: the first report ends the warm-up, the second
// covers the window, and there is no third.
const perfTestInterval = rivalTime * 4 / 9

// perfTestPrinted matches its report of an interval, in us.
var perfTestPrinted = regexp.MustCompile(
	`consumer latency: \d+/(\d+)/\d+/\d+/(\d+) µs, confirm latency: \d+/(\d+)/\d+/\d+/(\d+) µs`)

// BenchmarkRabbitMQTools compares plimsoll with RabbitMQ PerfTest: one quorum queue of three
// members, persistent and mandatory messages, confirms with up to 10,000 in flight, a prefetch of
// 500. Consumers acknowledge each message by itself, or 50 together.
func BenchmarkRabbitMQTools(b *testing.B) {
	if err := rabbitmq.Installed(); err != nil {
		b.Skipf("%s: %v", b.Name(), err)
	}
	for _, acked := range []int{1, 50} {
		b.Run(fmt.Sprintf("acked=%d", acked), besidePerfTest(5_000, 10_000, acked).run)
	}
}

// BenchmarkRabbitMQStall stops all servers for a second, while both sides have at most 50 messages
// in flight, to see what each side reports about the second in which it could not send.
func BenchmarkRabbitMQStall(b *testing.B) {
	if err := rabbitmq.Installed(); err != nil {
		b.Skipf("%s: %v", b.Name(), err)
	}
	d := besidePerfTest(1_000, 50, 1)
	d.stall = time.Second
	d.run(b)
}

// besidePerfTest returns the duel in which consumers acknowledge acked messages together. PerfTest
// waits for that number; plimsoll waits for at most a second. To keep a rate, PerfTest sleeps, with
// Java 17 for whole milliseconds, and then sends what is due at once; plimsoll's load has bursts as
// large.
func besidePerfTest(rate, unanswered, acked int) duel {
	return duel{
		system: rabbitmq.New(), rival: "PerfTest", rate: rate, burst: rate / 1000,
		partitions: 1, unanswered: unanswered,
		client: fmt.Sprintf("prefetch: 500, ack_batch: %d, ack_delay: 1s", acked),
		start: func(r *ring, topic string) []*exec.Cmd {
			return startPerfTest(r, topic, acked)
		},
		figures: func(printed string) reported {
			n := numbers(perfTestPrinted, printed)
			return reported{publish50: n[2] / 1e3, publish99: n[3] / 1e3, endToEnd50: n[0] / 1e3,
				endToEnd99: n[1] / 1e3}
		},
	}
}

func startPerfTest(r *ring, topic string, acked int) []*exec.Cmd {
	jars, err := perfTest.Fetch(r.Context(), func(s string) { r.Log(s) })
	if err != nil {
		r.Fatal(err)
	}
	uri := url.URL{Scheme: "amqp",
		User: url.UserPassword(r.credentials.User, r.credentials.Password), Host: r.endpoints[0]}
	return []*exec.Cmd{r.java([]string{"URI=" + uri.String()},
		"-Xmx512M", "-cp", maven.Classpath(jars), "com.rabbitmq.perf.PerfTest",
		"--queue", topic, "--quorum-queue", "--auto-delete", "false", "--flag", "persistent",
		"--flag", "mandatory",
		"--producers", "1", "--consumers", "1", "--size", strconv.Itoa(duelBytes),
		"--rate", strconv.Itoa(r.rate), "--confirm", strconv.Itoa(r.unanswered),
		"--interval", fmt.Sprint(perfTestInterval.Seconds()),
		"--qos", "500", "--multi-ack-every", strconv.Itoa(acked),
		"--time", fmt.Sprint(rivalTime.Seconds()))}
}
