package activemq

import (
	"os"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{shared, alone, secured, leveled}))
}

type testServers = systemtest.Servers[*driver.Cluster]

// The brokers' configuration decides the level, so each cluster has one level.
var (
	// shared is the cluster of most tests: replicated LevelDB.
	// While other tests keep the machine busy, a broker would miss ZooKeeper's default session
	// timeout.
	shared = &testServers{System: activeSystem{}, Level: workload.AsyncAsync,
		Settings: []string{setZKSession, "10s"},
		Mounted:  []string{"n1", "n2", "zookeeper"}}
	// leveled is another such cluster, whose level levels_test.go changes.
	leveled = &testServers{System: activeSystem{}, Level: workload.AsyncSync,
		Settings: []string{setZKSession, "10s", setHeap, "128MB"}}
	// alone is one broker with KahaDB.
	alone = &testServers{System: activeSystem{}, Level: workload.AsyncAsync,
		Settings: []string{setStore, storeKahaDB}}
	// secured is an encrypted broker with KahaDB that always syncs.
	secured = &testServers{System: activeSystem{}, Level: workload.AsyncSync,
		Settings: []string{setStore, storeKahaDB,
			setSecurity, driver.SecurityTLS, setHeap, "128MB"}}
)

// clusterOf returns a cluster, and starts it if necessary.
func clusterOf(t testing.TB, of *testServers) *driver.Cluster {
	t.Helper()
	systemtest.NeedJava(t)
	return of.Get(t)
}

// optionsOf returns the options for a connection to a cluster at its level.
func optionsOf(t testing.TB, of *testServers, settings ...string) system.Options {
	t.Helper()
	c := clusterOf(t, of)
	if of != shared && of != leveled {
		settings = append([]string{setStore, storeKahaDB}, settings...)
	}
	return systemtest.OptionsOf(t, activeSystem{}, c, of.Level, settings...)
}

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, activeSystem{}, o)
}
