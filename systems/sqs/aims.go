package sqs

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: {How: "a batch of 10 fills for 5ms (SQS's own clients wait 200ms)"},
	workload.ClientsLatency: {
		Sets: system.MustSet(setLinger + "=0s"),
		How:  "a request leaves at once, unless the most requests are in flight",
	},
	workload.ClientsThroughput: {
		Sets: system.MustSet(setLinger + "=20ms"),
		How:  "a batch of 10 fills for 20ms, or until it is full",
	},
}

// settingWaits are the waits that settings cause.
var settingWaits = []system.Wait{
	system.Lingers(setLinger),
	{Series: result.EndToEnd, Setting: setFIFO,
		Words: "an idle consumer of ElasticMQ asks again after up to %s",
		Most: func(c system.Check) time.Duration {
			if !c.Settings.Bool(setFIFO) || c.Settings.Text(setRegion) != noRegion {
				return 0
			}
			return fifoPause
		}},
}
