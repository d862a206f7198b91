package systemtest

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

	"github.com/plimsoll-bench/plimsoll/internal/process"
	"github.com/plimsoll-bench/plimsoll/system"
)

// SyncDelay is by how much DelayedAck delays every sync. It stands far above
// what sending takes without.
const SyncDelay = 100 * time.Millisecond

// Ack returns the time until a message is acknowledged.
func Ack(t testing.TB, p system.Producer) time.Duration {
	t.Helper()
	l := NewTestMessage("synced?")
	began := time.Now()
	p.Send(&l.Message)
	if err := l.Await(t); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// MedianAck is the median of Ack over messages sent one after another.
func MedianAck(t testing.TB, p system.Producer) time.Duration {
	t.Helper()
	all := acks(t, p)
	slices.Sort(all)
	return all[len(all)/2]
}

func acks(t testing.TB, p system.Producer) []time.Duration {
	t.Helper()
	all := make([]time.Duration, 9)
	for i := range all {
		all[i] = Ack(t, p)
	}
	return all
}

// NeedDelays skips a test, by name, where syncs cannot be delayed.
func NeedDelays(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil || os.Geteuid() != 0 {
		t.Skipf("%s needs root and strace, which delays system calls: apt-get install strace",
			t.Name())
	}
}

// tracerStarts is longer than strace takes from the attachment to a thread to its system calls.
const tracerStarts = 200 * time.Millisecond

// DelayedAck is the shortest time to an acknowledgement, of messages sent one after another,
// while each sync of some processes, and of all that descend from them, takes SyncDelay longer.
// It is the shortest because a guarantee holds for every message.
func DelayedAck(t testing.TB, p system.Producer, pids ...int) time.Duration {
	t.Helper()
	var tracers []*exec.Cmd
	defer func() {
		for _, cmd := range tracers {
			_ = cmd.Process.Signal(syscall.SIGINT)
			_ = cmd.Wait() // it ends by the signal
		}
	}()
	for _, pid := range pids {
		arguments := []string{"-f", "-qq", "-o", os.DevNull, "-e", "trace=fsync,fdatasync,msync",
			"-e", fmt.Sprintf("inject=fsync,fdatasync,msync:delay_enter=%d",
				SyncDelay.Microseconds())}
		for _, member := range process.Family(pid) {
			arguments = append(arguments, "-p", fmt.Sprint(member))
		}
		cmd := exec.Command("strace", arguments...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tracers = append(tracers, cmd)
	}
	for _, pid := range pids {
		for _, member := range process.Family(pid) {
			awaitTraced(t, member, member == pid)
		}
	}
	// strace is named as a thread's tracer a moment before it stops it, which is long on a busy
	// machine.
	time.Sleep(tracerStarts)
	return slices.Min(acks(t, p))
}

// Syncs returns the system calls by which a process syncs anything while do runs, a line each.
func Syncs(t testing.TB, pid int, do func()) string {
	t.Helper()
	said := filepath.Join(t.TempDir(), "syncs")
	cmd := exec.Command("strace", "-f", "-qq", "-o", said, "-e", "signal=none", "-e",
		"trace=fsync,fdatasync,msync,sync_file_range,syncfs,sync", "-p", fmt.Sprint(pid))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // twice is no harm
		_ = cmd.Wait()
	}()
	awaitTraced(t, pid, true)
	do()
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait() // it ends by the signal
	raw, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// WaitedForSync reports whether an acknowledgement that took slow waited for a delayed sync.
// plain is what it takes without, which a busy machine makes longer by some tens of milliseconds.
func WaitedForSync(slow, plain time.Duration) bool {
	return slow >= SyncDelay && slow-plain >= SyncDelay/2
}

// awaitTraced waits until every thread of a process is traced, or has ended where it is not
// needed.
func awaitTraced(t testing.TB, pid int, needed bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(
		20 * time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		if !needed && len(threads) == 0 {
			return
		}
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
