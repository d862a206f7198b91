package nats

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// atOnce says why no aim of the clients sets anything.
var atOnce = system.Aim{How: "each message is published by itself and at once, and a pull " +
	"request is open before it comes; JetStream has no batches to fill, so there is nothing to set"}

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: atOnce, workload.ClientsLatency: atOnce,
	workload.ClientsThroughput: atOnce,
}
