package load

import (
	"os"
	"runtime"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// MakeRoom raises GOMAXPROCS, so that as many goroutines as there are cores can run beside the
// threads that wait for due times, and some more for servers in this process. It returns the new
// value and a function that restores the old one. A thread that waits in the kernel keeps its
// place in the scheduler until a monitor takes it away, up to 10 ms during which ready goroutines
// wait. A place too many costs too: each answer of a server then wakes one more thread, which
// looks for work and finds none. CPUs that are reserved for other servers count as negative.
// MakeRoom changes nothing when the user has set GOMAXPROCS.
func MakeRoom(w *workload.Workload, servers int) (places int, undo func()) {
	before := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") != "" {
		return before, func() {}
	}
	// One of the cores is for a pacer or the watcher when it wakes. The twin runs on the first
	// pacer, so it needs no place.
	places = runtime.NumCPU() - 1 + Pacers(w) + 1 + servers
	runtime.GOMAXPROCS(places)
	return places, func() { runtime.GOMAXPROCS(before) }
}
