package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/result"
)

// A broker killed in the middle of a run: the run goes on, the time line shows
// it, every message is counted once, and nothing acknowledged is lost at the
// levels that promise it.
func TestKafkaBrokerKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Kafka clusters, for about 50 s each")
	}
	if err := maven.Available(); err != nil {
		t.Skipf("%s needs Java and Maven: %v", t.Name(), err)
	}
	for _, level := range []int{1, 2} {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) {
			dir := t.TempDir()
			cmd := self(t, dir, "run", "-t", "kafka", "-w", "killed.yaml", "--durability", fmt.Sprint(level))
			workload := "name: killed\npartitions: 6\nload: {rate: 2k/s}\nwarmup: 3s\nduration: 25s\n"
			if err := os.WriteFile(filepath.Join(dir, "killed.yaml"), []byte(workload), 0o644); err != nil {
				t.Fatal(err)
			}
			victim := killNodeAmid(t, cmd, dir)
			checkSurvived(t, filepath.Join(dir, "runs", result.LatestLink), victim)
			for _, n := range nodesOf(t, dir) {
				if err := syscall.Kill(n.PID, 0); err == nil {
					t.Errorf("%s (pid %d) was left behind", n.Name, n.PID)
				}
			}
		})
	}
}

func nodesOf(t *testing.T, dir string) []result.Node {
	t.Helper()
	saved, err := result.Read(filepath.Join(dir, "runs", result.LatestLink))
	if err != nil {
		t.Fatal(err)
	}
	return saved.Run.System.Nodes
}

// killNodeAmid runs plimsoll, kills the second node five seconds into the
// measured window, and waits for the end.
func killNodeAmid(t *testing.T, cmd *exec.Cmd, dir string) (victim result.Node) {
	t.Helper()
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for lines := bufio.NewScanner(talk); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if !strings.HasPrefix(lines.Text(), "measure: every message") {
			continue
		}
		time.Sleep(5 * time.Second)
		victim = nodesOf(t, dir)[1]
		if err := syscall.Kill(victim.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the run failed: %v\n%s", err, said.String())
	}
	return victim
}

func checkSurvived(t *testing.T, dir string, victim result.Node) {
	t.Helper()
	saved, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := saved.Run
	if r.State != result.Complete {
		t.Errorf("the run is %s: %s", r.State, r.StateReason)
	}
	ended := fmt.Sprintf("node %s (pid %d) ended", victim.Name, victim.PID)
	if !slices.ContainsFunc(saved.Events, func(e result.Event) bool { return e.Kind == "fault" && e.Sentence == ended }) {
		t.Errorf("no event says %q: %v", ended, saved.Events)
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
	}
	publish := r.Summary.Series(result.Publish)
	t.Logf("%+v; lost 0, duplicate %d, unacknowledged and received %d; longest publish %s; errors %v",
		r.Counters, r.Ledger.Subscriptions[0].Duplicate, r.Ledger.Subscriptions[0].Unacked, time.Duration(publish.MaxNs), r.Errors)
}
