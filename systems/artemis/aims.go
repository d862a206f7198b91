package artemis

import (
	"time"

	recorded "github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
)

// settingWaits are the waits that settings cause.
var settingWaits = []system.Wait{{
	Series: recorded.Publish, Setting: setBufferTimeout,
	Words: "the journal waits up to %s for more writes",
	Most: func(c system.Check) time.Duration {
		if c.Settings.Text(setJournalType) == mapped {
			return 0
		}
		return c.Settings.Duration(setBufferTimeout)
	},
}}
