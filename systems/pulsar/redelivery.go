package pulsar

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var (
	_ system.Redeliverer    = pulsarSystem{}
	_ system.PartitionOwner = pulsarSystem{}
)

// Redelivery says that Pulsar repeats nothing to a consumer that stays connected: its
// redelivery timers, ackTimeout and negative acknowledgement, are the client's, and
// plimsoll's client has the first not at all and sends none of the second. Brokers
// that move bundles by themselves have consumers connect anew, and that repeats what
// was handled and whose acknowledgement was still gathered.
func (pulsarSystem) Redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	switch {
	case d == workload.AtMostOnce:
		return system.Redelivery{Never: true,
			Why: "a message is acknowledged, and the broker has answered, before it is handled"}
	case s.Bool(setLoadBalancing):
		return system.Redelivery{
			Why: "with " + setLoadBalancing + " brokers may move a bundle at any time; its " +
				"consumers connect anew and get again what was handled within " +
				setAckGroupTime + " (" + s.Text(setAckGroupTime) + ")"}
	}
	return system.Redelivery{Never: true,
		Why: "the Go client has no ackTimeout and plimsoll sends no negative acknowledgement; " +
			"a broker delivers again only to a consumer that connects anew"}
}

// OwnsPartitions says whether the type of subscription gives each partition to one
// consumer.
func (pulsarSystem) OwnsPartitions(s system.Settings) bool {
	kind := s.Text(setSubscriptionType)
	return kind == exclusive || kind == failover
}
