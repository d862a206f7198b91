package postgres

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

// shared is the cluster of most tests: default settings.
var shared = &systemtest.Servers[*driver.Cluster]{
	System: postgresSystem{}, Level: workload.SyncAsync, Mounted: []string{"n1", "n2"},
}

// secured is the second cluster: encrypted.
var secured = &systemtest.Servers[*driver.Cluster]{
	System: postgresSystem{}, Level: workload.SyncSync,
	Settings: []string{setSecurity, driver.SecurityTLS},
}

func needServer(t testing.TB) {
	t.Helper()
	systemtest.NeedPackage(t, "postgresql-15", func() error {
		return postgresSystem{}.FindSoftware(system.Settings{})
	})
}

// clusterOf returns a shared cluster. Both give every level; level 1 uses the encrypted cluster.
func clusterOf(t testing.TB, level workload.Level) *driver.Cluster {
	t.Helper()
	needServer(t)
	if level == workload.SyncSync {
		return secured.Get(t)
	}
	return shared.Get(t)
}

// optionsOf returns the options for a connection to the shared cluster of a level.
func optionsOf(t testing.TB, level workload.Level, settings ...string) system.Options {
	t.Helper()
	return systemtest.OptionsOf(t, postgresSystem{}, clusterOf(t, level), level, settings...)
}

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, postgresSystem{}, o)
}

func TestConformance(t *testing.T) {
	needServer(t)
	for _, variant := range [][]string{
		{setShape, shapeQueue}, {setShape, shapeLog},
		{setShape, shapeLog, setWake, "poll", setPoll, "5ms"},
	} {
		t.Run(variant[1]+"_"+variant[len(variant)-1], func(t *testing.T) {
			systemtest.Run(t, systemtest.Harness{
				System: New(),
				Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
					return optionsOf(t, level, variant...), clusterOf(t, level).Nodes()
				},
			})
		})
	}
}
