package nsq

import (
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the settings, in nsqd's own words where it has them.
const (
	setLinger      = "linger"
	setBatch       = "mpub_max"
	setRequest     = "request_timeout"
	setInFlight    = "max_in_flight"
	setMsgTimeout  = "msg_timeout"
	setOutput      = "output_buffer_timeout"
	setHTTP        = "http_port"
	setMaxMessage  = "max_msg_size"
	setSecurity    = "security"
	setMemQueue    = "mem_queue_size"
	setSyncEvery   = "sync_every"
	setSyncTimeout = "sync_timeout"
)

// leastBuffering is the least time that nsqd accepts for output_buffer_timeout, besides none.
const leastBuffering = 25 * time.Millisecond

// clientSettings are the settings of clients and topics.
var clientSettings = system.MustSettings(`
linger duration 0s 0s..1m
    how long a producer waits for a batch to fill; it fills as well while the one before it is
    under way
mpub_max count 200 1..10k
    most messages of a batch (MPUB); a producer has one batch under way
request_timeout duration 10s 1ms..1h
    how long a server may take to answer a batch; after it the outcome is unknown
max_in_flight count 200 1..2500
    most messages of a partition that a server sends ahead of their end (RDY)
msg_timeout duration 1m 1s..15m
    after how long a server delivers a message again that was not ended
output_buffer_timeout duration 250ms 0s..30s
    how long a server keeps messages for a consumer, up to 16KB of them, to write several at
    once: at least 25ms, or 0s, to write each at once
max_msg_size bytes 1MB 1KB..64MB
    the greatest message that the servers take; plimsoll starts its own with it
http_port count 4151 1..65535
    the port of nsqd's HTTP interface, at the host of each endpoint
`)

// serverSettings are the settings of the servers that plimsoll starts.
var serverSettings = driver.ServerSettings(system.MustSettings(`
security text none none|tls
    how clients and servers talk: in the clear (nsqd's default) or over TLS; nsqd has no
    passwords of its own
mem_queue_size count 10000 0..10M
    messages that a topic or a channel keeps in memory; further ones go to its disk queue
sync_every count 2500 1..1M
    how many messages are written to a disk queue between its syncs
sync_timeout duration 2s 1ms..1h
    how long a disk queue waits at most for its next sync
`))

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: {How: "a batch leaves as soon as the one before it is answered"},
	workload.ClientsLatency: {
		Sets: system.MustSet(setLinger+"=0s", setOutput+"=0s"),
		How: "a batch leaves as soon as the one before it is answered, and servers write each " +
			"message at once",
	},
	workload.ClientsThroughput: {
		Sets: system.MustSet(setLinger+"=20ms", setOutput+"=0s"),
		How: "a batch fills for 20ms, or until it is full; servers write each message at once, " +
			"because their least wait is 25ms",
	},
}

// settingWaits are the waits that settings cause.
var settingWaits = []system.Wait{
	system.Lingers(setLinger),
	{Series: result.EndToEnd, Setting: setOutput,
		Words: "a server waits up to %s for more messages of a consumer"},
}

// Check returns all violations of a request before anything starts.
func (nsqSystem) Check(c system.Check) error {
	bad := problems(c.Settings, c.Durability)
	if c.Nodes == 0 {
		return append(bad, driver.AlreadyRunning(c.Settings, serverSettings)...).Err()
	}
	return append(bad, c.Settings.OutOfRange(serverSettings)...).Err()
}

// problems are the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := append(driver.CheckLevel(nsqSystem{}.Describe(), l), s.OutOfRange(clientSettings)...)
	if wait := s.Duration(setOutput); wait > 0 && wait < leastBuffering {
		bad = append(bad, s.Wrong(setOutput, fmt.Sprintf("is below nsqd's least, %s: take that or "+
			"more, or 0s", leastBuffering)))
	}
	return bad
}
