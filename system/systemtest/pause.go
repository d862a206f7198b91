package systemtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// pausedWithin bounds the wait until every thread of a process has stopped.
const pausedWithin = 10 * time.Second

// Pause stops processes and all their descendants with SIGSTOP, and returns when all threads have
// stopped, because right after the signal they could still answer. The returned function resumes
// them; it may be called twice. They are resumed after the test in any case.
func Pause(t *testing.T, pids ...int) (resume func()) {
	t.Helper()
	resume = func() {
		for pid := range process.Descendants(pids...) {
			_ = syscall.Kill(pid, syscall.SIGCONT) // a process that has ended needs none
		}
	}
	t.Cleanup(resume)
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	for pid := range process.Descendants(pids...) { // they start no further processes
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		for end := time.Now().Add(pausedWithin); !allStopped(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %d does not stop", pid)
			}
		}
	}
	return resume
}

// pausedFor is how long processes are paused to see whether an answer waits for them. It is too
// short for other servers to miss them.
const pausedFor = 500 * time.Millisecond

// CheckPauseWait checks whether the acknowledgement of a message waits for processes: it must come
// only after they were paused for a while and resumed, or, if it does not wait, while they are
// paused, however late on a busy machine.
func CheckPauseWait(t *testing.T, p system.Producer, whose string, waits bool, pids ...int) {
	t.Helper()
	m, patience := NewTestMessage("replicated?"), awaitWithin
	if waits {
		patience = pausedFor
	}
	resume := Pause(t, pids...)
	p.Send(&m.Message)
	select {
	case err := <-m.ended:
		resume()
		if waits || err != nil {
			t.Errorf("a message was acknowledged (%v) while %s was paused", err, whose)
		}
		return
	case <-time.After(patience):
	}
	resume()
	if err := m.Await(t); !waits || err != nil {
		t.Errorf("while %s was paused, a message was not acknowledged for %s, and after that: %v",
			whose, patience, err)
	}
}

// allStopped reports whether all threads of a process have stopped. Without /proc it trusts the
// signal.
func allStopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return true
	}
	for _, thread := range threads {
		raw, err := os.ReadFile(thread)
		if err != nil {
			continue // the thread has ended
		}
		// The command is in parentheses and may contain any character.
		_, state, _ := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')'):]), " ")
		if !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return true
}
