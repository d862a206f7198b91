package pulsar

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

// TestAcknowledgementWaitsForSync delays the syncs of one, two and all three of
// the bookies that hold a partition's ledger, and looks at how many of them the
// acknowledgement waits for. It shows what the levels rest on.
func TestAcknowledgementWaitsForSync(t *testing.T) {
	needJava(t)
	if _, err := exec.LookPath("strace"); err != nil || os.Geteuid() != 0 {
		t.Skipf("%s needs root and strace, which delays system calls: apt-get install strace", t.Name())
	}
	for _, one := range []struct {
		level workload.Level
		slow  []bool // with one, two and three slow bookies: does it wait
	}{
		{workload.SyncSync, []bool{false, true, true}},
		{workload.SyncAsync, []bool{false, false, false}},
		{workload.AsyncSync, []bool{false, false, true}},
		{workload.AsyncAsync, []bool{false, false, false}},
	} {
		t.Run(fmt.Sprintf("level %d", one.level), func(t *testing.T) {
			servers := clusterAt(t, one.level)
			c := connect(t, optionsOf(t, servers, one.level))
			topic := systemtest.Topic(t, c, fmt.Sprintf("sync-%d", one.level), 1)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			medianAck(t, p) // the first sends make connections
			plain := medianAck(t, p)
			bookies := ensemblePIDs(t, c, servers, topic)
			for i, waits := range one.slow {
				slow := delayed(t, p, bookies[:i+1]...)
				t.Logf("acknowledged after %s; with the syncs of %d bookies delayed by %s: %s", plain, i+1, syncDelay, slow)
				if slow-plain >= syncDelay*9/10 != waits {
					t.Errorf("%d slow bookies: waits for them: %v", i+1, !waits)
				}
			}
		})
	}
}

// ensemblePIDs are the processes of the bookies that hold the partition's
// ledger.
func ensemblePIDs(t *testing.T, c *cluster, servers *provisionedCluster, topic system.Topic) []int {
	t.Helper()
	l, err := c.readLedger(soon(t), topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, n := range servers.bookies {
		if slices.Contains(l.bookies, n.address) {
			pids = append(pids, n.process.PID())
		}
	}
	if len(pids) != 3 {
		t.Fatalf("the ledger is on %v, of which %d are known", l.bookies, len(pids))
	}
	return pids
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
