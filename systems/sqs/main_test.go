package sqs

import (
	"os"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{shared}))
}

// shared is the ElasticMQ of all tests. Its folder exists before the start, as with a mounted file
// system.
var shared = &systemtest.Servers[*driver.Cluster]{
	System: sqsSystem{}, Level: workload.AsyncAsync, Settings: []string{setHeap, "512MB"}, Nodes: 1,
	Mounted: []string{nodeName},
}

func server(t testing.TB) *driver.Cluster {
	t.Helper()
	systemtest.NeedJava(t)
	return shared.Get(t)
}

func optionsOf(t testing.TB, settings ...string) system.Options {
	t.Helper()
	return systemtest.OptionsOf(t, sqsSystem{}, server(t), workload.AsyncAsync, settings...)
}

func connect(t testing.TB, settings ...string) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, sqsSystem{}, optionsOf(t, settings...))
}

// The suite runs on FIFO queues, which keep order, and on standard queues, which keep none.
func TestConformance(t *testing.T) {
	for name, settings := range map[string][]string{
		"fifo": {setFIFO, "true"}, "standard": nil,
	} {
		t.Run(name, func(t *testing.T) {
			systemtest.Run(t, systemtest.Harness{
				System: New(), Levels: []workload.Level{workload.AsyncAsync},
				Options: func(t *testing.T, _ workload.Level) (system.Options, []system.Node) {
					return optionsOf(t, settings...), server(t).Nodes()
				},
			})
		})
	}
}
