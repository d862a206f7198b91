package load

import (
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// window is the clients' view of the measured window, on the clock. Clients read it for each
// message; only Engine.follow writes it.
type window struct{ fromNs, toNs atomic.Int64 }

func newWindow() *window {
	w := &window{}
	w.fromNs.Store(clock.Never)
	w.toNs.Store(clock.Never)
	return w
}

// holds reports whether a time is in the window.
func (w *window) holds(ns int64) bool { return ns >= w.fromNs.Load() && ns < w.toNs.Load() }
