package pulsar

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
		{"at most once",
			system.Check{Durability: workload.AsyncAsync, Delivery: workload.AtMostOnce}, nil, ""},
		{"one node", system.Check{Durability: workload.SyncAsync, Nodes: 1}, nil,
			`setting "ensemble": the testbed has 1 bookie, and durability level 2 needs 3 copies of each message (ensemble): add servers, or ask for --durability 3 or 4, for which a single copy suffices`},
		{"one node, one copy", system.Check{Durability: workload.AsyncAsync, Nodes: 1}, nil, ""},
		{"one process", system.Check{Durability: workload.SyncAsync, Nodes: 1},
			[]target.Setting{give(setTopology, standalone)},
			`t.yaml:3:5: setting "topology": cannot be standalone at durability level 2, which waits for a majority of copies: take colocated or tiered, or level 4`},
		{"one process, one copy", system.Check{Durability: workload.AsyncSync, Nodes: 1},
			[]target.Setting{give(setTopology, standalone)}, ""},
		{"server settings on a cluster that runs", system.Check{Durability: workload.SyncAsync},
			[]target.Setting{give(setBookieHeap, "1GB")},
			`t.yaml:3:5: setting "bookie_heap": shapes servers that plimsoll starts, and these run already: remove it, or remove the endpoints`},
		{"all at once", system.Check{Durability: workload.AsyncAsync},
			[]target.Setting{give(setBatchingDelay, "0s"), give(setBatchingSize, "10MB"),
				give(setMaxPending, "0"), give(setEnsemble, "12"), give(setWriteQuorum,
					"15"), give(setNamespace, "a/b"), give(setAdminEndpoints, "broker")},
			`t.yaml:3:5: setting "batching_max_publish_delay": must be from 10us to 1m; to send at once set batching_enabled to false` + "\n" +
				`t.yaml:3:5: setting "batching_max_size": must be from 1KB to 5MB, the most that a broker takes` + "\n" +
				`t.yaml:3:5: setting "max_pending_messages": must be from 1 to 1000000` + "\n" +
				`t.yaml:3:5: setting "namespace": must be letters, digits, - and _, such as plimsoll` + "\n" +
				`t.yaml:3:5: setting "admin_endpoints": "broker" is not host:port: write them with commas between, like broker-1:8080, broker-2:8080` + "\n" +
				`t.yaml:3:5: setting "ensemble": must be from 1 to 9 at durability level 4` + "\n" +
				`t.yaml:3:5: setting "write_quorum": must be from 1 to ensemble, which is 12`},
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
