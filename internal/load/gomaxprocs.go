package load

import (
	"os"
	"runtime"
)

// RaiseGOMAXPROCS lets the Go scheduler run as many goroutines as there are cores beside the
// watcher, which holds a place while it sleeps, and some more for servers in this process. It
// returns their number and what undoes it. A place too many costs CPU: each answer of a server then
// wakes one more thread, which looks for work and finds none. CPUs that servers elsewhere have of
// their own count as negative. RaiseGOMAXPROCS changes nothing when the user has set GOMAXPROCS.
func RaiseGOMAXPROCS(servers int) (places int, undo func()) {
	before := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") != "" {
		return before, func() {}
	}
	places = runtime.NumCPU() + 1 + servers
	runtime.GOMAXPROCS(places)
	return places, func() { runtime.GOMAXPROCS(before) }
}
