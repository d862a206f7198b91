package kafka

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Check finds all errors of a request at once, before anything starts.
func TestCheck(t *testing.T) {
	place := target.Place{File: "t.yaml", Line: 3, Column: 5}
	give := func(name, value string) target.Setting {
		return target.Setting{Name: name, Value: value, At: place}
	}
	for _, c := range []struct {
		name  string
		check system.Check
		given []target.Setting
		want  string
	}{
		{"defaults", system.Check{Durability: workload.SyncSync, Delivery: workload.AtLeastOnce,
			Nodes: 3}, nil, ""},
		{"exactly once", system.Check{Durability: workload.SyncAsync,
			Delivery: workload.ExactlyOnce, Nodes: 3}, nil, ""},
		{"exactly once without copies",
			system.Check{Durability: workload.AsyncSync, Delivery: workload.ExactlyOnce},
			[]target.Setting{give(setIdempotence, "false")},
			"durability level 3 is acks=1, and transactions need acks=all: take level 1 or 2, or " +
				"another delivery\n" +
				`t.yaml:3:5: setting "enable_idempotence": cannot be false with delivery exactly_once: transactions need it`},
		{"one node", system.Check{Durability: workload.SyncAsync, Nodes: 1}, nil,
			`setting "replication_factor": the testbed has 1 node, and durability level 2 needs 3 copies of each message (replication_factor): add servers, or ask for --durability 3 or 4, for which a single copy suffices`},
		{"one node without copies", system.Check{Durability: workload.AsyncAsync, Nodes: 1}, nil,
			""},
		{"two copies of a majority", system.Check{Durability: workload.SyncAsync},
			[]target.Setting{give(setReplication, "2")},
			`t.yaml:3:5: setting "replication_factor": is 2, and durability level 2 needs 3 copies or more: raise it, or ask for --durability 3 or 4`},
		{"server settings on a cluster that runs", system.Check{Durability: workload.SyncAsync},
			[]target.Setting{give(setHeap, "1GB")},
			`t.yaml:3:5: setting "heap": shapes servers that plimsoll starts, and these run already: remove it, or remove the endpoints`},
		{"all at once", system.Check{Durability: workload.AsyncAsync},
			[]target.Setting{give(setBatchSize, "0"), give(setHeartbeat, "1m"),
				give(setReplication, "10"), give(setIdempotence, "true"), give(setTopicConfigs,
					"flush.messages=7")},
			`t.yaml:3:5: setting "batch_size": must be from 1KB to 2147483647 bytes` + "\n" +
				`t.yaml:3:5: setting "replication_factor": must be from 1 to 9` + "\n" +
				`t.yaml:3:5: setting "heartbeat_interval": must be at most half of session_timeout, which is 45s` + "\n" +
				`t.yaml:3:5: setting "enable_idempotence": needs acks=all, and durability level 4 is acks=1: remove it, or take level 2` + "\n" +
				`t.yaml:3:5: setting "topic_configs": flush.messages follows from the durability level: remove it, and ask for the level instead`},
		{"topic configuration", system.Check{Durability: workload.SyncAsync},
			[]target.Setting{give(setTopicConfigs, "retention.ms")},
			`t.yaml:3:5: setting "topic_configs": "retention.ms" is not name=value: write them with commas between, like retention.ms=60000, segment.bytes=1048576`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := system.Resolve(declared, c.given)
			if err != nil {
				t.Fatal(err)
			}
			c.check.Settings = s
			got := ""
			if err := New().Check(c.check); err != nil {
				got = strings.TrimSpace(err.Error())
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
