//go:build !linux

package clock

import "time"

// Precise returns the most precise clock of this machine: Go's timers where
// nothing better is known.
func Precise() Clock { return Timers() }

func monotonic() int64 { return time.Now().UnixNano() }
