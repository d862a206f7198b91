//go:build !linux

package clock

import "time"

// Precise returns the most precise clock of this machine. Without a better source, that
// is the clock of Go's timers.
func Precise() Clock { return Timers() }

func monotonic() int64 { return time.Now().UnixNano() }

// ShortSlices does nothing: this operating system has no such request.
func ShortSlices() (undo func()) { return func() {} }

// InUsualSlices calls the function.
func InUsualSlices(start func() error) error { return start() }

// No clock here knows what threads do, so nothing calls these.
func threadID() int { return 0 }

func threadUsed(int) (ns int64, known bool) { return 0, false }

func threadUsedNow(int) (ns int64, known bool) { return 0, false }
