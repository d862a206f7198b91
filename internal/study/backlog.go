package study

import (
	"github.com/plimsoll-bench/plimsoll/result"
)

// catchUpBytes returns the payload bytes per second that catching-up consumers read; false: they
// never began.
func catchUpBytes(r *result.Run) (float64, bool) {
	if r.Backlog == nil || r.Backlog.ReadBytesPerS <= 0 {
		return 0, false
	}
	return r.Backlog.ReadBytesPerS, true
}

// catchUpPublish returns the publish p99 in ns while consumers caught up; false: they never
// began.
func catchUpPublish(r *result.Run) (float64, bool) {
	if r.Backlog == nil {
		return 0, false
	}
	during, read := r.Backlog.Stretch(result.During)
	ns, known := result.Summary{Latency: during.Latency}.Series(result.Publish).At(99)
	return float64(ns), read && known
}
