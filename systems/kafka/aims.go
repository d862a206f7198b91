package kafka

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: {How: "a batch waits 5ms for more records, as in the Java client " +
		"since 4.0; a fetch is answered at once"},
	workload.ClientsLatency: {
		Sets: system.MustSet(setLinger+"=0s", setTxnInterval+"=10ms"),
		How: "a batch leaves at once, unless the most requests to its broker are in flight; " +
			"transactions are short",
	},
	workload.ClientsThroughput: {
		Sets: system.MustSet(setLinger+"=20ms", setFetchMinBytes+"=100KB",
			setFetchMaxWait+"=20ms"),
		How: "batches of producers and of fetches fill for 20ms, or until they are full",
	},
}

// settingWaits are the waits that settings cause.
var settingWaits = []system.Wait{
	system.Lingers(setLinger),
	{Series: result.Publish, Setting: setTxnInterval, Words: "a transaction lasts up to %s",
		Most: func(c system.Check) time.Duration {
			if c.Delivery != workload.ExactlyOnce {
				return 0
			}
			return c.Settings.Duration(setTxnInterval)
		}},
	{Series: result.EndToEnd, Setting: setFetchMaxWait,
		Words: "a broker waits up to %s for more messages of a fetch",
		Most: func(c system.Check) time.Duration {
			if c.Settings.Bytes(setFetchMinBytes) <= 1 {
				return 0
			}
			return c.Settings.Duration(setFetchMaxWait)
		}},
}
