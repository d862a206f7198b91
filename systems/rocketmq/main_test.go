package rocketmq

import (
	"os"
	"sync"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{shared, alone, unsynced}))
}

type testServers = systemtest.Servers[*provisioned]

var smallHeap = []string{setHeap, "192MB", setDirect, "192MB"}

// shared is the cluster of most tests: level 2, encrypted. Its brokers sync too, which shows that
// slaves answer before they do.
var shared = &testServers{System: rocketSystem{}, Level: workload.SyncAsync,
	Settings: append([]string{setSecurity, driver.SecurityTLS, setFlush, syncFlush}, smallHeap...),
	Mounted:  []string{"n1", "namesrv"}}

// alone is a master without slaves at level 3, with a password.
var alone = &testServers{System: rocketSystem{}, Level: workload.AsyncSync, Nodes: 1,
	Settings: smallHeap}

// unsynced is a master without slaves at level 4, without security.
var unsynced = &testServers{System: rocketSystem{}, Level: workload.AsyncAsync, Nodes: 1,
	Settings: append([]string{setSecurity, driver.SecurityNone}, smallHeap...)}

// ahead starts the shared cluster with the first test that needs servers: its slaves register only
// after ten seconds.
var ahead sync.Once

func needServer(t testing.TB) {
	t.Helper()
	systemtest.NeedJava(t)
	ahead.Do(func() { systemtest.Ahead(shared) })
}

// serversOf returns the cluster that gives a level.
func serversOf(level workload.Level) *testServers {
	switch level {
	case workload.AsyncSync:
		return alone
	case workload.AsyncAsync:
		return unsynced
	}
	return shared
}

// optionsOf returns the options for a connection to the cluster that gives a level.
func optionsOf(t testing.TB, level workload.Level, settings ...string) system.Options {
	t.Helper()
	needServer(t)
	return systemtest.OptionsOf(t, rocketSystem{}, serversOf(level).Get(t), level, settings...)
}

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, rocketSystem{}, o)
}

func TestConformance(t *testing.T) {
	needServer(t)
	systemtest.Run(t, systemtest.Harness{
		System: New(),
		Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
			// A broker notices only at the end of a pull that the topic was deleted.
			return optionsOf(t, level, setPollTimeout, "2s"), serversOf(level).Get(t).Nodes()
		},
	})
}
