//go:build !linux

package clock

import "time"

// Precise returns the most precise clock of this machine. Without a better source, that
// is the clock of Go's timers.
func Precise() Clock { return Timers() }

func monotonic() int64 { return time.Now().UnixNano() }
