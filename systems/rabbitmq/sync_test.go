package rabbitmq

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

const (
	// syncDelay is by how much every sync is delayed. It stands far above what
	// sending takes without.
	syncDelay = 100 * time.Millisecond
	// stopFor is how long nodes are stopped; the others do not miss them yet.
	stopFor = 1500 * time.Millisecond
)

// waits is what the confirm of a queue type at a level waits for.
type waits struct {
	kind              string
	level             workload.Level
	leader, followers bool // their syncs
	copies            bool // the followers themselves
}

// TestConfirmWaitsForSync delays the syncs of the leader, then those of the
// followers, then stops the followers, and looks at what the confirm waits for.
// It shows what the levels rest on. A quorum queue's majority can do without its
// leader's sync.
func TestConfirmWaitsForSync(t *testing.T) {
	servers := sharedCluster(t)
	for _, want := range []waits{
		{classic, workload.AsyncSync, true, false, false},
		{classic, workload.AsyncAsync, false, false, false},
		{mirrored, workload.SyncSync, true, true, true},
		{mirrored, workload.SyncAsync, false, false, true},
		{quorum, workload.SyncSync, false, true, true},
		{streamed, workload.SyncAsync, false, false, true},
	} {
		t.Run(fmt.Sprintf("%s at level %d", want.kind, want.level), func(t *testing.T) { want.hold(t, servers) })
	}
}

// hold looks at a topic of one partition, whose leader is on the first node.
func (want waits) hold(t *testing.T, servers *provisionedCluster) {
	c := connect(t, optionsOf(t, servers, want.level, setQueueType, want.kind))
	p := systemtest.Producer(t, c, systemtest.Topic(t, c, fmt.Sprintf("sync-%s-%d", want.kind, want.level), 1), 0, workload.AtLeastOnce)
	nodes := servers.Nodes()
	leader, followers := nodes[0].PID, []int{nodes[1].PID, nodes[2].PID}
	medianAck(t, p) // the first sends warm up
	plain := medianAck(t, p)
	stopped := ackWhileStopped(t, p, followers)
	if got := stopped > stopFor*3/4; got != want.copies {
		t.Errorf("confirmed after %s with the followers stopped for %s; waits for them: %v", stopped, stopFor, got)
	}
	if _, err := exec.LookPath("strace"); err != nil || os.Geteuid() != 0 {
		t.Skipf("%s needs root and strace, which delays system calls: apt-get install strace", t.Name())
	}
	medianAck(t, p) // what was stopped has caught up
	atLeader := delayed(t, p, leader)
	atFollowers := delayed(t, p, followers...)
	t.Logf("confirmed after %s; leader's syncs delayed by %s: %s; followers': %s; followers stopped for %s: %s",
		plain, syncDelay, atLeader, atFollowers, stopFor, stopped)
	if got := atLeader-plain >= syncDelay*9/10; got != want.leader {
		t.Errorf("waits for the leader's sync: %v", got)
	}
	if got := atFollowers-plain >= syncDelay*9/10; got != want.followers {
		t.Errorf("waits for the followers' syncs: %v", got)
	}
}

// ackWhileStopped sends one message while some processes are stopped.
func ackWhileStopped(t *testing.T, p system.Producer, pids []int) time.Duration {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	goOn := func() {
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGCONT)
		}
	}
	defer goOn()
	timer := time.AfterFunc(stopFor, goOn)
	defer timer.Stop()
	return oneAck(t, p)
}

func oneAck(t *testing.T, p system.Producer) time.Duration {
	t.Helper()
	l := systemtest.NewLetter("synced?")
	began := time.Now()
	p.Send(&l.Message)
	if err := l.Await(t); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// medianAck sends one message after another.
func medianAck(t *testing.T, p system.Producer) time.Duration {
	t.Helper()
	var all []time.Duration
	for range 9 {
		all = append(all, oneAck(t, p))
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

// TestQuorumWithoutSync starts servers of level 2 and holds that they are what
// level 2 asks for, and not what level 1 does.
func TestQuorumWithoutSync(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster, for about 25 s")
	}
	servers := provisionWith(t, workload.SyncAsync, setQueueType, quorum)
	waits{quorum, workload.SyncAsync, false, false, true}.hold(t, servers)
	c := connect(t, optionsOf(t, servers, workload.SyncAsync, setQueueType, quorum))
	topic := systemtest.Topic(t, c, "level-two", 3)
	e, err := c.ReadDurability(t.Context(), []system.Topic{topic})
	if err != nil || e.Level != workload.SyncAsync {
		t.Errorf("read level %d: %v", e.Level, err)
	}
	strict := connect(t, optionsOf(t, servers, workload.SyncSync, setQueueType, quorum))
	_, err = strict.ReadDurability(t.Context(), []system.Topic{topic})
	refused(t, time.Now(), err, "durability level 1", noSyncFile)
}
