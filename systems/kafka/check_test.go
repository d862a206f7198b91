package kafka

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Check finds all errors of a request at once, before anything starts.
func TestCheck(t *testing.T) {
	systemtest.Checks(t, kafkaSystem{}, []systemtest.Checked{
		{Level: workload.SyncSync, Delivery: workload.AtLeastOnce, Nodes: 3},
		{Level: workload.SyncAsync, Delivery: workload.ExactlyOnce, Nodes: 3},
		{Level: workload.AsyncSync, Delivery: workload.ExactlyOnce,
			Given: []string{setIdempotence, "false"},
			Exactly: "durability level 3 is acks=1, and transactions need acks=all: take level 1 " +
				"or 2, or another delivery\n" +
				`t.yaml:3:5: setting "enable_idempotence": cannot be false with delivery exactly_once: transactions need it`},
		{Level: workload.SyncAsync, Nodes: 1,
			Exactly: `setting "replication_factor": the testbed has 1 node, and durability level 2 needs 3 copies of each message (replication_factor): add servers, or ask for --durability 3 or 4, for which a single copy suffices`},
		{Level: workload.AsyncAsync, Nodes: 1},
		{Level: workload.SyncAsync, Given: []string{setReplication, "2"},
			Exactly: `t.yaml:3:5: setting "replication_factor": is 2, and durability level 2 needs 3 copies or more: raise it, or ask for --durability 3 or 4`},
		{Level: workload.SyncAsync},
		{Level: workload.SyncAsync, Given: []string{setHeap, "1GB"},
			Exactly: `t.yaml:3:5: setting "heap": shapes servers that plimsoll starts, and these run already: remove it, or remove the endpoints`},
		{Level: workload.SyncAsync, Given: []string{setHeap, "256MB"}, // the default
			Exactly: `t.yaml:3:5: setting "heap": shapes servers that plimsoll starts, and these run already: remove it, or remove the endpoints`},
		{Level: workload.SyncAsync, Nodes: 9,
			Given: []string{setReplication, "5", setSecurity, saslSSL}},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{setReplication, "4"},
			Exactly: `t.yaml:3:5: setting "replication_factor": the testbed has 3 nodes, and durability level 2 needs 4 copies of each message (replication_factor): add servers, or ask for --durability 3 or 4, for which a single copy suffices`},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{setHeap, "64MB"},
			Exactly: `t.yaml:3:5: setting "heap": must be at least 128MB: with less a server does not start`},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{setMessageMax, "1GB"},
			Exactly: `t.yaml:3:5: setting "message_max_bytes": must be from 1KB to a quarter of heap, which is 256MB`},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{setSegmentBytes, "4GB",
			setIOThreads, "0", setBrokerSession, "1ms"},
			Exactly: `t.yaml:3:5: setting "num_io_threads": must be from 1 to 1000` + "\n" +
				`t.yaml:3:5: setting "log_segment_bytes": must be from 1MB to 2147483647 bytes` + "\n" +
				`t.yaml:3:5: setting "broker_session_timeout": must be from 1s to 1h`},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{system.SettingVersion, "3.6.2"},
			Exactly: `t.yaml:3:5: setting "version": must be a version from 3.7.0 on, such as 4.3.1`},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{system.SettingVersion, "4.3.1<"},
			Exactly: `t.yaml:3:5: setting "version": must be a version from 3.7.0 on, such as 4.3.1`},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{system.SettingVersion, "3.10.0"}},
		{Level: workload.AsyncAsync, Given: []string{setBatchSize, "0", setHeartbeat, "1m",
			setReplication, "10", setIdempotence, "true", setTopicConfigs, "flush.messages=7"},
			Exactly: `t.yaml:3:5: setting "batch_size": must be from 1KB to 2147483647 bytes` + "\n" +
				`t.yaml:3:5: setting "replication_factor": must be from 1 to 9` + "\n" +
				`t.yaml:3:5: setting "heartbeat_interval": must be at most half of session_timeout, which is 45s` + "\n" +
				`t.yaml:3:5: setting "enable_idempotence": needs acks=all, and durability level 4 is acks=1: remove it, or take level 2` + "\n" +
				`t.yaml:3:5: setting "topic_configs": flush.messages follows from the durability level: remove it, and ask for the level instead`},
		{Level: workload.SyncAsync, Given: []string{setTopicConfigs, "retention.ms"},
			Exactly: `t.yaml:3:5: setting "topic_configs": "retention.ms" is not name=value: write them with commas between, like retention.ms=60000, segment.bytes=1048576`},
	})
}
