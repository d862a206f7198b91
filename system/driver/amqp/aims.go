package amqp

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Aims says why no aim of the clients sets anything.
func Aims() map[workload.Clients]system.Aim {
	atOnce := system.Aim{How: "each message is transferred by itself and at once, and accepted " +
		"when it is handled; AMQP 1.0 has no batches to fill, so there is nothing to set"}
	return map[workload.Clients]system.Aim{
		workload.ClientsDefault: atOnce, workload.ClientsLatency: atOnce,
		workload.ClientsThroughput: atOnce,
	}
}
