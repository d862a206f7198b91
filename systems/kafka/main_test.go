package kafka

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

// shared is the cluster of all tests that need no special one: three nodes, level 2, default
// settings. The first test starts it and TestMain stops it.
var shared = &systemtest.Servers[*driver.Cluster]{
	System: kafkaSystem{}, Level: workload.SyncAsync, Mounted: []string{"n1", "n2"},
}

// sharedCluster returns the cluster that tests share. Each test uses its own topics. A test that
// pauses servers resumes them.
func sharedCluster(t testing.TB) *driver.Cluster {
	t.Helper()
	systemtest.NeedJava(t)
	return shared.Get(t)
}

// olderVersion is the version in which the second cluster starts.
const olderVersion = "4.1.1"

// secured is the second cluster: encrypted, with SCRAM, small, at level 3, of an older version.
var secured = &systemtest.Servers[*driver.Cluster]{
	System: kafkaSystem{}, Level: workload.AsyncSync,
	Settings: []string{
		setSecurity, saslSSL, setSASL, mechanismSCRAM512, setHeap, "192MB", setGC, gcSerial,
		system.SettingVersion, olderVersion,
	},
}

func securedCluster(t testing.TB) *driver.Cluster {
	t.Helper()
	systemtest.NeedJava(t)
	return secured.Get(t)
}

// optionsOf returns the options for a connection to a test cluster.
func optionsOf(
	t testing.TB, c *driver.Cluster, level workload.Level, settings ...string,
) system.Options {
	t.Helper()
	return systemtest.OptionsOf(t, kafkaSystem{}, c, level, settings...)
}
