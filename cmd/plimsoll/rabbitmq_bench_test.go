package main

import (
	"fmt"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/systems/rabbitmq"
)

// perfTest is the RabbitMQ team's own tool.
var perfTest = maven.Artifacts{Name: "perf-test-2.22.1", Coordinates: []string{"com.rabbitmq:perf-test:2.22.1"}}

// perfTestPrinted is its report over all of its run, warm-up included, in us.
var (
	perfTestConsumer = regexp.MustCompile(`consumer latency min/median/75th/95th/99th \d+/(\d+)/\d+/\d+/(\d+) µs`)
	perfTestConfirm  = regexp.MustCompile(`confirm latency min/median/75th/95th/99th \d+/(\d+)/\d+/\d+/(\d+) µs`)
)

// BenchmarkRabbitMQTools is plimsoll beside RabbitMQ PerfTest: one quorum
// queue of three members, persistent and mandatory messages, confirms with up to
// 10,000 under way, a prefetch of 500, an acknowledgement of each message.
func BenchmarkRabbitMQTools(b *testing.B) {
	if err := rabbitmq.Installed(); err != nil {
		b.Skipf("%s: %v", b.Name(), err)
	}
	duel{
		system: rabbitmq.New(), rival: "PerfTest", rate: 5_000, partitions: 1,
		client: "prefetch: 500, ack_batch: 1",
		start:  startPerfTest,
		figures: func(printed string) reported {
			confirm, consumer := numbers(perfTestConfirm, printed), numbers(perfTestConsumer, printed)
			return reported{confirm[0] / 1e3, confirm[1] / 1e3, consumer[0] / 1e3, consumer[1] / 1e3}
		},
	}.run(b)
}

func startPerfTest(r *ring, topic string) []*exec.Cmd {
	jars, err := perfTest.Fetch(r.Context(), func(s string) { r.Log(s) })
	if err != nil {
		r.Fatal(err)
	}
	uri := url.URL{Scheme: "amqp", User: url.UserPassword(r.credentials.User, r.credentials.Password), Host: r.endpoints[0]}
	return []*exec.Cmd{r.java([]string{"URI=" + uri.String()},
		"-Xmx512M", "-cp", maven.Classpath(jars), "com.rabbitmq.perf.PerfTest",
		"--queue", topic, "--quorum-queue", "--auto-delete", "false", "--flag", "persistent", "--flag", "mandatory",
		"--producers", "1", "--consumers", "1", "--size", strconv.Itoa(duelBytes), "--rate", strconv.Itoa(r.rate),
		"--confirm", "10000", "--qos", "500", "--time", fmt.Sprint(rivalSeconds.Seconds()))}
}
