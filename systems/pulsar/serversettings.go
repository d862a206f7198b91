package pulsar

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the servers' settings, in Pulsar's and BookKeeper's own words where they have them.
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

// Values of the servers' settings and their bounds.
const (
	colocated  = "colocated"
	tiered     = "tiered"
	standalone = "standalone"

	token     = "token"
	tokenTLS  = "token_tls"
	plaintext = "plaintext"
)

// serverSettings configure the servers that plimsoll starts. All other configuration is
// the distribution's own.
var serverSettings = driver.ServerSettings(system.MustSettings(`
topology text colocated colocated|tiered|standalone
    colocated: a broker and a bookie on each node; tiered: brokers on separate nodes,
    which on one machine changes nothing but the addresses; standalone: all in one process,
    with one copy, so levels 3 and 4 only
bookies count 0 0..20
    number of bookies; 0: as many as nodes; with one more than ensemble a bookie that dies is
    replaced by another
brokers count 0 0..20
    number of brokers; 0: as many as nodes
security text token token|token_tls|plaintext
    how clients authenticate: a token, a token over TLS, or nothing (Pulsar's default);
    bookies and ZooKeeper require nothing and listen on loopback only
gc text g1 g1|serial|zgc
    Java's garbage collector (Pulsar's scripts take zgc, which needs more memory than the
    defaults here leave it)
broker_heap bytes 512MB 64MB..: with less a server does not start
    each broker's Java heap (Pulsar's scripts take 2GB)
broker_direct_memory bytes 512MB 64MB..: with less a server does not start
    each broker's memory outside of the heap; a fifth of it caches recent writes
    (Pulsar's scripts take 4GB)
bookie_heap bytes 256MB 64MB..: with less a server does not start
    each bookie's Java heap (Pulsar's scripts take 2GB)
bookie_direct_memory bytes 512MB 64MB..: with less a server does not start
    each bookie's memory outside of the heap; a quarter of it holds writes and a quarter reads
    (Pulsar's scripts take 2GB)
zookeeper_heap bytes 128MB 64MB..: with less a server does not start
    ZooKeeper's Java heap
journal_max_group_wait duration 1ms 0s..1m
    longest that a bookie gathers writes before it syncs them together
    (journalMaxGroupWaitMSec)
journal_write_data bool true
    write to the journal at levels 2 and 4 too, unsynced; false bypasses it (journalWriteData;
    levels 1 and 3 always write)
journal_page_cache_flush_interval duration 1s 0s..1m
    how often the journal is flushed at levels 2 and 4, where no acknowledgement waits for it
    (journalPageCacheFlushIntervalMSec)
bookkeeper_number_of_channels_per_bookie count 16 1..1000
    connections of each broker to each bookie (bookkeeperNumberOfChannelsPerBookie; one study
    took 64)
managed_ledger_new_entries_check_delay duration 0s 0s..1m
    how long a broker waits before it looks for new entries for a reader that is at the end
    (managedLedgerNewEntriesCheckDelayInMillis; Pulsar's default is 10ms)
active_consumer_failover_delay duration 0s 0s..1m
    how long a broker waits before another consumer of a failover subscription gets a
    partition's messages (activeConsumerFailoverDelayTimeMillis; Pulsar's default is 1s, with
    which 4.0.6 may deliver nothing more after two changes in a row)
load_balancing bool false
    let the brokers move and split bundles under load, which stalls their topics for a moment
    (Pulsar's default is true)
`))

// checkNodes returns the violations of the settings of servers to start. nodes is their number, or
// 0 when they run already.
func checkNodes(s system.Settings, l workload.Level, nodes int) strict.Violations {
	if nodes == 0 {
		return driver.AlreadyRunning(s, serverSettings)
	}
	bad := driver.CheckRanges(s, serverSettings)
	if l.Synced() && !s.Bool(setJournalWriteData) {
		bad.Wrong(setJournalWriteData,
			"cannot be false at durability level %d, which syncs the journal: remove it, or take "+
				"level %d", l, l+1)
	}
	return append(bad.Violations, checkCopies(s, l, nodes)...)
}

// checkCopies compares the copies with the number of bookies.
func checkCopies(s system.Settings, l workload.Level, nodes int) strict.Violations {
	if s.Text(setTopology) == standalone {
		return nil
	}
	have := bookiesOf(s, nodes)
	if n := s.Count(setEnsemble); n > maxEnsemble {
		return nil // refused by levelProblems
	}
	if err := copiesOf(s, l).Enough(have,
		"the testbed has "+quantity.Plural(have, "bookie", "bookies")); err != nil {
		return strict.Violations{s.Wrong(setEnsemble, err.Error())}
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
