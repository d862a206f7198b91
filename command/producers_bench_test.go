package command

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plimsoll-bench/plimsoll/systems/nats"
	"github.com/plimsoll-bench/plimsoll/systems/postgres"
	"github.com/plimsoll-bench/plimsoll/systems/redis"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// unending is a number of messages that no tool sends before it is stopped.
const unending = 1_000_000_000

// untimed is for a tool that prints no percentile of the window.
func untimed(string) reported { return reported{} }

// BenchmarkProducers compares plimsoll with tools that only send: pgbench, redis-benchmark and
// nats bench. Both sides send to topics that nobody reads.
func BenchmarkProducers(b *testing.B) {
	b.Run("pgbench", besidePgbench)
	b.Run("redis-benchmark", besideRedisBenchmark)
	b.Run("nats-bench", besideNATSBench)
}

// pgbenchPrinted matches the mean latency from the due time, in ms.
var pgbenchPrinted = regexp.MustCompile(`latency average = ([0-9.]+) ms`)

// besidePgbench: one row and one commit a message, one message under way, due at random times.
func besidePgbench(b *testing.B) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if len(found) == 0 {
		b.Skip("pgbench, which Debian's package postgresql has, is not installed")
	}
	program := found[len(found)-1]
	const rate = 500
	duel{
		system: postgres.New(), rival: "pgbench", rate: rate, partitions: 1, natives: true,
		server: map[string]string{"security": "none", "shape": "log"},
		client: "shape: log, wake: poll", unanswered: 1,
		load: fmt.Sprintf("subscriptions: 0\nload: {rate: %d/s, arrivals: poisson}\n", rate),
		start: func(r *ring, topic string) []*exec.Cmd {
			r.makeTopic(topic)
			script := filepath.Join(r.dir, "insert.sql")
			insert := fmt.Sprintf("INSERT INTO %q (part, key, payload) VALUES (0, NULL, :payload);\n",
				topic)
			writeIn(r, r.dir, map[string]string{"insert.sql": insert})
			host, port, err := net.SplitHostPort(r.endpoints[0])
			if err != nil {
				r.Fatal(err)
			}
			return []*exec.Cmd{r.native([]string{"PGOPTIONS=-c synchronous_commit=remote_write"},
				program, "-n", "-h", host, "-p", port, "-U", "postgres", "-M", "prepared", "-c", "1",
				"-j", "1", "-R", strconv.Itoa(r.rate), "-T", fmt.Sprint(rivalTime.Seconds()),
				"-D", "payload="+strings.Repeat("x", duelBytes), "-f", script, "postgres")}
		},
		figures: func(printed string) reported {
			if n := numbers(pgbenchPrinted, printed); n[0] == 0 {
				b.Fatalf("pgbench printed no latency:\n%s", printed)
			}
			return reported{} // a mean, and no percentile
		},
	}.run(b)
}

const (
	// redisPipeline is the messages of a pipeline, the next of which waits for its answers.
	redisPipeline = 16
	// redisKept bounds a stream, which is in memory.
	redisKept = "10000"
)

// besideRedisBenchmark: one connection, one pipeline of 16 XADDs after another, as fast as the
// primary answers, without waiting for replicas.
func besideRedisBenchmark(b *testing.B) {
	program, err := exec.LookPath("redis-benchmark")
	if err != nil {
		b.Skip("redis-benchmark, which Debian's package redis-tools has, is not installed")
	}
	duel{
		system: redis.New(), rival: "redis-benchmark", partitions: 1, natives: true, endless: true,
		level: workload.AsyncAsync, server: map[string]string{"security": "none"},
		client: "max_length: " + redisKept, load: closedLoop(redisPipeline), figures: untimed,
		count: func(r *ring) int64 {
			client := goredis.NewClient(&goredis.Options{Addr: r.endpoints[0]})
			defer client.Close()
			said, err := client.Info(r.Context(), "commandstats").Result()
			if err != nil {
				r.Fatal(err)
			}
			return int64(numbers(regexp.MustCompile(`cmdstat_xadd:calls=(\d+)`), said)[0])
		},
		start: func(r *ring, topic string) []*exec.Cmd {
			host, port, err := net.SplitHostPort(r.endpoints[0])
			if err != nil {
				r.Fatal(err)
			}
			return []*exec.Cmd{r.native(nil, program, "-h", host, "-p", port, "-c", "1", "-q",
				"-P", strconv.Itoa(redisPipeline), "-n", strconv.Itoa(unending), "XADD", topic,
				"MAXLEN", "~", redisKept, "*", "p", strings.Repeat("x", duelBytes))}
		},
	}.run(b)
}

// closedLoop is a load of producers alone that sends so many messages, and then waits for all
// their answers.
func closedLoop(batch int) string {
	return fmt.Sprintf("subscriptions: 0\nload: {closed: {in_flight: 1, batch: %d}}\n", batch)
}

// natsBatch is the messages of a batch, the next of which waits for its answers.
const natsBatch = 100

// besideNATSBench: one connection, a hundred messages at a time to a stream of three copies in
// files. nats bench sends the next hundred when it has all answers and the rate allows it; plimsoll
// when they are due.
func besideNATSBench(b *testing.B) {
	program, err := exec.LookPath("nats")
	if err != nil {
		b.Skip("the program nats is not installed: go install github.com/nats-io/natscli/nats@v0.5.1")
	}
	duel{
		system: nats.New(), rival: "nats bench", rate: 10_000, burst: natsBatch, partitions: 1,
		natives: true, server: map[string]string{"servers": "processes"},
		load: "subscriptions: 0\n", figures: untimed,
		start: func(r *ring, topic string) []*exec.Cmd {
			r.makeTopic(topic)
			return []*exec.Cmd{r.native([]string{"NATS_USER=" + r.credentials.User,
				"NATS_PASSWORD=" + r.credentials.Password, "HOME=" + r.dir}, program,
				"--server", strings.Join(r.endpoints, ","), "bench", "js", "pub", "async",
				topic+".0", "--stream", topic, "--size", strconv.Itoa(duelBytes), "--clients", "1",
				"--batch", strconv.Itoa(natsBatch), "--throughput", strconv.Itoa(r.rate),
				"--duration", rivalTime.String(), "--no-progress")}
		},
	}.run(b)
}
