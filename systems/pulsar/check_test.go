package pulsar

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Check finds all errors of a request at once, before anything starts.
func TestCheck(t *testing.T) {
	systemtest.Checks(t, pulsarSystem{}, []systemtest.Checked{
		{Level: workload.SyncSync, Delivery: workload.AtLeastOnce, Nodes: 3},
		{Level: workload.AsyncAsync, Delivery: workload.AtMostOnce},
		{Level: workload.SyncAsync, Nodes: 1,
			Exactly: `setting "ensemble": the testbed has 1 bookie, and durability level 2 needs 3 copies of each message (ensemble): add servers, or ask for --durability 3 or 4, for which a single copy suffices`},
		{Level: workload.AsyncAsync, Nodes: 1},
		{Level: workload.SyncAsync, Nodes: 1, Given: []string{setTopology, standalone},
			Exactly: `t.yaml:3:5: setting "topology": cannot be standalone at durability level 2, which waits for a majority of copies: take colocated or tiered, or level 4`},
		{Level: workload.AsyncSync, Nodes: 1, Given: []string{setTopology, standalone}},
		{Level: workload.AsyncAsync, Nodes: 1, Given: []string{setTopology, standalone}},
		{Level: workload.SyncAsync, Nodes: 5,
			Given: []string{setEnsemble, "5", setWriteQuorum, "4", setSecurity, tokenTLS}},
		{Level: workload.SyncAsync, Nodes: 1, Given: []string{setBookies, "4"}},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{setEnsemble, "4"},
			Exactly: `t.yaml:3:5: setting "ensemble": the testbed has 3 bookies, and durability level 2 needs 4 copies of each message (ensemble): add servers, or ask for --durability 3 or 4, for which a single copy suffices`},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{setBookies, "100",
			setBookieHeap, "1MB", setChannels, "0", setMaxGroupWait, "1h"},
			Exactly: `t.yaml:3:5: setting "bookies": must be from 0 to 20` + "\n" +
				`t.yaml:3:5: setting "bookie_heap": must be at least 64MB: with less a server does not start` + "\n" +
				`t.yaml:3:5: setting "journal_max_group_wait": must be from 0s to 1m` + "\n" +
				`t.yaml:3:5: setting "bookkeeper_number_of_channels_per_bookie": must be from 1 to 1000`},
		{Level: workload.SyncSync, Nodes: 3, Given: []string{setJournalWriteData, "false"},
			Exactly: `t.yaml:3:5: setting "journal_write_data": cannot be false at durability level 1, which syncs the journal: remove it, or take level 2`},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{setJournalWriteData, "false"}},
		{Level: workload.SyncAsync},
		{Level: workload.SyncAsync, Given: []string{setTopology, tiered},
			Exactly: `t.yaml:3:5: setting "topology": shapes servers that plimsoll starts, and these run already: remove it, or remove the endpoints`},
		{Level: workload.SyncAsync, Given: []string{setBookieHeap, "1GB"},
			Exactly: `t.yaml:3:5: setting "bookie_heap": shapes servers that plimsoll starts, and these run already: remove it, or remove the endpoints`},
		{Level: workload.AsyncAsync, Given: []string{setBatchingDelay, "0s",
			setBatchingSize, "10MB", setMaxPending, "0", setEnsemble, "12", setWriteQuorum, "15",
			setNamespace, "a/b", setAdminEndpoints, "broker"},
			Exactly: `t.yaml:3:5: setting "batching_max_publish_delay": must be from 10us to 1m; to send at once set batching_enabled to false` + "\n" +
				`t.yaml:3:5: setting "batching_max_size": must be from 1KB to 5MB, the most that a broker takes` + "\n" +
				`t.yaml:3:5: setting "max_pending_messages": must be from 1 to 1000000` + "\n" +
				`t.yaml:3:5: setting "namespace": must be letters, digits, - and _, such as plimsoll` + "\n" +
				`t.yaml:3:5: setting "admin_endpoints": "broker" is not host:port: write them with commas between, like broker-1:8080, broker-2:8080` + "\n" +
				`t.yaml:3:5: setting "ensemble": must be from 1 to 9 at durability level 4` + "\n" +
				`t.yaml:3:5: setting "write_quorum": must be from 1 to ensemble, which is 12`},
	})
}
