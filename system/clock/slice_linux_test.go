package clock

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// needSlices skips the test on a kernel that does not know slices, and makes those of this process
// short.
func needSlices(t *testing.T) {
	t.Helper()
	if attr, err := unix.SchedGetAttr(0, 0); err != nil || attr.Runtime == 0 {
		t.Skip("NOT TESTED: needs Linux 6.12, whose threads may ask for slices")
	}
	t.Cleanup(ShortSlices())
}

// All threads have short slices, also one that begins later, and results name them.
func TestShortSlices(t *testing.T) {
	needSlices(t)
	short := make(chan bool)
	for range 2 * runtime.GOMAXPROCS(0) {
		go func() {
			runtime.LockOSThread() // and ends with its goroutine
			short <- hasShortSlices(0)
		}()
		if !<-short {
			t.Error("a thread has the usual slice")
		}
	}
	if name := Precise().Name(); !strings.HasSuffix(name, ", threads in slices of 100us") {
		t.Errorf("the clock is called %q", name)
	}
}

// Threads have their usual slices again afterwards.
func TestShortSlicesEnd(t *testing.T) {
	needSlices(t)
	setSlices(false)
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		if n, err := strconv.Atoi(thread.Name()); err != nil || hasShortSlices(n) {
			t.Errorf("thread %s has a short slice (%v)", thread.Name(), err)
		}
	}
}

// A process started InUsualSlices has them, and the thread that started it keeps its own.
func TestInUsualSlices(t *testing.T) {
	needSlices(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	child := exec.Command("sleep", "60")
	if err := InUsualSlices(child.Start); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	attr, err := unix.SchedGetAttr(child.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	if attr.Runtime <= sliceNs {
		t.Errorf("the child has slices of %d ns", attr.Runtime)
	}
	if !hasShortSlices(0) {
		t.Error("the thread that started it has lost its short slices")
	}
}
