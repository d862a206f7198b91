package activemq

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the clients' settings.
const (
	setStore       = "store"
	setDestination = "destination"
	setPrefetch    = "prefetch"
	setRequest     = "request_timeout"
	setFailover    = "failover_timeout"
	setSilence     = "idle_timeout"
	setJolokiaPort = "jolokia_port"
)

// Values of the clients' settings.
const (
	storeLevelDB = "leveldb"
	storeKahaDB  = "kahadb"
	virtualTopic = "virtual_topic"
	plainQueue   = "queue"
)

// clientSettings are the settings of clients and topics.
var clientSettings = system.MustSettings(`
store text leveldb leveldb|kahadb
    what the brokers keep messages in: leveldb is replicated LevelDB, a master with slaves;
    kahadb is one broker, whatever the number of nodes, and refuses levels 1 and 2
destination text virtual_topic virtual_topic|queue
    what a partition is: virtual_topic takes any number of subscriptions, each a queue;
    queue is a queue, with a single subscription and one copy less to make
prefetch count 1000 1..100k
    most messages of a partition that the broker sends ahead of their acceptance
request_timeout duration 30s 100ms..1h
    how long a broker may take to answer a message
failover_timeout duration 1m 1s..1h
    how long clients look for a master; after it messages are refused and consumers fail
idle_timeout duration 10s 1s..10m
    how long a broker may send nothing, not even a heartbeat, before the connection is lost
jolokia_port count 8161 1..65535
    the port, on the hosts of the endpoints, where brokers show JMX over HTTP at /api/jolokia
`)

// Check returns all violations of a request before anything starts.
func (activeSystem) Check(c system.Check) error {
	return append(problems(c.Settings, c.Durability),
		checkServers(c.Settings, c.Durability, c.Nodes)...).Err()
}

// problems are the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := append(driver.CheckLevel(activeSystem{}.Describe(), l), s.OutOfRange(clientSettings)...)
	if s.Text(setStore) == storeKahaDB && l.Valid() && l.Majority() {
		bad = append(bad, s.Wrong(setStore, fmt.Sprintf("kahadb has one copy of each message, "+
			"and level %d asks for a majority of several: take %s, or level %d or %d",
			l, storeLevelDB, workload.AsyncSync, workload.AsyncAsync)))
	}
	return bad
}
