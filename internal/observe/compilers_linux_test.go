package observe

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plimsoll-bench/plimsoll/target"
)

// compilesEnv makes this test's program one that compiles, or seems to.
const compilesEnv = "PLIMSOLL_TEST_COMPILES"

// The CPU time of threads with a compiler's name is that of compiling, and they may run first.
func TestCompilers(t *testing.T) {
	if os.Getenv(compilesEnv) != "" {
		compile(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestCompilers$")
	cmd.Env = append(os.Environ(), compilesEnv+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}()
	o, err := New([]target.Process{{Name: "n1", PID: cmd.Process.Pid}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}()
	var compiled, used float64
	for end := time.Now().Add(20 * time.Second); compiled < 0.1; time.Sleep(10 * time.Millisecond) {
		r, _, _ := o.Read()
		used += r.Processes[0].CPUSeconds
		if ns := r.Processes[0].CompileNs; ns != nil {
			compiled += float64(*ns) / 1e9
		}
		if r.Processes[1].CompileNs != nil {
			t.Fatalf("this process compiles: %+v", r.Processes[1])
		}
		if time.Now().After(end) {
			t.Fatalf("%.2f s of compiling in %.2f s of CPU time", compiled, used)
		}
	}
	if compiled > used+0.02 {
		t.Errorf("%.2f s of compiling in %.2f s of CPU time", compiled, used)
	}
	undo := CompilersFirst(cmd.Process.Pid)
	if os.Geteuid() == 0 && niceOf(t, cmd.Process.Pid) != compilersNice {
		t.Errorf("the compiler's nice value is %d", niceOf(t, cmd.Process.Pid))
	}
	undo()
	if n := niceOf(t, cmd.Process.Pid); n != 0 {
		t.Errorf("the compiler's nice value is still %d", n)
	}
}

// compile keeps a thread with a compiler's name busy: not the first one, which has the process's.
func compile(t *testing.T) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			compile(t)
		}()
		<-done
		return
	}
	if err := os.WriteFile("/proc/thread-self/comm", []byte("C2 CompilerThread0"), 0); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // busy
	}
}

// niceOf returns the least nice value of a process's threads.
func niceOf(t *testing.T, pid int) (least int) {
	t.Helper()
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range threads {
		stat, err := one.Stat()
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, stat.Nice)
	}
	return least
}
