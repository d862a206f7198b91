package rabbitmq

import (
	"os"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{shared, secured}))
}

// shared is the cluster of all tests that need no special one: three nodes, default settings, a
// synced Raft log. The first test starts it and TestMain stops it.
var shared = &systemtest.Servers[*driver.Cluster]{
	System: rabbitSystem{}, Level: workload.SyncSync, Mounted: []string{"n1", "n2"},
}

// needServer skips a test where the real servers cannot run, and names the missing software.
func needServer(t testing.TB) {
	t.Helper()
	systemtest.NeedPackage(t, "rabbitmq-server", Installed)
}

// levelsOf returns the levels of the list that the servers here can give a plan.
func levelsOf(t testing.TB, p plan, all ...workload.Level) []workload.Level {
	t.Helper()
	found, err := findInstallation(system.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(l workload.Level) bool {
		p.level = l
		return p.lacking(majorOf(found.server)) != ""
	})
}

// needLevel skips a test of a type of queue at a level that the servers here do not give.
func needLevel(t testing.TB, kind string, level workload.Level) {
	t.Helper()
	if len(levelsOf(t, plan{kind: kind}, level)) == 0 {
		t.Skipf("the servers here do not give level %d with queues of type %s", level, kind)
	}
}

// sharedCluster returns the cluster that tests share. Each test uses its own topics.
func sharedCluster(t testing.TB) *driver.Cluster {
	t.Helper()
	needServer(t)
	return shared.Get(t)
}

// secured is the second cluster: encrypted, at level 2, so that its Raft log is not synced.
var secured = &systemtest.Servers[*driver.Cluster]{
	System: rabbitSystem{}, Level: workload.SyncAsync,
	Settings: []string{setSecurity, driver.SecurityTLS, setQueueType, quorum},
}

func securedCluster(t testing.TB) *driver.Cluster {
	t.Helper()
	needServer(t)
	return secured.Get(t)
}

// optionsOf returns the options for a connection to a test cluster.
func optionsOf(
	t testing.TB, c *driver.Cluster, level workload.Level, settings ...string,
) system.Options {
	t.Helper()
	return systemtest.OptionsOf(t, rabbitSystem{}, c, level, settings...)
}
