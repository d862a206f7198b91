package artemis

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the settings, in Artemis's own words where it has them.
const (
	setReplication = "replication"
	setStated      = "stated_journal-datasync"
	setSilence     = "idle_timeout"
	setTimeout     = "send_timeout"
	setPatience    = "reconnect_timeout"
	setCredit      = "credit"

	setSecurity      = "security"
	setHeap          = "heap"
	setGC            = "gc"
	setDatasync      = "journal-datasync"
	setJournalType   = "journal-type"
	setBufferTimeout = "journal-buffer-timeout"
	setTTL           = "connection-ttl"
)

// Values of the settings.
const (
	auto      = "auto"
	mirror    = "mirror"
	pair      = "pair"
	zooKeeper = "zookeeper"
	single    = "single"

	asyncIO = "ASYNCIO"
	nio     = "NIO"
	mapped  = "MAPPED"

	unstated = "no"
	yes      = "true"
)

// clientSettings are the settings of clients, and of the servers' roles.
var clientSettings = system.MustSettings(`
replication text auto auto|mirror|pair|zookeeper|single
    how two servers hold each message: mirror, over AMQP; pair, a primary and its backup;
    zookeeper, a pair that ZooKeeper arbitrates; single is one server with the only copy, at
    levels 3 and 4; auto is pair at level 2, and otherwise mirror, or single on a testbed of
    one node
stated_journal-datasync text no no|true|false
    journal-datasync of servers on other machines, which do not show it over the network: what
    you read in their broker.xml, where a mirror's sync must be what the level asks for
idle_timeout duration 10s 1s..1h
    how long a server may send nothing, not even a heartbeat, before clients give up the
    connection
send_timeout duration 30s 100ms..1h
    how long the server may take to answer a message, or to take it; after it the outcome is
    unknown, and the producer connects again
reconnect_timeout duration 2m 100ms..1h
    how long a client that lost its server looks for another one; after it a producer refuses
    messages and a consumer ends
credit count 1000 1..1M
    most messages of a partition that the server sends to a consumer ahead of their acceptance
`)

// serverSettings are the settings of the servers that plimsoll starts.
var serverSettings = driver.ServerSettings(system.MustSettings(`
security text password password|tls|none
    how clients and servers authenticate: user and password, these over TLS, or nothing
journal-datasync text auto auto|true
    whether the journal is synced before the answer; auto is what the level asks for; true at
    level 2 has the primary sync too (Artemis's default)
journal-type text auto auto|NIO|MAPPED|ASYNCIO
    how the journal is written; auto is ASYNCIO at levels 1 and 3, which need it, and
    otherwise NIO; ASYNCIO takes the library libaio
journal-buffer-timeout duration 100us 1us..100ms
    longest that the journal gathers writes (Artemis's default with NIO is 3.3ms, and artemis
    create measures the disk and sets it)
connection-ttl duration 60s 1s..1h
    pairs: after how long of silence the servers give each other up
heap bytes 512MB 128MB..
    each server's Java heap; half of it holds messages, and the rest is paged to disk (artemis
    create takes 2GB)
gc text g1 g1|serial
    Java's garbage collector
`))

// replication returns how the servers hold each message at a level.
func replication(s system.Settings, l workload.Level) string {
	switch how := s.Text(setReplication); {
	case how != auto:
		return how
	case l == workload.SyncAsync:
		return pair
	}
	return mirror
}

// replicationOn is replication on a testbed with so many nodes.
func replicationOn(s system.Settings, l workload.Level, nodes int) string {
	if nodes == 1 && s.Text(setReplication) == auto && !l.Majority() {
		return single
	}
	return replication(s, l)
}

// mirrored reports whether the servers are mirrors, not a pair.
func mirrored(s system.Settings, l workload.Level) bool { return replication(s, l) == mirror }

// datasync reports whether the journals of the servers to start are synced.
func datasync(s system.Settings, l workload.Level) bool {
	return l.Synced() || s.Text(setDatasync) == yes
}

// journalType returns the journal-type of the servers to start.
func journalType(s system.Settings, l workload.Level) string {
	switch kind := s.Text(setJournalType); {
	case kind != auto:
		return kind
	case l.Synced():
		return asyncIO
	}
	return nio
}

// problems returns the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := append(driver.CheckLevel(artemisSystem{}.Describe(), l), s.OutOfRange(clientSettings)...)
	alone := replication(s, l) == single
	switch {
	case alone && l.Valid() && l.Majority():
		return append(bad, s.Wrong(setReplication, fmt.Sprintf("is a single copy, and durability "+
			"level %d needs 2 copies of each message: add a server, or ask for --durability 3 or 4",
			l)))
	case alone || mirrored(s, l) || !l.Valid() || l == workload.SyncAsync:
		return bad
	}
	why := "a primary always waits for its backup"
	if l == workload.SyncSync {
		why = "a backup never syncs"
	}
	return append(bad, s.Wrong(setReplication,
		fmt.Sprintf("cannot give level %d: %s: take %s", l, why, mirror)))
}

// checkNodes returns the violations of the number of servers to start. nodes is their number, or 0
// when they run already.
func checkNodes(s system.Settings, l workload.Level, nodes int) strict.Violations {
	if nodes == 0 {
		return driver.AlreadyRunning(s, serverSettings)
	}
	bad := s.OutOfRange(serverSettings)
	how := replicationOn(s, l, nodes)
	switch {
	case how == single && nodes > 1:
		bad = append(bad, s.Wrong(setReplication, fmt.Sprintf("asks for one server, and the "+
			"testbed has %d nodes: take 1", nodes)))
	case how != single && nodes < 2:
		bad = append(bad, s.Wrong(setReplication, fmt.Sprintf("the testbed has 1 node, and "+
			"durability level %d needs 2 copies of each message (%s): take 2 nodes, or 3 with %s, "+
			"or ask for --durability 3 or 4, for which a single copy suffices", l, how, zooKeeper)))
	case nodes > 3:
		bad = append(bad, s.Wrong(setReplication, fmt.Sprintf("needs two servers, and with %s a "+
			"ZooKeeper, but the testbed has %d nodes: take 2 or 3", zooKeeper, nodes)))
	}
	if kind := journalType(s, l); l.Synced() && kind != asyncIO {
		bad = append(bad, s.Wrong(setJournalType, fmt.Sprintf("cannot be %s at level %d, because "+
			"servers with a mirror then answer before they sync: remove it, or take level 2 or 4",
			kind, l)))
	}
	if l == workload.AsyncAsync && s.Text(setDatasync) == yes {
		bad = append(bad, s.Wrong(setDatasync, "cannot be true at level 4: remove it, or take "+
			"level 3"))
	}
	return bad
}
