package workload

import (
	"cmp"
	"time"
)

// Clients is what the settings of clients aim at, one word for all systems. Settings that a target
// gives win over it.
type Clients string

// The aims of clients.
const (
	ClientsDefault    Clients = "default"
	ClientsLatency    Clients = "latency"
	ClientsThroughput Clients = "throughput"
)

// ThroughputWait is the longest that clients wait for more messages with ClientsThroughput, on
// every system.
const ThroughputWait = 20 * time.Millisecond

// ClientWords returns all aims.
func ClientWords() []Clients {
	return []Clients{ClientsDefault, ClientsLatency, ClientsThroughput}
}

// Word returns the aim, ClientsDefault if it is empty.
func (c Clients) Word() Clients { return cmp.Or(c, ClientsDefault) }

// Meaning returns what the word asks of every system.
func (c Clients) Meaning() string {
	switch c.Word() {
	case ClientsDefault:
		return "each system's clients have their own defaults"
	case ClientsLatency:
		return "no client waits for more messages"
	case ClientsThroughput:
		return "clients may wait up to " + ThroughputWait.String() + " for more messages"
	}
	return "no such word"
}
