package mongodb

import (
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: {How: "an insert leaves as soon as the one before it is answered, " +
		"and an idle consumer asks again after 5ms"},
	workload.ClientsLatency: {
		Sets: system.MustSet(setLinger+"=0s", setPoll+"=1ms"),
		How: "an insert leaves as soon as the one before it is answered, and an idle consumer " +
			"asks again after 1ms, the least",
	},
	workload.ClientsThroughput: {
		Sets: system.MustSet(setLinger+"=20ms", setPoll+"=20ms"),
		How: "an insert gathers documents for 20ms, and an idle consumer asks again after " +
			"20ms",
	},
}

// settingWaits are the waits that settings cause.
var settingWaits = []system.Wait{
	system.Lingers(setLinger),
	{Series: result.EndToEnd, Setting: setPoll,
		Words: "an idle consumer asks again after up to %s"},
}
