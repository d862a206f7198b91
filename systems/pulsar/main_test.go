package pulsar

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	// The library leaves this goroutine behind when a producer ends while it reconnects to a
	// deleted topic. Closing the producer does not end it.
	left := goleak.IgnoreTopFunction(
		"github.com/apache/pulsar-client-go/pulsar.(*partitionProducer).runEventsLoop.func1")
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{unsyncedServers, syncedServers}, left))
}

// A bookie syncs always or never, so the four levels need two clusters. The second also differs in
// every other respect.
var (
	unsyncedServers = &systemtest.Servers[*driver.Cluster]{
		System: pulsarSystem{}, Level: workload.SyncAsync,
		Mounted: []string{"zookeeper", "bookie-1", "broker-1"},
	}
	syncedServers = &systemtest.Servers[*driver.Cluster]{
		System: pulsarSystem{}, Level: workload.SyncSync,
		Settings: []string{
			setTopology, tiered, setBrokers, "2", setBookies, "4",
			setSecurity, tokenTLS, setGC, "serial",
			setBrokerHeap, "256MB", setBrokerDirect, "256MB",
			setBookieHeap, "128MB", setBookieDirect, "192MB",
		},
	}
)

// sharedCluster is the colocated cluster of three nodes at level 2, with default
// settings. Each test uses its own topics. A test that stops or changes a server uses
// provisionWith.
func sharedCluster(t testing.TB) *driver.Cluster {
	t.Helper()
	systemtest.NeedJava(t)
	return unsyncedServers.Get(t)
}

// syncedCluster is the tiered one, of 2 brokers and 4 bookies that sync, with
// TLS.
func syncedCluster(t testing.TB) *driver.Cluster {
	t.Helper()
	systemtest.NeedJava(t)
	return syncedServers.Get(t)
}

// clusterAt returns the shared cluster that can give a level.
func clusterAt(t testing.TB, l workload.Level) *driver.Cluster {
	t.Helper()
	if l.Synced() {
		return syncedCluster(t)
	}
	return sharedCluster(t)
}

// ofKind returns the servers whose names have a prefix.
func ofKind(c *driver.Cluster, prefix string) []*driver.Node {
	other := func(n *driver.Node) bool { return !strings.HasPrefix(n.Name, prefix) }
	return slices.DeleteFunc(c.Members(), other)
}

// provisionWith returns a cluster for one test, with alternating names and values of settings.
func provisionWith(t testing.TB, level workload.Level, settings ...string) *driver.Cluster {
	t.Helper()
	systemtest.NeedJava(t)
	return systemtest.Provision[*driver.Cluster](t, pulsarSystem{}, level, settings...)
}

// optionsOf returns the options for a connection to a test cluster.
func optionsOf(
	t testing.TB, c *driver.Cluster, level workload.Level, settings ...string,
) system.Options {
	t.Helper()
	return systemtest.OptionsOf(t, pulsarSystem{}, c, level, settings...)
}
