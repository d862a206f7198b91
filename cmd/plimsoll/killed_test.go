package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/systems/rabbitmq"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	killAfter  = 5 * time.Second // of the measured window
	deadFor    = 5 * time.Second
	rejoinWait = 90 * time.Second
	// The measured window, in which most victims come back: they need seconds to
	// start. What waits for a slower one is drained after it.
	longWindow  = 30 * time.Second
	shortWindow = 14 * time.Second
)

// A node that is killed in the middle of a run and started again on its data
// while the load goes on: the run goes on, the time line shows both, every
// message is counted once, nothing acknowledged is lost at the levels that
// promise it, and the node is a full member again at the end.
func TestNodeKilledAndBroughtBack(t *testing.T) {
	if testing.Short() {
		t.Skip("starts clusters, for about a minute each")
	}
	for _, c := range []struct {
		name, target, victim string
		level                int
		duration             time.Duration
		needs                func() error
		member               func(*testing.T, *bench.Job) error // nil: the victim is one again
	}{
		// What the dead server had delivered comes again after ack_wait.
		{"nats", "settings: {servers: processes, ack_wait: 3s}", "n2", 1, shortWindow, alwaysThere, allCurrent},
		{"nats", "settings: {servers: processes, ack_wait: 3s}", "n2", 2, shortWindow, alwaysThere, allCurrent},
		{"kafka", "settings: {security: plaintext}", "n2", 1, longWindow, maven.Available, allInSync},
		{"kafka", "settings: {security: plaintext}", "n2", 2, longWindow, maven.Available, allInSync},
		{"rabbitmq", "", "n2", 1, longWindow, rabbitmq.Installed, allOnline},
		{"rabbitmq", "", "n2", 2, longWindow, rabbitmq.Installed, allOnline},
		// With three bookies all writes wait until the dead one is back.
		{"pulsar", "settings: {bookies: 4}", "bookie-2", 1, longWindow, maven.Available, allWritable},
		{"pulsar", "", "bookie-2", 2, longWindow, maven.Available, allWritable},
	} {
		t.Run(fmt.Sprintf("%s level %d", c.name, c.level), func(t *testing.T) {
			if err := c.needs(); err != nil {
				t.Skipf("%s: %v", t.Name(), err)
			}
			dir, level := t.TempDir(), fmt.Sprint(c.level)
			for name, content := range map[string]string{
				"bed.yaml":    fmt.Sprintf("name: bed\nsystem: %s\n%s\n", c.name, c.target),
				"killed.yaml": fmt.Sprintf("name: killed\npartitions: 6\nload: {rate: 1k/s}\nwarmup: 5s\nduration: %s\ndrain: 2m\ndurability: %d\n", c.duration, c.level),
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			plimsoll(t, dir, "testbed", "up", "bed.yaml", "--durability", level)
			t.Cleanup(func() { plimsoll(t, dir, "testbed", "down", "bed") })
			job := witness(t, dir, c.level)
			first, second := killAndStartAmid(t, dir, c.victim)
			checkSurvived(t, filepath.Join(dir, "runs", result.LatestLink), first, second)
			awaitMember(t, func() error { return c.member(t, job) })
		})
	}
}

// killAndStartAmid runs plimsoll against the testbed, kills the victim in the
// measured window, starts it again, and waits for the end. It returns the victim
// as it was in both its lives.
func killAndStartAmid(t *testing.T, dir, victim string) (first, second testbed.Node) {
	t.Helper()
	cmd := self(t, dir, "run", "-w", "killed.yaml", "-t", filepath.Join("runs", ".testbed", "bed", "target.yaml"))
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var said strings.Builder
	for lines := bufio.NewScanner(talk); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if !strings.HasPrefix(lines.Text(), "measure: every message") {
			continue
		}
		first = bedNode(t, dir, victim)
		time.Sleep(killAfter)
		plimsoll(t, dir, "testbed", "kill", "bed", victim)
		time.Sleep(deadFor)
		plimsoll(t, dir, "testbed", "start", "bed", victim)
		second = bedNode(t, dir, victim)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the run failed: %v\n%s", err, said.String())
	}
	return first, second
}

// bedNode is how a server of the testbed is now.
func bedNode(t *testing.T, dir, name string) testbed.Node {
	t.Helper()
	var all []testbed.State
	if err := json.Unmarshal([]byte(plimsoll(t, dir, "testbed", "status", "--json")), &all); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all[0].Nodes, func(n testbed.Node) bool { return n.Name == name })
	if i < 0 || !all[0].Nodes[i].Alive {
		t.Fatalf("%s does not run: %+v", name, all[0].Nodes)
	}
	return all[0].Nodes[i]
}

func checkSurvived(t *testing.T, dir string, first, second testbed.Node) {
	t.Helper()
	saved, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := saved.Run
	if r.State != result.Complete {
		t.Errorf("the run is %s: %s", r.State, r.StateReason)
	}
	for _, sentence := range []string{
		fmt.Sprintf("node %s (pid %d) ended", first.Name, first.PID), fmt.Sprintf("node %s is back (pid %d)", second.Name, second.PID),
	} {
		if !slices.ContainsFunc(saved.Events, func(e result.Event) bool { return e.Kind == "fault" && e.Sentence == sentence }) {
			t.Errorf("no event says %q: %v", sentence, saved.Events)
		}
	}
	last := saved.Resources[len(saved.Resources)-1]
	if !slices.ContainsFunc(last.Processes, func(p result.ProcessUse) bool { return p.Name == second.Name && p.PID == second.PID }) {
		t.Errorf("what %s spends is not known at the end: %+v", second.Name, last.Processes)
	}
	for _, c := range []result.Counters{r.Warmup, r.Counters} {
		if c.Scheduled != c.Acked+c.Failed+c.Unknown+c.Unsent {
			t.Errorf("the counters do not add up: %+v", c)
		}
	}
	for _, l := range r.Ledger.Subscriptions {
		if l.Lost > 0 || l.Acked == 0 || l.Acked != r.Warmup.Acked+r.Counters.Acked {
			t.Errorf("the account: %+v", l)
		}
		t.Logf("%+v; lost 0, duplicate %d, reordered %d, unacknowledged and received %d; longest publish %s; errors %v",
			r.Counters, l.Duplicate, l.Reordered, l.Unacked, time.Duration(r.Summary.Series(result.Publish).MaxNs), r.Errors)
	}
}

// witness makes a topic that outlives the run, whose copies show who is a
// member.
func witness(t *testing.T, dir string, level int) *bench.Job {
	t.Helper()
	registered := systems.Registry()
	to, _, err := target.Find(filepath.Join(dir, "runs", ".testbed", "bed", "target.yaml"), registered.Names())
	if err != nil {
		t.Fatal(err)
	}
	load := workload.Default()
	load.Durability = workload.Level(level)
	job, err := newJob(registered, load, to, dir)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := job.System.Connect(t.Context(), system.Options{
		Endpoints: to.Endpoints, Credentials: system.Credentials(job.Secrets), Settings: job.Settings, Durability: load.Durability,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.CreateTopic(t.Context(), system.Topic{Name: "witness", Partitions: 3}); err != nil {
		t.Error(err)
	}
	if err := cluster.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return job
}

// awaitMember waits until the victim is a member again.
func awaitMember(t *testing.T, is func() error) {
	t.Helper()
	began := time.Now()
	err := is()
	for ; err != nil && time.Since(began) < rejoinWait; err = is() {
		time.Sleep(500 * time.Millisecond)
	}
	if err != nil {
		t.Errorf("%s after the run: %v", rejoinWait, err)
	}
}

// alwaysThere is for servers that come with plimsoll.
func alwaysThere() error { return nil }

// allCurrent asks NATS whether every replica of every stream is there and
// current.
func allCurrent(t *testing.T, job *bench.Job) error {
	conn, err := nats.Connect(strings.Join(job.Target.Endpoints, ","), nats.UserInfo(job.Secrets.User, job.Secrets.Password))
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	streams := 0
	all := js.ListStreams(ctx)
	for s := range all.Info() {
		streams++
		if s.Cluster == nil || s.Cluster.Leader == "" || 1+len(s.Cluster.Replicas) != len(job.Target.Endpoints) {
			return fmt.Errorf("stream %s is not everywhere: %+v", s.Config.Name, s.Cluster)
		}
		for _, r := range s.Cluster.Replicas {
			if !r.Current || r.Offline {
				return fmt.Errorf("of stream %s, %s is not current: %+v", s.Config.Name, r.Name, r)
			}
		}
	}
	if streams == 0 {
		return errors.Join(all.Err(), errors.New("the stream witness is not there"))
	}
	return all.Err()
}

// allInSync asks Kafka whether every replica of every partition is in sync.
func allInSync(t *testing.T, job *bench.Job) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(job.Target.Endpoints...))
	if err != nil {
		return err
	}
	defer client.Close()
	topics, err := kadm.NewClient(client).ListTopicsWithInternal(t.Context())
	if err != nil {
		return err
	}
	if !topics.Has("witness") {
		return errors.New("the topic witness is not there")
	}
	for _, topic := range topics {
		for _, p := range topic.Partitions {
			if len(p.ISR) < len(p.Replicas) || len(p.Replicas) != len(job.Target.Endpoints) {
				return fmt.Errorf("%s %d has replicas %v, in sync %v", p.Topic, p.Partition, p.Replicas, p.ISR)
			}
		}
	}
	return nil
}

// allOnline asks RabbitMQ whether every member of every quorum queue is online.
func allOnline(t *testing.T, job *bench.Job) error {
	var queues []struct {
		Name            string
		Members, Online []string
	}
	if err := getJSON(t, job, job.Target.Endpoints[0], "15672", "/api/queues", &queues); err != nil {
		return err
	}
	if len(queues) < 3 {
		return fmt.Errorf("the queues of witness are not there: %+v", queues)
	}
	for _, q := range queues {
		if len(q.Members) != len(job.Target.Endpoints) || len(q.Online) != len(q.Members) {
			return fmt.Errorf("%s has members %v, online %v", q.Name, q.Members, q.Online)
		}
	}
	return nil
}

// allWritable asks a bookie whether all are known as writable.
func allWritable(t *testing.T, job *bench.Job) error {
	var bookies map[string]any
	if err := getJSON(t, job, job.Target.Endpoints[0], "8000", "/api/v1/bookie/list_bookies?type=rw", &bookies); err != nil {
		return err
	}
	started := 0
	for _, p := range job.Target.Processes {
		if strings.HasPrefix(p.Name, "bookie-") {
			started++
		}
	}
	if len(bookies) != started {
		return fmt.Errorf("of %d bookies these are writable: %v", started, bookies)
	}
	return nil
}

// getJSON asks the host of an endpoint at another port.
func getJSON(t *testing.T, job *bench.Job, endpoint, port, path string, into any) error {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return err
	}
	request.SetBasicAuth(job.Secrets.User, job.Secrets.Password)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", request.URL, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// nodesOf are the servers that the last run started.
func nodesOf(t *testing.T, dir string) []result.Node {
	t.Helper()
	saved, err := result.Read(filepath.Join(dir, "runs", result.LatestLink))
	if err != nil {
		t.Fatal(err)
	}
	return saved.Run.System.Nodes
}
