package redis

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: {How: "a pipeline leaves as soon as the one before it is answered"},
	workload.ClientsLatency: {
		Sets: system.MustSet(setLinger + "=0s"),
		How:  "a pipeline leaves as soon as the one before it is answered",
	},
	workload.ClientsThroughput: {
		Sets: system.MustSet(setLinger + "=20ms"),
		How:  "a pipeline fills for 20ms, or until it is full",
	},
}
