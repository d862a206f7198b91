package activemq

import (
	"os"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{shared, alone, secured, leveled}))
}

type testServers = systemtest.Servers[*driver.Cluster]

// The brokers' configuration makes a level, so each cluster has one.
var (
	// shared is the cluster of most tests: replicated LevelDB.
	// A machine that is busy with other tests makes a broker miss ZooKeeper's default session.
	shared = &testServers{System: activeSystem{}, Level: workload.AsyncAsync,
		Settings: []string{setZKSession, "10s"},
		Mounted:  []string{"n1", "n2", "zookeeper"}}
	// leveled is another one, whose level levels_test.go changes.
	leveled = &testServers{System: activeSystem{}, Level: workload.AsyncSync,
		Settings: []string{setZKSession, "10s", setHeap, "128MB"}}
	// alone is one broker with KahaDB.
	alone = &testServers{System: activeSystem{}, Level: workload.AsyncAsync,
		Settings: []string{setStore, storeKahaDB}}
	// secured is one too, encrypted, and syncs always.
	secured = &testServers{System: activeSystem{}, Level: workload.AsyncSync,
		Settings: []string{setStore, storeKahaDB,
			setSecurity, driver.SecurityTLS, setHeap, "128MB"}}
)

// needJava skips a test, by name, where the real servers cannot be had.
func needJava(t testing.TB) {
	t.Helper()
	if err := maven.Available(); err != nil {
		t.Skipf("%s needs Java and Maven: %v", t.Name(), err)
	}
}

// clusterOf starts a cluster, where it does not run yet.
func clusterOf(t testing.TB, of *testServers) *driver.Cluster {
	t.Helper()
	needJava(t)
	return of.Get(t)
}

// optionsOf is how to connect to a cluster at its level.
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
