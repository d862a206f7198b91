package postgres

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the clients' settings.
const (
	setShape       = "shape"
	setDatabase    = "database"
	setWake        = "wake"
	setPoll        = "poll_interval"
	setLinger      = "linger"
	setBatch       = "batch_max"
	setFetch       = "fetch"
	setAcknowledge = "acknowledge"
	setRequest     = "request_timeout"
	setDelivery    = "delivery_timeout"
	setReplication = "replication_factor"
)

// Values of the clients' settings.
const (
	shapeQueue = "queue"
	shapeLog   = "log"
	wakeNotify = "notify"
	ackOff     = "off"
)

// clientSettings are the settings of clients and topics.
var clientSettings = system.MustSettings(`
shape text queue queue|log
    what a topic is: a queue, whose consumers delete what they have handled (FOR UPDATE SKIP
    LOCKED), or a log, which is only appended to and is read by position
database text postgres
    the database that holds the topics
wake text notify notify|poll
    how an idle consumer learns of messages: by NOTIFY, which producers send after each commit,
    or by asking again
poll_interval duration 100ms 1ms..1h
    how long an idle consumer waits before it asks again; with wake notify it does so too,
    because a notification may be lost with a connection
linger duration 0s 0s..1m
    how long a producer waits for a batch to fill; it fills as well while the batch before it
    is under way
batch_max count 1000 1..1M
    most messages of one INSERT; a producer has one INSERT under way
fetch count 100 1..1M
    most messages that a consumer takes at once
acknowledge text level level|off
    what a consumer's commit waits for: the same as a producer's, or nothing
    (synchronous_commit off), so that a crash of the primary delivers again
request_timeout duration 10s 1ms..1h
    how long the primary may take to answer; after it the outcome is unknown
delivery_timeout duration 30s 1ms..1h
    how long a message is kept while the primary is away or recovers
replication_factor count 3 1..9
    servers that have each message, the primary and its standbys: 3 or more at levels 1 and 2;
    left out at levels 3 and 4, as many as there are
`)

// Check returns all violations of a request before anything starts.
func (postgresSystem) Check(c system.Check) error {
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
	bad := append(driver.CheckLevel(postgresSystem{}.Describe(), l),
		s.OutOfRange(clientSettings)...)
	if s.Text(setDatabase) == "" {
		bad = append(bad, s.Wrong(setDatabase, "names no database: postgres is always there"))
	}
	return append(bad, copiesOf(s, l).Check()...)
}
