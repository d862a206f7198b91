package eventstore

import (
	"os"
	"sync"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// once holds servers that tests share. The first test that needs them starts them.
type once struct {
	nodes   int
	secured bool

	sync.Mutex
	started *servers
}

// Stop ends the servers, if they were started.
func (o *once) Stop() error {
	if o.started == nil {
		return nil
	}
	return o.started.Stop()
}

// get returns the servers.
func (o *once) get(t testing.TB) *servers {
	t.Helper()
	o.Lock()
	defer o.Unlock()
	if o.started == nil {
		o.started = fresh(t, o.nodes, o.secured, false)
	}
	return o.started
}

// fresh starts servers. If own, they end with the test.
func fresh(t testing.TB, nodes int, secured, own bool) *servers {
	t.Helper()
	s, err := startServers(nodes, secured)
	if err != nil {
		t.Fatal(err)
	}
	if own {
		t.Cleanup(func() { _ = s.Stop() }) // it returns nil
	}
	return s
}

var (
	shared3 = &once{nodes: 3}                // level 2
	single  = &once{nodes: 1, secured: true} // level 3
)

func TestMain(m *testing.M) {
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{shared3, single}))
}

// optionsOf returns the options for a connection to servers.
func optionsOf(
	t testing.TB, s *servers, level workload.Level, settings ...string,
) system.Options {
	t.Helper()
	return system.Options{Endpoints: s.endpoints(), Credentials: s.credentials(), TLS: s.tls(),
		Settings: systemtest.Settings(t, New(), settings...), Durability: level}
}

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, New(), o)
}

// The suite runs against simulated servers of the protocol, not against EventStoreDB.
func TestConformance(t *testing.T) {
	systemtest.Run(t, systemtest.Harness{
		System: New(),
		Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
			here := []system.Node{{PID: os.Getpid()}}
			switch level {
			case workload.SyncAsync:
				return optionsOf(t, shared3.get(t), level), here
			case workload.AsyncSync:
				return optionsOf(t, single.get(t), level), here
			}
			s := fresh(t, 1, false, true)
			s.options = map[string]string{noFlush: "True"}
			return optionsOf(t, s, level), here
		},
	})
}
