package study

import (
	"github.com/plimsoll-bench/plimsoll/result"
)

// catchUpBytes is what was read a second while readers caught up.
func catchUpBytes(*result.Run) (float64, bool) { return 0, false }

// catchUpPublish is the publish p99, in ns, while readers caught up.
func catchUpPublish(*result.Run) (float64, bool) { return 0, false }
