package kafka

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// syncDelay is by how much every sync is delayed. It stands far above what
// sending takes without.
const syncDelay = 100 * time.Millisecond

// TestAcknowledgementWaitsForSync delays the syncs of the leader, then those of
// the followers, and looks at what the acknowledgement waits for. It shows what
// the levels rest on, level 3 with them: the leader alone, and it does sync
// before it answers.
func TestAcknowledgementWaitsForSync(t *testing.T) {
	servers := sharedCluster(t)
	if _, err := exec.LookPath("strace"); err != nil || os.Geteuid() != 0 {
		t.Skipf("%s needs root and strace, which delays system calls: apt-get install strace", t.Name())
	}
	for level, want := range map[workload.Level]struct{ leader, followers bool }{
		workload.SyncSync:   {true, true},
		workload.SyncAsync:  {false, false},
		workload.AsyncSync:  {true, false},
		workload.AsyncAsync: {false, false},
	} {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) {
			c := connect(t, optionsOf(t, servers, level, setLinger, "0s"))
			topic := systemtest.Topic(t, c, fmt.Sprintf("sync-%d", level), 1)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			leader, followers := sides(t, c, servers, topic)
			medianAck(t, p) // the first sends make connections
			plain := medianAck(t, p)
			atLeader := delayed(t, p, leader)
			atFollowers := delayed(t, p, followers...)
			t.Logf("acknowledged after %s; leader's syncs delayed by %s: %s; followers': %s", plain, syncDelay, atLeader, atFollowers)
			if waits := atLeader-plain >= syncDelay*9/10; waits != want.leader {
				t.Errorf("waits for the leader's sync: %v", waits)
			}
			if waits := atFollowers-plain >= syncDelay*9/10; waits != want.followers {
				t.Errorf("waits for the followers' syncs: %v", waits)
			}
		})
	}
}

// sides are the processes of the partition's leader and of its followers.
func sides(t *testing.T, c *cluster, servers *provisionedCluster, topic system.Topic) (leader int, followers []int) {
	t.Helper()
	details, err := c.admin.ListTopics(t.Context(), topic.Name)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range servers.Nodes() {
		if int32(i+1) == details[topic.Name].Partitions[0].Leader {
			leader = n.PID
		} else {
			followers = append(followers, n.PID)
		}
	}
	return leader, followers
}

// medianAck sends one message after another.
func medianAck(t *testing.T, p system.Producer) time.Duration {
	t.Helper()
	var all []time.Duration
	for range 9 {
		l := systemtest.NewLetter("synced?")
		began := time.Now()
		p.Send(&l.Message)
		if err := l.Await(t); err != nil {
			t.Fatal(err)
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// delayed is medianAck while the syncs of some processes are delayed.
func delayed(t *testing.T, p system.Producer, pids ...int) time.Duration {
	t.Helper()
	var tracers []*exec.Cmd
	for _, pid := range pids {
		cmd := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=fsync,fdatasync,msync",
			"-e", fmt.Sprintf("inject=fsync,fdatasync,msync:delay_enter=%d", syncDelay.Microseconds()), "-p", fmt.Sprint(pid))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tracers = append(tracers, cmd)
	}
	defer func() {
		for _, cmd := range tracers {
			cmd.Process.Signal(syscall.SIGINT)
			cmd.Wait()
		}
	}()
	for _, pid := range pids {
		awaitTraced(t, pid)
	}
	return medianAck(t, p)
}

// awaitTraced waits until every thread of a process is traced.
func awaitTraced(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		if err != nil || len(threads) == 0 {
			t.Fatalf("process %d is gone", pid)
		}
		if !slices.ContainsFunc(threads, func(path string) bool {
			text, err := os.ReadFile(path)
			return err == nil && strings.Contains(string(text), "TracerPid:\t0\n")
		}) {
			return
		}
	}
	t.Skipf("%s needs to trace process %d, and it cannot", t.Name(), pid)
}
