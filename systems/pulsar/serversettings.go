package pulsar

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the servers' settings, in Pulsar's and BookKeeper's own words where
// they have one.
const (
	setTopology         = "topology"
	setBookies          = "bookies"
	setBrokers          = "brokers"
	setSecurity         = "security"
	setGC               = "gc"
	setBrokerHeap       = "broker_heap"
	setBrokerDirect     = "broker_direct_memory"
	setBookieHeap       = "bookie_heap"
	setBookieDirect     = "bookie_direct_memory"
	setZooKeeperHeap    = "zookeeper_heap"
	setMaxGroupWait     = "journal_max_group_wait"
	setJournalWriteData = "journal_write_data"
	setPageCacheFlush   = "journal_page_cache_flush_interval"
	setChannels         = "bookkeeper_number_of_channels_per_bookie"
	setNewEntriesDelay  = "managed_ledger_new_entries_check_delay"
	setLoadBalancing    = "load_balancing"
	setFailoverDelay    = "active_consumer_failover_delay"
)

// Values of the servers' settings, and what bounds them.
const (
	colocated  = "colocated"
	tiered     = "tiered"
	standalone = "standalone"

	token     = "token"
	tokenTLS  = "token_tls"
	plaintext = "plaintext"

	gcG1     = "g1"
	gcSerial = "serial"
	gcZ      = "zgc"

	leastMemory = 64 << 20 // with less a server does not start
	maxServers  = 20
)

// serverSettings shape the servers that plimsoll starts. What is not here is
// as the distribution's own configuration has it.
func serverSettings() []system.Setting {
	return driver.ServerSettings([]system.Setting{
		{Name: setTopology, Kind: system.Text, Default: colocated,
			OneOf: []string{colocated, tiered, standalone},
			Doc: "colocated: a broker and a bookie on each node; tiered: brokers on nodes of " +
				"their own, which on one machine changes nothing but the addresses; standalone: " +
				"all in one process, with one copy, so levels 3 and 4 only"},
		{Name: setBookies, Kind: system.Count, Default: "0",
			Doc: "number of bookies; 0: as many as nodes; with one more than ensemble a bookie " +
				"that dies is replaced by another"},
		{Name: setBrokers, Kind: system.Count, Default: "0",
			Doc: "number of brokers; 0: as many as nodes"},
		{Name: setSecurity, Kind: system.Text, Default: token,
			OneOf: []string{token, tokenTLS, plaintext},
			Doc: "what clients show the brokers: a token, a token over TLS, or nothing (Pulsar's " +
				"default); bookies and ZooKeeper ask for nothing and listen on loopback alone"},
		{Name: setGC, Kind: system.Text, Default: gcG1, OneOf: []string{gcG1, gcSerial, gcZ},
			Doc: "Java's garbage collector (Pulsar's scripts take zgc, which needs more memory " +
				"than the defaults here leave it)"},
		{Name: setBrokerHeap, Kind: system.Bytes, Default: "512MB",
			Doc: "each broker's Java heap (Pulsar's scripts take 2GB)"},
		{Name: setBrokerDirect, Kind: system.Bytes, Default: "512MB",
			Doc: "each broker's memory outside of the heap; a fifth of it caches what was just " +
				"written (Pulsar's scripts take 4GB)"},
		{Name: setBookieHeap, Kind: system.Bytes, Default: "256MB",
			Doc: "each bookie's Java heap (Pulsar's scripts take 2GB)"},
		{Name: setBookieDirect, Kind: system.Bytes, Default: "512MB",
			Doc: "each bookie's memory outside of the heap; a quarter of it holds writes and a " +
				"quarter reads (Pulsar's scripts take 2GB)"},
		{Name: setZooKeeperHeap, Kind: system.Bytes, Default: "128MB",
			Doc: "ZooKeeper's Java heap"},
		{Name: setMaxGroupWait, Kind: system.Duration, Default: "1ms",
			Doc: "longest that a bookie gathers writes before it syncs them together " +
				"(journalMaxGroupWaitMSec)"},
		{Name: setJournalWriteData, Kind: system.Bool, Default: "true",
			Doc: "write to the journal at levels 2 and 4 too, unsynced; false bypasses it " +
				"(journalWriteData; levels 1 and 3 always write)"},
		{Name: setPageCacheFlush, Kind: system.Duration, Default: "1s",
			Doc: "how often the journal is flushed at levels 2 and 4, where no acknowledgement " +
				"waits for it (journalPageCacheFlushIntervalMSec)"},
		{Name: setChannels, Kind: system.Count, Default: "16",
			Doc: "connections of each broker to each bookie " +
				"(bookkeeperNumberOfChannelsPerBookie; one study took 64)"},
		{Name: setNewEntriesDelay, Kind: system.Duration, Default: "0s",
			Doc: "how long a broker waits before it looks for new entries for a reader that has " +
				"read all (managedLedgerNewEntriesCheckDelayInMillis; Pulsar's default is 10ms)"},
		{Name: setFailoverDelay, Kind: system.Duration, Default: "0s",
			Doc: "how long a broker waits before another consumer of a failover subscription " +
				"gets a partition's messages (activeConsumerFailoverDelayTimeMillis; Pulsar's " +
				"default is 1s, with which 4.0.6 may deliver nothing more after two changes in a " +
				"row)"},
		{Name: setLoadBalancing, Kind: system.Bool, Default: "false",
			Doc: "let the brokers move and split bundles under load, which stalls their topics " +
				"for a moment (Pulsar's default is true)"},
	})
}

// checkNodes is all that is wrong with the servers to start, before anything
// is: nodes is their number, 0 when they run already.
func checkNodes(s system.Settings, l workload.Level, nodes int) strict.Violations {
	if nodes == 0 {
		return driver.AlreadyRunning(s, serverSettings())
	}
	var bad strict.Violations
	wrong := func(name, format string, args ...any) {
		bad = append(bad, s.Wrong(name, fmt.Sprintf(format, args...)))
	}
	for _, name := range []string{setBrokerHeap, setBrokerDirect, setBookieHeap, setBookieDirect,
		setZooKeeperHeap} {
		if s.Bytes(name) < leastMemory {
			wrong(name, "must be at least %s: with less a server does not start",
				quantity.Bytes(leastMemory))
		}
	}
	for _, name := range []string{setBookies, setBrokers} {
		if s.Count(name) > maxServers {
			wrong(name, "must be from 0 to %d", maxServers)
		}
	}
	if n := s.Count(setChannels); n < 1 || n > 1000 {
		wrong(setChannels, "must be from 1 to 1000")
	}
	for _, name := range []string{setMaxGroupWait, setPageCacheFlush, setNewEntriesDelay,
		setFailoverDelay} {
		if ms := s.Duration(name).Milliseconds(); ms < 0 || ms > 60_000 {
			wrong(name, "must be from 0s to 1m")
		}
	}
	if l.Synced() && !s.Bool(setJournalWriteData) {
		wrong(setJournalWriteData,
			"cannot be false at durability level %d, which syncs the journal: remove it, or take "+
				"level %d", l, l+1)
	}
	return append(bad, checkCopies(s, nodes)...)
}

// checkCopies holds the copies against the bookies.
func checkCopies(s system.Settings, nodes int) strict.Violations {
	if s.Text(setTopology) == standalone {
		return nil
	}
	have := bookiesOf(s, nodes)
	if n := s.Count(setEnsemble); n > int64(have) && n >= minEnsemble && n <= maxEnsemble {
		return strict.Violations{s.Wrong(setEnsemble,
			fmt.Sprintf("asks for %d bookies, and the testbed has %d: ask for more nodes, such "+
				"as testbed: {nodes: %d}", n, have, n))}
	}
	return nil
}

func bookiesOf(s system.Settings, nodes int) int { return countOr(s, setBookies, nodes) }
func brokersOf(s system.Settings, nodes int) int { return countOr(s, setBrokers, nodes) }

func countOr(s system.Settings, name string, other int) int {
	if n := int(s.Count(name)); n > 0 {
		return n
	}
	return other
}
