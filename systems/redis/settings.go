package redis

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the clients' settings.
const (
	setLinger      = "linger"
	setPipeline    = "pipeline_max"
	setWaitFor     = "wait_for"
	setWaitTimeout = "wait_timeout"
	setRequest     = "request_timeout"
	setDelivery    = "delivery_timeout"
	setMaxLen      = "max_length"
	setCount       = "count"
	setBlock       = "block"
	setClaimAfter  = "claim_after"
	setReplication = "replication_factor"
)

const majority = "majority" // a value of wait_for

// clientSettings are the settings of clients and topics.
var clientSettings = system.MustSettings(`
linger duration 0s 0s..1m
    how long a producer waits for a pipeline to fill; it fills as well while the pipeline
    before it is under way
pipeline_max count 1000 1..1M
    most messages (XADD) of one pipeline; a producer has one pipeline under way
wait_for text majority majority|all
    levels 1 and 2: the copies that each pipeline's WAIT waits for
wait_timeout duration 5s 1ms..1h
    levels 1 and 2: how long WAIT waits; after it the outcome is unknown
request_timeout duration 10s 1ms..1h
    how long the primary may take to answer a pipeline, beside WAIT
delivery_timeout duration 30s 1ms..1h
    how long a message is kept while the primary is away or loads its data
max_length count 0
    trim each stream to about so many entries (MAXLEN ~), read or not; 0: keep all in memory,
    until maxmemory refuses more
count count 500 1..1M
    most messages of one partition in one read (XREADGROUP COUNT)
block duration 100ms 1ms..1h
    longest wait of a read (BLOCK), and so of a consumer's closing
claim_after duration 30s 1ms..1h
    at least once: after how long without an acknowledgement another consumer of the
    subscription claims a message (XAUTOCLAIM)
replication_factor count 3 1..9
    servers that have each message, the primary and its replicas: 3 or more at levels 1 and 2;
    left out at levels 3 and 4, as many as there are
`)

// Check returns all violations of a request before anything starts.
func (redisSystem) Check(c system.Check) error {
	bad := problems(c.Settings, c.Durability)
	if c.Nodes == 0 {
		return append(bad, driver.AlreadyRunning(c.Settings, serverSettings)...).Err()
	}
	bad = append(bad, c.Settings.OutOfRange(serverSettings)...)
	return append(bad, copiesOf(c.Settings, c.Durability).CheckPrimary(c.Nodes)...).Err()
}

func copiesOf(s system.Settings, l workload.Level) driver.Copies {
	return driver.Copies{Settings: s, Setting: setReplication, Level: l}
}

// problems are the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := append(driver.CheckLevel(redisSystem{}.Describe(), l), s.OutOfRange(clientSettings)...)
	return append(bad, copiesOf(s, l).Check()...)
}
