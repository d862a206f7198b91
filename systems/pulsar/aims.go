package pulsar

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: {How: "a producer sends what it has gathered for a partition every " +
		"millisecond (the Go client's own default is 10ms)"},
	workload.ClientsLatency: {
		Sets: system.MustSet(setBatching + "=false"),
		How:  "each message is sent by itself and at once; a broker dispatches at once in any case",
	},
	workload.ClientsThroughput: {
		Sets: system.MustSet(setBatchingDelay + "=20ms"),
		How: "a producer sends what it has gathered for a partition every 20ms, or when a batch " +
			"is full",
	},
}

// settingWaits are the waits that settings cause.
var settingWaits = []system.Wait{
	{Series: result.Publish, Setting: setBatchingDelay,
		Words: "the client waits up to %s for more messages",
		Most: func(c system.Check) time.Duration {
			if !c.Settings.Bool(setBatching) {
				return 0
			}
			return c.Settings.Duration(setBatchingDelay)
		}},
	{Series: result.Publish, Setting: setMaxGroupWait,
		Words: "a bookie waits up to %s for more writes",
		Most: func(c system.Check) time.Duration {
			if !c.Durability.Synced() && !c.Settings.Bool(setJournalWriteData) {
				return 0
			}
			return c.Settings.Duration(setMaxGroupWait)
		}},
	{Series: result.EndToEnd, Setting: setNewEntriesDelay,
		Words: "a broker looks for new messages again after up to %s"},
	{Setting: setAckGroupTime,
		Words: "handled messages wait up to %s to be acknowledged together"},
}
