package clock

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// sliceNs is the least slice of CPU time that a thread may ask for (sched_setattr(2), Linux 6.12
// and later). A thread that wakes takes the core from one with a longer slice, or from one that has
// used up a slice, and its share of the CPU stays the same. With the usual slice, of 1 to 3 ms, a
// pacer waits that long for a core on which a server or a reading of the counters runs. Older
// kernels ignore the request.
const sliceNs = 100_000

// sliceRounds bounds how often ShortSlices looks for threads that began meanwhile.
const sliceRounds = 5

// ShortSlices makes the kernel schedule the threads of this process in short slices, also those
// that begin later. Where the kernel refuses, the slices stay as they are.
func ShortSlices() {
	for range sliceRounds {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		changed := false
		for _, t := range threads {
			thread, err := strconv.Atoi(t.Name())
			if err != nil {
				continue
			}
			if before, known := setSlice(thread, sliceNs); known && before != sliceNs {
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

// InUsualSlices calls a function that starts a process, which gets the usual slices and not those
// of this process. The calling goroutine must be locked to its thread.
func InUsualSlices(start func() error) error {
	if before, known := setSlice(0, 0); known {
		defer setSlice(0, before)
	}
	return start()
}

// setSlice sets the slice of a thread and returns the one before; 0 stands for the calling thread
// and for the usual slice. known is false where the kernel refuses.
func setSlice(thread int, ns uint64) (before uint64, known bool) {
	attr, err := unix.SchedGetAttr(thread, 0)
	if err != nil {
		return 0, false
	}
	before, attr.Runtime = attr.Runtime, ns
	return before, unix.SchedSetAttr(thread, attr, 0) == nil
}

// hasShortSlices reports whether the calling thread has the slices of ShortSlices.
func hasShortSlices() bool {
	attr, err := unix.SchedGetAttr(0, 0)
	return err == nil && attr.Runtime == sliceNs
}
