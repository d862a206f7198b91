package load

import (
	"net"
	"net/url"
	"os"
	"runtime"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// MakeRoom prepares this process for a load, until undo is called.
//
// It lets the Go scheduler run as many goroutines as there are cores beside the watcher, which
// holds a place while it sleeps, and some more for servers in this process. A place too many costs
// CPU: each answer of a server then wakes one more thread, which looks for work and finds none.
// CPUs that servers elsewhere have of their own count as negative. A GOMAXPROCS that the user has
// set stays.
//
// Its threads run in short slices, so that they wake on time, unless shared says that servers run
// on the same cores: each wake-up of a pacer would interrupt them.
func MakeRoom(servers int, shared bool) (undo func()) {
	var steps []func()
	if os.Getenv("GOMAXPROCS") == "" {
		before := runtime.GOMAXPROCS(runtime.NumCPU() + 1 + servers)
		steps = append(steps, func() { runtime.GOMAXPROCS(before) })
	}
	if !shared {
		steps = append(steps, clock.ShortSlices())
	}
	return func() {
		for _, step := range steps {
			step()
		}
	}
}

// SharesMachine reports whether an endpoint is a loopback address, so that servers and clients run
// on one machine.
func SharesMachine(endpoints []string) bool {
	for _, e := range endpoints {
		host := e
		if u, err := url.Parse(e); err == nil && u.Hostname() != "" {
			host = u.Hostname()
		} else if h, _, err := net.SplitHostPort(e); err == nil {
			host = h
		}
		if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
			return true
		}
	}
	return false
}
