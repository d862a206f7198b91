package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// threadsOn fails the test unless every thread of a process may use exactly the given CPUs.
func threadsOn(t *testing.T, pid int, want []int) {
	t.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
	if len(tasks) == 0 {
		t.Fatalf("process %d has no threads", pid)
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(filepath.Base(task))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := CPUs(tid); err == nil && !slices.Equal(got, want) {
			t.Errorf("thread %d of %d may use CPU %v, want %v", tid, pid, got, want)
		}
	}
}

// Children run on the CPUs of StartOn, the process on those of Confine, and both get all CPUs
// back.
func TestServersAndLoadHaveCPUsOfTheirOwn(t *testing.T) {
	all, err := CPUs(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 2 {
		t.Skip("NOT TESTED: this process may use one CPU only")
	}
	load, servers := all[:1], all[1:]
	undo := StartOn(servers)
	if err := Confine(os.Getpid(), load); err != nil {
		t.Fatal(err)
	}
	start := func(name string) *Server {
		s, err := Start(sleeper(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Kill() })
		return s
	}
	first := start("first")
	threadsOn(t, os.Getpid(), load)
	threadsOn(t, first.PID(), servers)
	undo()
	if err := Confine(os.Getpid(), all); err != nil {
		t.Fatal(err)
	}
	threadsOn(t, os.Getpid(), all)
	threadsOn(t, start("second").PID(), all)
	if err := Confine(first.PID(), load); err != nil {
		t.Fatal(err)
	}
	threadsOn(t, first.PID(), load)
}

func TestConfineNeedsNoLivingProcess(t *testing.T) {
	s, err := Start(shell(t.TempDir(), "brief", "exit 0"))
	if err != nil {
		t.Fatal(err)
	}
	<-s.Exited()
	if err := Confine(s.PID(), []int{0}); err != nil {
		t.Error(err)
	}
	if err := Confine(os.Getpid(), []int{1 << 9}); err == nil {
		t.Error("this machine has no CPU 512")
	}
}
