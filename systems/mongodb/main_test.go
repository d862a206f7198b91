package mongodb

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

// shared is the server of most tests: mongo-java-server, which has level 4 only.
var shared = &systemtest.Servers[*driver.Cluster]{
	System: mongoSystem{}, Level: workload.AsyncAsync,
	Settings: []string{setServer, serverJava}, Mounted: []string{"n1"},
}

// secured is encrypted.
var secured = &systemtest.Servers[*driver.Cluster]{
	System: mongoSystem{}, Level: workload.AsyncAsync,
	Settings: []string{setServer, serverJava, setSecurity, driver.SecurityTLS},
}

func needServer(t testing.TB) {
	t.Helper()
	systemtest.NeedJava(t)
}

func clusterOf(t testing.TB) *driver.Cluster {
	t.Helper()
	needServer(t)
	return shared.Get(t)
}

func optionsOf(t testing.TB, settings ...string) system.Options {
	t.Helper()
	return systemtest.OptionsOf(t, mongoSystem{}, clusterOf(t), workload.AsyncAsync, settings...)
}

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, mongoSystem{}, o)
}

// The suite runs against mongo-java-server. It refuses levels 1 to 3, which the suite checks too.
// The server reads its whole store for each message.
func TestConformance(t *testing.T) {
	needServer(t)
	systemtest.Run(t, systemtest.Harness{
		System: New(), Levels: []workload.Level{workload.AsyncAsync}, Messages: 1100,
		Options: func(t *testing.T, _ workload.Level) (system.Options, []system.Node) {
			return optionsOf(t), clusterOf(t).Nodes()
		},
	})
}
