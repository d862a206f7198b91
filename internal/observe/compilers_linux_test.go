package observe

import (
	"os"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plimsoll-bench/plimsoll/target"
)

// The CPU time of threads with a compiler's name is that of compiling, and they may run first.
func TestCompilers(t *testing.T) {
	c := newChild(t)
	o, err := New([]target.Process{{Name: "n1", PID: c.pid()}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}()
	c.do("compile 1")
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
	undo := CompilersFirst(c.pid())
	if os.Geteuid() == 0 && niceOf(t, c.pid()) != compilersNice {
		t.Errorf("the compiler's nice value is %d", niceOf(t, c.pid()))
	}
	undo()
	if n := niceOf(t, c.pid()); n != 0 {
		t.Errorf("the compiler's nice value is still %d", n)
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
