package command

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/systems/rabbitmq"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	killAfter  = 2 * time.Second // of the measured window
	deadFor    = 3 * time.Second
	rejoinWait = 90 * time.Second
)

// TestRealSystems drives each real system once through the command line. A testbed comes up at
// durability level 1. One of its nodes is killed during a run and restarted with its data: the run
// goes on, its time line shows both events, every message is counted once, no acknowledged message
// is lost, and the node becomes a full member again. Then the testbed's owner is killed, and
// nothing of the testbed is left.
//
// The systems run in parallel, because each mostly waits.
func TestRealSystems(t *testing.T) {
	home, err := systemtest.QuickJava(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("JAVA_HOME", home)
	for _, c := range []struct {
		name, settings, victim string
		needs                  func() error
		member                 func(*testing.T, *bench.Job) error // nil: the victim is a member
		fine                   bool                               // latencies are well below a second
		compiles               bool                               // servers compile their own code
	}{
		// Messages that the killed server had delivered are redelivered after ack_wait.
		{"nats", "{servers: processes, ack_wait: 3s}", "n2", func() error { return nil },
			allCurrent, false, false},
		{"kafka", "{security: sasl_ssl, linger: 2ms}", "n2", maven.Available, allInSync, false, true},
		{"rabbitmq", "{}", "n2", rabbitmq.Installed, allOnline, true, false},
		// With three bookies all writes wait until the killed one is back.
		{"pulsar", "{bookies: 4}", "bookie-2", maven.Available, allWritable, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("starts a cluster, for up to a minute")
			}
			if err := c.needs(); err != nil {
				t.Skipf("%s: %v", t.Name(), err)
			}
			t.Parallel()
			dir := inDir(t, map[string]string{
				"bed.yaml": fmt.Sprintf("name: bed\nsystem: %s\nsettings: %s\n", c.name,
					c.settings),
				"killed.yaml": "name: killed\npartitions: 6\nload: {rate: 1k/s}\n" +
					"warmup: 2s\nduration: 12s\ndrain: 2m\ndurability: 1\n",
			})
			plimsoll(t, dir, "testbed", "up", "bed.yaml", "--durability", "1")
			// Whatever fails here, no server may be left.
			t.Cleanup(func() { _ = self(t, dir, "testbed", "down").Run() })
			job := witness(t, dir)
			first, second := killAndStartAmid(t, dir, c.victim)
			saved := savedRun(t, dir)
			checkSurvived(t, saved, first, second)
			if c.fine {
				checkFine(t, saved)
			}
			if o := saved.Run.Observation; runtime.GOOS == "linux" && c.compiles !=
				slices.ContainsFunc(o.Processes, func(p result.ProcessUse) bool {
					return p.CompileNs != nil && *p.CompileNs > 0
				}) {
				t.Errorf("compiling: %+v", o.Processes)
			}
			awaitMember(t, func() error { return c.member(t, job) })
			killOwner(t, dir)
		})
	}
}

// killOwner ends the process that owns the testbed with -9: its servers end with it, and
// the next command removes its data.
func killOwner(t *testing.T, dir string) {
	t.Helper()
	bed := onlyBed(t, dir)
	var pids []int
	for _, n := range bed.Nodes {
		if !n.Alive || n.RSSBytes < 10<<20 {
			t.Errorf("%+v", n)
		}
		pids = append(pids, n.PID)
	}
	if err := syscall.Kill(bed.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	allGone(t, pids)
	plimsoll(t, dir, "testbed", "down")
	if left, _ := filepath.Glob(filepath.Join(dir, "runs", ".testbed", "*", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// onlyBed returns the state of the only running testbed.
func onlyBed(t *testing.T, dir string) testbed.State {
	t.Helper()
	var all []testbed.State
	out := plimsoll(t, dir, "testbed", "status", "--json")
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
		t.Fatalf("%v: %v", all, err)
	}
	return all[0]
}

// checkFine checks that latency has a resolution far below a millisecond. A clock of whole
// milliseconds, or of seconds like RabbitMQ's, would leave a single remainder. The values depend
// on the machine, but their resolution does not.
func checkFine(t *testing.T, saved *result.Saved) {
	t.Helper()
	const (
		grain = int64(10 * time.Microsecond) // the width of a remainder
		least = 20                           // of the 100 remainders of a millisecond
	)
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		h := saved.Total(series)
		remainders := map[int64]bool{}
		closest, last := int64(time.Hour), int64(0)
		for _, bar := range h.Distribution() {
			if bar.Count == 0 {
				continue
			}
			remainders[bar.From%int64(time.Millisecond)/grain] = true
			if last > 0 {
				closest = min(closest, bar.From-last)
			}
			last = bar.From
		}
		t.Logf("%s: %d messages, %d of 100 remainders of a millisecond, closest values %s apart",
			series, h.TotalCount(), len(remainders), time.Duration(closest))
		if h.TotalCount() < 9_000 || len(remainders) < least ||
			closest > int64(100*time.Microsecond) {
			t.Errorf("%s is not measured in less than a millisecond", series)
		}
	}
}

// killAndStartAmid runs plimsoll against the testbed, kills the victim in the measured window,
// restarts it, and waits for the end. It returns the victim's state before and after.
func killAndStartAmid(t *testing.T, dir, victim string) (first, second testbed.Node) {
	t.Helper()
	bed := filepath.Join("runs", ".testbed", "bed", "target.yaml")
	cmd := self(t, dir, "run", "-w", "killed.yaml", "-t", bed)
	var said strings.Builder
	for lines := linesOf(t, cmd); lines.Scan(); {
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
	_ = cmd.Wait()
	// No fault of the workload killed the server.
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Fatalf("the run ended with %v\n%s", cmd.ProcessState, said.String())
	}
	return first, second
}

// bedNode returns the current state of a server of the testbed.
func bedNode(t *testing.T, dir, name string) testbed.Node {
	t.Helper()
	bed := onlyBed(t, dir)
	i := slices.IndexFunc(bed.Nodes, func(n testbed.Node) bool { return n.Name == name })
	if i < 0 || !bed.Nodes[i].Alive {
		t.Fatalf("%s does not run: %+v", name, bed.Nodes)
	}
	return bed.Nodes[i]
}

func checkSurvived(t *testing.T, saved *result.Saved, first, second testbed.Node) {
	t.Helper()
	r := saved.Run
	if r.State != result.Complete {
		t.Errorf("the run is %s: %s", r.State, r.StateReason)
	}
	for _, sentence := range []string{
		fmt.Sprintf("node %s (pid %d) ended", first.Name, first.PID),
		fmt.Sprintf("node %s is back (pid %d)", second.Name, second.PID),
	} {
		if !slices.ContainsFunc(saved.Events,
			func(e result.Event) bool { return e.Kind == "fault" && e.Sentence == sentence }) {
			t.Errorf("no event says %q: %v", sentence, saved.Events)
		}
	}
	last := saved.Resources[len(saved.Resources)-1]
	if !slices.ContainsFunc(last.Processes,
		func(p result.ProcessUse) bool { return p.Name == second.Name && p.PID == second.PID }) {
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
		t.Logf("%+v; lost 0, duplicate %d, reordered %d, unacknowledged and received %d; longest "+
			"publish %s; errors %v",
			r.Counters, l.Duplicate, l.Reordered, l.Unacked, time.Duration(
				r.Summary.Series(result.Publish).MaxNs), r.Errors)
	}
}

// witness creates a topic that outlives the run, whose copies show which servers are members.
func witness(t *testing.T, dir string) *bench.Job {
	t.Helper()
	registered := systems.Registry()
	to, _, err := target.Find(filepath.Join(dir, "runs", ".testbed", "bed", "target.yaml"),
		registered.Names())
	if err != nil {
		t.Fatal(err)
	}
	load := workload.Default()
	load.Durability = workload.SyncSync
	job, err := newJob(load, to, dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := job.Trust.Config()
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := job.System.Connect(t.Context(), system.Options{
		Endpoints: to.Endpoints, Credentials: system.Credentials(job.Secrets), TLS: encrypted,
		Settings: job.Settings, Durability: load.Durability,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.CreateTopic(t.Context(),
		system.Topic{Name: "witness", Partitions: 3}); err != nil {
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
