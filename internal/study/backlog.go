package study

import (
	"github.com/plimsoll-bench/plimsoll/result"
)

// catchUpBytes is what was read a second while readers caught up, of payload;
// false: they never began.
func catchUpBytes(r *result.Run) (float64, bool) {
	if r.Backlog == nil || r.Backlog.ReadBytesPerS <= 0 {
		return 0, false
	}
	return r.Backlog.ReadBytesPerS, true
}

// catchUpPublish is the publish p99, in ns, while readers caught up; false: they
// never began.
func catchUpPublish(r *result.Run) (float64, bool) {
	if r.Backlog == nil {
		return 0, false
	}
	during, read := r.Backlog.Stretch(result.During)
	ns, known := result.Summary{Latency: during.Latency}.Series(result.Publish).At(99)
	return float64(ns), read && known
}
