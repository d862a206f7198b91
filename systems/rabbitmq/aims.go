package rabbitmq

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: {How: "each message is published at once, together with those " +
		"that are due at the same moment, and acknowledged when no other waits to be handled"},
	workload.ClientsLatency: {How: "as the default: nothing waits, so there is nothing to set"},
	workload.ClientsThroughput: {
		Sets: system.MustSet(setAckDelay + "=20ms"),
		How: "handled messages of queues are acknowledged together, by AMQP 0.9.1; no client " +
			"library has batches of producers to fill",
	},
}

// settingWaits are the waits that settings cause.
var settingWaits = []system.Wait{{
	Setting: setAckDelay, Words: "handled messages wait up to %s to be acknowledged together",
	Most: func(c system.Check) time.Duration {
		if c.Settings.Text(setQueueType) == streamed || c.Settings.Text(setProtocol) == amqp10 ||
			c.Delivery == workload.AtMostOnce {
			return 0
		}
		return c.Settings.Duration(setAckDelay)
	},
}}
