package mongodb

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the clients' settings.
const (
	setDatabase    = "database"
	setAuthSource  = "auth_source"
	setBatch       = "batch_max"
	setLinger      = "linger"
	setOrdered     = "ordered"
	setRetry       = "retry_writes"
	setRequest     = "request_timeout"
	setDelivery    = "delivery_timeout"
	setReceive     = "receive_max"
	setLease       = "lease"
	setPoll        = "poll"
	setReplication = "replication_factor"
)

// clientSettings are the settings of clients and topics.
var clientSettings = system.MustSettings(`
database text plimsoll
    the database that holds the topics; the server creates it with the first topic
auth_source text admin
    the database that knows the user of the credentials
batch_max count 1000 1..100k
    most documents of one insertMany; a producer has one under way
linger duration 0s 0s..1m
    how long a producer waits for a batch to fill; it fills as well while the batch before
    it is under way
ordered bool true
    insertMany keeps the order, and stops at the first document that the server refuses;
    false: the server may store a batch in any order
retry_writes bool true
    the library repeats a write once after a lost connection; only the servers of a replica
    set recognise the copy, so it repeats nothing on other servers
request_timeout duration 10s 1ms..1h
    how long a server may take to answer; after it the outcome of a write is unknown
delivery_timeout duration 30s 1ms..1h
    how long a message is kept while no primary is known
receive_max count 10 1..10k
    at least once: most messages that a consumer takes, one by one, before it acknowledges
    them together
lease duration 30s 1ms..1h
    at least once: for how long a message that was taken is hidden from other consumers
poll duration 5ms 1ms..1m
    pause of a consumer that found no message
replication_factor count 3 3..7, because a majority of fewer is no majority, and 7 members vote
    levels 1 and 2: members of the replica set that hold data; levels 3 and 4 take any number
`)

// Check returns all violations of a request before anything starts.
func (mongoSystem) Check(c system.Check) error {
	bad := append(problems(c.Settings, c.Durability),
		checkServers(c.Settings, c.Durability, c.Nodes)...)
	if len(bad) > 0 {
		return bad
	}
	if c.Nodes > 0 {
		return unavailable(c.Settings, c.Durability)
	}
	return nil
}

// problems returns the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	return append(driver.CheckLevel(mongoSystem{}.Describe(), l), s.OutOfRange(clientSettings)...)
}
