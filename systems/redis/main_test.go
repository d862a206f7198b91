package redis

import (
	"os"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	New() // silences the library
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{shared, secured}))
}

// shared is the cluster of most tests: level 2, default settings.
var shared = &systemtest.Servers[*driver.Cluster]{
	System: redisSystem{}, Level: workload.SyncAsync, Mounted: []string{"n1", "n2"},
}

// secured is the second cluster: encrypted, at level 1, so that its servers sync always.
var secured = &systemtest.Servers[*driver.Cluster]{
	System: redisSystem{}, Level: workload.SyncSync,
	Settings: []string{setSecurity, driver.SecurityTLS},
}

func needServer(t testing.TB) {
	t.Helper()
	systemtest.NeedPackage(t, "redis-server", func() error {
		return redisSystem{}.FindSoftware(system.Settings{})
	})
}

// clusterOf returns the shared cluster that gives a level.
func clusterOf(t testing.TB, level workload.Level) *driver.Cluster {
	t.Helper()
	needServer(t)
	if level.Synced() {
		return secured.Get(t)
	}
	return shared.Get(t)
}

// optionsOf returns the options for a connection to the shared cluster that gives a level.
func optionsOf(t testing.TB, level workload.Level, settings ...string) system.Options {
	t.Helper()
	return systemtest.OptionsOf(t, redisSystem{}, clusterOf(t, level), level, settings...)
}

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, redisSystem{}, o)
}

func TestConformance(t *testing.T) {
	t.Parallel() // with TestLiesAreFound: both wait most of the time
	needServer(t)
	systemtest.Run(t, systemtest.Harness{
		System: New(),
		Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
			return optionsOf(t, level), clusterOf(t, level).Nodes()
		},
	})
}
