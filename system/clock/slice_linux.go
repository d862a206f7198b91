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

// sliceRounds bounds how often a change of slices looks for threads that began meanwhile.
const sliceRounds = 5

// ShortSlices makes the kernel schedule the threads of this process in short slices, also those
// that begin later, until undo is called. Where the kernel refuses, the slices stay as they are.
func ShortSlices() (undo func()) {
	setSlices(true)
	return func() { setSlices(false) }
}

// setSlices gives every thread a short slice, or those with such a slice the usual one.
func setSlices(short bool) {
	slice := uint64(0)
	if short {
		slice = sliceNs
	}
	for range sliceRounds {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		changed := false
		for _, t := range threads {
			thread, err := strconv.Atoi(t.Name())
			if err != nil || hasShortSlices(thread) == short {
				continue
			}
			_, known := setSlice(thread, slice)
			changed = changed || known
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

// hasShortSlices reports whether a thread has the slices of ShortSlices; 0 is the calling thread.
func hasShortSlices(thread int) bool {
	attr, err := unix.SchedGetAttr(thread, 0)
	return err == nil && attr.Runtime == sliceNs
}
