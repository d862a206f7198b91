package artemis

import (
	"os"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{shared, secured, detached, unsynced}))
}

// shared is the cluster of most tests: a pair, at level 2, with the default settings.
var shared = &systemtest.Servers[*driver.Cluster]{
	System: artemisSystem{}, Level: workload.SyncAsync, Settings: smallHeap,
}

// secured is the second cluster: an encrypted mirror at level 1.
var secured = &systemtest.Servers[*driver.Cluster]{
	System: artemisSystem{}, Level: workload.SyncSync,
	Settings: append([]string{setSecurity, driver.SecurityTLS}, smallHeap...),
}

// detached is the third cluster: asynchronous mirrors at level 3, without security.
var detached = &systemtest.Servers[*driver.Cluster]{
	System: artemisSystem{}, Level: workload.AsyncSync,
	Settings: append([]string{setSecurity, driver.SecurityNone}, smallHeap...),
}

// unsynced are servers of level 4, for one test.
var unsynced = &systemtest.Servers[*driver.Cluster]{
	System: artemisSystem{}, Level: workload.AsyncAsync,
	Settings: append([]string{setSecurity, driver.SecurityNone}, smallHeap...),
}

var smallHeap = []string{setHeap, "192MB", setGC, "serial"}

func needServer(t testing.TB) {
	t.Helper()
	systemtest.NeedJava(t)
	systemtest.NeedPackage(t, "libaio1", findAsyncIO)
}

// optionsOf returns the options for a connection to one of the clusters.
func optionsOf(t testing.TB, servers *systemtest.Servers[*driver.Cluster], level workload.Level,
	settings ...string) system.Options {
	t.Helper()
	needServer(t)
	return systemtest.OptionsOf(t, artemisSystem{}, servers.Get(t), level, settings...)
}

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, artemisSystem{}, o)
}

func TestConformance(t *testing.T) {
	needServer(t)
	systemtest.Run(t, systemtest.Harness{
		System: New(),
		Levels: []workload.Level{workload.SyncAsync, workload.AsyncSync},
		Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
			servers := shared
			if level == workload.AsyncSync {
				servers = detached
			}
			return optionsOf(t, servers, level, setPatience, "20s"), servers.Get(t).Nodes()
		},
	})
}
