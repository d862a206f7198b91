package nats

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const atOnce = "each message is published by itself and at once, and a pull request is open " +
	"before it comes"

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: {How: atOnce},
	workload.ClientsLatency: {Sets: system.MustSet(setLinger + "=0s"), How: atOnce},
	workload.ClientsThroughput: {
		Sets: system.MustSet(setLinger + "=20ms"),
		How: "an atomic batch fills for 20ms, or until it is full; the servers store and " +
			"acknowledge it as one",
	},
}
