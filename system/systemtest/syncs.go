package systemtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// SyncDelay is the time by which CheckSyncWait delays every sync. It far exceeds the time of
// sending without the delay.
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

// Acks sends messages one after another, so that connections are open and servers have caught up,
// and returns the shortest time to an acknowledgement.
func Acks(t testing.TB, p system.Producer) time.Duration {
	t.Helper()
	shortest := Ack(t, p)
	for range waited - 1 {
		shortest = min(shortest, Ack(t, p))
	}
	return shortest
}

// NeedDelays skips a test, with the reason, if syncs cannot be delayed.
func NeedDelays(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil || os.Geteuid() != 0 {
		t.Skipf("%s needs root and strace, which delays system calls: apt-get install strace",
			t.Name())
	}
}

const (
	// waited is the number of consecutive messages that must wait for a sync, if every message
	// must wait for it.
	waited = 9
	// attempts is the number of messages that may be slow by chance before one shows that it does
	// not wait.
	attempts = 200
)

// SyncWait describes a check of CheckSyncWait.
type SyncWait struct {
	Of    string // whose syncs, such as "the leader"
	PIDs  []int  // with all their descendants
	Waits bool   // an acknowledgement waits for them
	// Space is the pause before each message, for servers whose sync of the previous message
	// delays the next one.
	Space time.Duration
}

// CheckSyncWait delays each sync of some processes by SyncDelay, and checks whether
// acknowledgements wait for it. If they wait, every message must: none may be acknowledged sooner.
// If they do not, one message that is acknowledged sooner proves it, however many were slow on a
// busy machine. Without the delay, one message must be acknowledged in half the delay.
func CheckSyncWait(t testing.TB, p system.Producer, all ...SyncWait) {
	t.Helper()
	if plain, sooner := soonerThan(t, p, SyncDelay/2, attempts, 0); !sooner {
		t.Fatalf("without a delay the quickest of %d acknowledgements takes %s, which is too slow "+
			"to tell a delay of %s", attempts, plain, SyncDelay)
	}
	for _, one := range all {
		most := attempts
		if one.Waits {
			most = waited
		}
		quickest, sooner := time.Duration(0), false
		delayingSyncs(t, one.PIDs, func() {
			quickest, sooner = soonerThan(t, p, SyncDelay, most, one.Space)
		})
		t.Logf("the syncs of %s delayed by %s: acknowledged after %s", one.Of, SyncDelay, quickest)
		if sooner == one.Waits {
			t.Errorf("acknowledgements wait for the syncs of %s: %t", one.Of, !sooner)
		}
	}
}

// soonerThan sends up to most messages, until one is acknowledged sooner than limit.
func soonerThan(t testing.TB, p system.Producer, limit time.Duration, most int,
	space time.Duration) (quickest time.Duration, sooner bool) {
	t.Helper()
	for i := range most {
		time.Sleep(space) // the end of the earlier sync cannot be observed
		took := Ack(t, p)
		if i == 0 || took < quickest {
			quickest = took
		}
		if took < limit {
			return quickest, true
		}
	}
	return quickest, false
}

// delayingSyncs calls do while each sync of some processes and their descendants takes SyncDelay
// longer.
func delayingSyncs(t testing.TB, pids []int, do func()) {
	t.Helper()
	var tracers []*tracer
	defer func() {
		for _, one := range tracers {
			one.stop()
		}
	}()
	for _, pid := range pids {
		tracers = append(tracers, trace(t, process.Family(pid), "-o", os.DevNull,
			"-e", "trace=fsync,fdatasync,msync",
			"-e", fmt.Sprintf("inject=fsync,fdatasync,msync:delay_enter=%d",
				SyncDelay.Microseconds())))
	}
	do()
}

// Syncs returns the syncing system calls of a process while do runs, a line each.
func Syncs(t testing.TB, pid int, do func()) string {
	t.Helper()
	said := filepath.Join(t.TempDir(), "syncs")
	one := trace(t, []int{pid}, "-o", said, "-e", "signal=none",
		"-e", "trace=fsync,fdatasync,msync,sync_file_range,syncfs,sync")
	defer one.stop() // a second call does nothing
	do()
	one.stop()
	raw, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// tracer is a running strace.
type tracer struct {
	*exec.Cmd
	ended chan struct{} // closed when its output has ended
}

// attachesWithin bounds the time that strace takes to attach to processes.
const attachesWithin = 30 * time.Second

// trace attaches strace to a process and others. It returns when strace has stopped each of their
// threads once, so that it sees every later system call. The others may have ended.
func trace(t testing.TB, pids []int, arguments ...string) *tracer {
	t.Helper()
	arguments = append([]string{"-f"}, arguments...)
	for _, pid := range pids {
		arguments = append(arguments, "-p", fmt.Sprint(pid))
	}
	one := &tracer{exec.Command("strace", arguments...), make(chan struct{})}
	one.Env = append(os.Environ(), "LC_ALL=C")
	said, err := one.StderrPipe()
	if err == nil {
		err = one.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	attached, lines := make(chan string, len(pids)), bufio.NewScanner(said)
	go func() {
		defer close(one.ended)
		defer close(attached)
		for range pids {
			if !lines.Scan() {
				return
			}
			attached <- lines.Text()
		}
		_, _ = io.Copy(io.Discard, said) // strace reports every new thread there
	}()
	late := time.After(attachesWithin)
	for i := range pids {
		line := ""
		select {
		case line = <-attached:
		case <-late:
		}
		if !strings.Contains(line, "attached") &&
			(i == 0 || !strings.Contains(line, "No such process")) {
			one.stop()
			t.Skipf("%s needs to trace process %d, and it cannot: %q", t.Name(), pids[i], line)
		}
	}
	return one
}

// stop may be called twice.
func (o *tracer) stop() {
	_ = o.Process.Signal(syscall.SIGINT)
	<-o.ended
	_ = o.Wait() // strace ends by the signal
}
