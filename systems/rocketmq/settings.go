package rocketmq

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the settings, in RocketMQ's own words where it has them.
const (
	setLinger      = "linger"
	setBatch       = "batch_max"
	setRequest     = "request_timeout"
	setDelivery    = "delivery_timeout"
	setPollTimeout = "poll_timeout"
	setReplication = "replication_factor"

	setSecurity = "security"
	setFlush    = "flushDiskType"
	setHeap     = "heap"
	setDirect   = "direct_memory"
	setLogFile  = "mappedFileSizeCommitLog"
)

// clientSettings are the settings of clients and topics.
var clientSettings = system.MustSettings(`
linger duration 0s 0s..1m
    how long a producer waits for a batch to fill; it fills as well while the batch before it is
    under way
batch_max count 1000 1..100k
    most messages of a producer that are under way to one broker, in a request for each partition
request_timeout duration 10s 1s..1h
    how long a broker may take to answer; it must be longer than the brokers' syncFlushTimeout
    (5s) and slaveTimeout (3s), after which the outcome is unknown too
delivery_timeout duration 30s 1ms..1h
    how long a message is kept while no master takes messages
poll_timeout duration 15s 1ms..1h
    how long a pull waits for messages at the broker (suspendTimeoutMillis)
replication_factor count 3 1..9
    brokers that have each message, a master and its slaves: 3 or more at level 2; left out at
    levels 3 and 4, as many as there are
`)

// serverSettings are the settings of the servers that plimsoll starts.
var serverSettings = driver.ServerSettings(system.MustSettings(`
security text password password|tls|none
    how brokers know their clients and each other: a user and password (ACL 2.0; every request
    is signed, payload included), the same over TLS, or not at all (RocketMQ's default); the
    name server asks for no password
flushDiskType text ASYNC_FLUSH ASYNC_FLUSH|SYNC_FLUSH
    level 2: whether the master syncs too, before it answers; level 3 needs SYNC_FLUSH, and level
    4 ASYNC_FLUSH
mappedFileSizeCommitLog bytes 64MB 4MB..1GB
    size of a file of the commit log (RocketMQ's default is 1GB)
heap bytes 512MB 128MB..
    each broker's Java heap (the distribution's script takes 8GB)
direct_memory bytes 512MB 128MB..
    each broker's memory outside of the heap
`))

// Check returns all violations of a request before anything starts.
func (rocketSystem) Check(c system.Check) error {
	bad := problems(c.Settings, c.Durability)
	if c.Nodes == 0 {
		return append(bad, driver.AlreadyRunning(c.Settings, serverSettings)...).Err()
	}
	bad = append(bad, c.Settings.OutOfRange(serverSettings)...)
	if c.Durability == workload.AsyncAsync && c.Settings.Text(setFlush) == syncFlush {
		bad = append(bad, c.Settings.Wrong(setFlush, "cannot be SYNC_FLUSH at level 4: remove it, "+
			"or take level 3"))
	}
	return append(bad, copiesOf(c.Settings, c.Durability).CheckPrimary(c.Nodes)...).Err()
}

func copiesOf(s system.Settings, l workload.Level) driver.Copies {
	return driver.Copies{Settings: s, Setting: setReplication, Level: l}
}

// problems are the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := append(driver.CheckLevel(rocketSystem{}.Describe(), l), s.OutOfRange(clientSettings)...)
	return append(bad, copiesOf(s, l).Check()...)
}
