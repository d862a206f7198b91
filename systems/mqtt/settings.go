package mqtt

import (
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the settings, in the words of MQTT and HiveMQ where they have them.
const (
	setPublishQoS   = "publish_qos"
	setSubscribeQoS = "subscribe_qos"
	setReceiveMax   = "receive_maximum"
	setKeepAlive    = "keep_alive"
	setExpiry       = "session_expiry"
	setSecurity     = "security"
	setPersistence  = "persistence"
	setQueueMax     = "max_queue_size"
	setServerMax    = "server_receive_maximum"
	setHeap         = "heap"
)

// clientSettings are the settings of clients and topics.
var clientSettings = system.MustSettings(`
publish_qos count 1 1..2
    quality of service of messages that are sent: 1 is answered once, and 2 by a handshake of
    four packets; with 0 nothing is answered, so nothing could be counted
subscribe_qos count 1 0..1
    quality of service of subscriptions; with 0 the server forgets a message as it sends it, which
    needs delivery: at_most_once (HiveMQ has no shared subscriptions of QoS 2)
receive_maximum count 65535 1..65535
    most messages that a server sends to a consumer ahead of their acknowledgements; HiveMQ sends
    50 and then waits for all of them
keep_alive duration 10s 1s..18h
    how long a server may send nothing, not even the answer to a ping; whole seconds
session_expiry duration 24h 1m..10000h
    for how long a topic without plimsoll exists; longer than a run
`)

// serverSettings are the settings of the server that plimsoll starts.
var serverSettings = driver.ServerSettings(system.MustSettings(`
security text none none|tls
    how clients and the server talk: in the clear or over TLS; HiveMQ CE has no passwords without
    an extension
persistence text file file|in-memory
    where HiveMQ keeps messages and sessions
max_queue_size count 10M 1..1G
    messages in the queue of a partition's subscription (HiveMQ's default is 1000); the server
    acknowledges further ones and drops them
server_receive_maximum count 1000 1..65535
    messages that a producer may have under way (HiveMQ's default is 10)
heap bytes 512MB 128MB..
    HiveMQ's Java heap; payloads are outside of it
`))

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: {How: "messages leave as soon as the write before them has ended"},
	workload.ClientsLatency: {How: "nothing is set: messages leave as soon as the write before " +
		"them has ended"},
	workload.ClientsThroughput: {How: "nothing is set: MQTT has no batches, and messages that " +
		"are due together leave in one write"},
}

// Check returns all violations of a request before anything starts.
func (mqttSystem) Check(c system.Check) error {
	bad := problems(c.Settings, c.Durability)
	if c.Settings.Count(setSubscribeQoS) == 0 && c.Delivery != workload.AtMostOnce {
		bad = append(bad, c.Settings.Wrong(setSubscribeQoS, "is 0, with which nothing is "+
			"acknowledged: take 1, or delivery: at_most_once"))
	}
	if c.Nodes == 0 {
		return append(bad, driver.AlreadyRunning(c.Settings, serverSettings)...).Err()
	}
	if c.Nodes != 1 {
		bad = append(bad, strict.Violation{Message: fmt.Sprintf("HiveMQ CE has no replicas and "+
			"the testbed has %d nodes: write testbed: {nodes: 1}", c.Nodes)})
	}
	return append(bad, c.Settings.OutOfRange(serverSettings)...).Err()
}

// problems are the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := append(driver.CheckLevel(mqttSystem{}.Describe(), l), s.OutOfRange(clientSettings)...)
	for _, name := range []string{setKeepAlive, setExpiry} {
		if s.Duration(name)%time.Second != 0 {
			bad = append(bad, s.Wrong(name, "must be whole seconds"))
		}
	}
	return bad
}
