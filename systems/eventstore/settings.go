package eventstore

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the settings.
const (
	setConnections = "append_connections"
	setAppendMax   = "append_max"
	setAppendBytes = "append_bytes"
	setLinger      = "linger"
	setRequest     = "request_timeout"
	setDelivery    = "delivery_timeout"
	setBuffer      = "buffer_size"
	setReadBatch   = "read_batch"
	setHistory     = "history_buffer"
	setLive        = "live_buffer"
	setTimeout     = "message_timeout"
	setRetries     = "max_retries"
	setCheckAfter  = "checkpoint_after"
	setCheckMin    = "checkpoint_min"
	setCheckMax    = "checkpoint_max"
	setStrategy    = "consumer_strategy"
	setMaxCount    = "max_count"
)

var settings = system.MustSettings(`
append_connections count 4 1..100
    most connections of a producer, each with one append under way; a partition belongs to one
append_max count 500 1..10000
    most events of one append
append_bytes bytes 960KB 1KB..16MB
    most bytes of payload and key in one append of several events; the server's max-append-size is
    1 MiB
linger duration 0s 0s..1m
    how long a connection waits for more events; they gather as well while an append is under way
request_timeout duration 10s 1ms..1h
    how long the server may take to answer; after it the outcome of an append is unknown
delivery_timeout duration 30s 1ms..1h
    how long a message is kept while there is no leader
buffer_size count 1000 1..100000
    most messages of a partition that a consumer holds without acknowledgement; the client's own
    default is 10
read_batch count 20 1..100000
    events that a group reads at a time while it catches up
history_buffer count 500 1..100000
    events that a group keeps in memory while it catches up
live_buffer count 500 1..100000
    new events that a group keeps in memory before it reads them from the stream again
message_timeout duration 30s 1ms..1h
    after how long without an acknowledgement the server delivers a message again
max_retries count 10 0..1M
    deliveries again, after which the server parks the message: it comes to no consumer any more
checkpoint_after duration 2s 1ms..1h
    how often a group saves its position
checkpoint_min count 10 1..1M
    acknowledged messages below which a group does not save its position
checkpoint_max count 1000 1..1M
    acknowledged messages at which a group saves its position at once
consumer_strategy text RoundRobin RoundRobin|DispatchToSingle|Pinned
    how a group shares its messages out among consumers
max_count count 0
    events that each stream keeps ($maxCount), read or not; 0: all
`)

// Check returns all violations of a request before anything starts.
func (eventStore) Check(c system.Check) error {
	return problems(c.Settings, c.Durability).Err()
}

// problems are the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := append(driver.CheckLevel(eventStore{}.Describe(), l), s.OutOfRange(settings)...)
	if s.Count(setCheckMin) > s.Count(setCheckMax) {
		bad = append(bad, s.Wrong(setCheckMin, "is more than "+setCheckMax+": make it smaller"))
	}
	return bad
}
