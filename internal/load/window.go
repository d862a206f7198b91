package load

import (
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
)

// window is the measured window as the clients see it, on the clock: each looks at it for
// each message. Engine.follow alone writes it.
type window struct{ fromNs, toNs atomic.Int64 }

func newWindow() *window {
	w := &window{}
	w.fromNs.Store(clock.Never)
	w.toNs.Store(clock.Never)
	return w
}

// holds says whether a time is in the window.
func (w *window) holds(ns int64) bool { return ns >= w.fromNs.Load() && ns < w.toNs.Load() }
