package driver

import (
	"context"
	"time"
)

// Until tries until again is false, with a pause between two tries, and returns the
// error of the last try. When ctx ends first, it returns the last error before that: a
// try that ctx ended says nothing.
func Until(ctx context.Context, pause time.Duration, try func() (again bool, err error)) error {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	var last error
	for {
		again, err := try()
		if !again {
			return err
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return last
		}
	}
}

// Sleep waits; false: ctx has ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
