package systemtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/process"
)

// pausedWithin bounds the wait until every thread of a process has stopped.
const pausedWithin = 10 * time.Second

// Pause stops processes, and all that descend from them, with SIGSTOP and returns when all
// their threads have stopped: the signal alone leaves them time to answer. The returned
// function resumes them; it may be called twice. They are resumed after the test in any case.
func Pause(t *testing.T, pids ...int) (resume func()) {
	t.Helper()
	resume = func() {
		for pid := range process.Descendants(pids...) {
			_ = syscall.Kill(pid, syscall.SIGCONT) // a process that is gone needs none
		}
	}
	t.Cleanup(resume)
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	for pid := range process.Descendants(pids...) { // they start no more
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		for end := time.Now().Add(pausedWithin); !allStopped(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %d does not stop", pid)
			}
		}
	}
	return resume
}

// allStopped reports whether all threads of a process have stopped. Where there is no /proc
// to tell, it trusts the signal.
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
		// The command stands in parentheses and may hold any character.
		_, state, _ := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')'):]), " ")
		if !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return true
}
