package mqtt

import (
	"os"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{shared, secured}))
}

type testServers = systemtest.Servers[*driver.Cluster]

// shared is the server of most tests. Its folder exists before the start, as with a mounted file
// system. secured is encrypted, and keeps everything in memory.
var (
	shared = &testServers{System: mqttSystem{}, Level: workload.AsyncAsync, Nodes: 1,
		Settings: []string{setHeap, "256MB"}, Mounted: []string{nodeName}}
	secured = &testServers{System: mqttSystem{}, Level: workload.AsyncAsync, Nodes: 1,
		Settings: []string{setHeap, "128MB", setSecurity, driver.SecurityTLS,
			setPersistence, "in-memory"}}
)

// optionsOf returns the options for a connection to a server.
func optionsOf(t testing.TB, servers *testServers, settings ...string) system.Options {
	t.Helper()
	systemtest.NeedJava(t)
	return systemtest.OptionsOf(t, mqttSystem{}, servers.Get(t), workload.AsyncAsync, settings...)
}

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, mqttSystem{}, o)
}

// The suite runs with QoS 1 and 2.
func TestConformance(t *testing.T) {
	for qos, settings := range map[string][]string{
		"QoS 1": nil, "QoS 2": {setPublishQoS, "2"},
	} {
		t.Run(qos, func(t *testing.T) {
			systemtest.Run(t, systemtest.Harness{
				System: New(), Levels: []workload.Level{workload.AsyncAsync},
				Options: func(t *testing.T, _ workload.Level) (system.Options, []system.Node) {
					o := optionsOf(t, shared, settings...)
					return o, shared.Get(t).Nodes()
				},
			})
		})
	}
}
