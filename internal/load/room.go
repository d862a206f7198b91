package load

import (
	"os"
	"runtime"
)

// MakeRoom lets the Go scheduler run as many goroutines as there are cores beside the threads that
// wait for due times, and some more for servers in this process. It returns their number and what
// undoes it. A thread that waits in the kernel occupies a place in the scheduler, for up to 10 ms
// or for the whole wait, and ready goroutines need another place meanwhile. A place too many costs
// as well: each answer of a server then wakes one more thread, which looks for work and finds none.
// CPUs that servers elsewhere have of their own count as negative. MakeRoom changes nothing when
// the user has set GOMAXPROCS.
func MakeRoom(p *Plan, servers int) (places int, undo func()) {
	before := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") != "" {
		return before, func() {}
	}
	// The watcher waits as well. The twin rides on the first pacer, so it asks for no place.
	places = runtime.NumCPU() + p.pacers() + 1 + servers
	runtime.GOMAXPROCS(places)
	return places, func() { runtime.GOMAXPROCS(before) }
}
