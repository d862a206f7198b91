package pulsar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	// The library leaves this one behind when a producer ends by itself while it
	// reconnects, to a topic that was deleted meanwhile: closing it then no longer
	// ends its loop, and nothing of ours can.
	left := goleak.IgnoreTopFunction("github.com/apache/pulsar-client-go/pulsar.(*partitionProducer).runEventsLoop.func1")
	if err := goleak.Find(left); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// stopLimit is longer than a cluster takes to be killed when it does not end.
const stopLimit = 60 * time.Second

// kind is one of the clusters that tests share. It is started by the first
// that needs it and stopped by TestMain.
type kind struct {
	level    workload.Level
	settings []string
	once     sync.Once
	dir      string
	cluster  *provisionedCluster
	err      error
}

// Bookies sync or do not, so two clusters are needed for the four levels. The
// second one differs in whatever else a cluster can differ in.
var (
	unsyncedServers = &kind{level: workload.SyncAsync}
	syncedServers   = &kind{level: workload.SyncSync, settings: []string{
		setTopology, tiered, setBrokers, "2", setBookies, "4", setSecurity, tokenTLS, setGC, gcSerial,
		setBrokerHeap, "256MB", setBrokerDirect, "256MB", setBookieHeap, "128MB", setBookieDirect, "192MB",
	}}
)

// needJava skips a test, by name and loudly, where the real servers cannot be
// had.
func needJava(t testing.TB) {
	t.Helper()
	if err := maven.Available(); err != nil {
		t.Skipf("%s needs Java and Maven: %v", t.Name(), err)
	}
}

// sharedCluster is the colocated cluster of three nodes at level 2, with default
// settings. Topics are a test's own; who stops a server or changes one uses
// provisionWith.
func sharedCluster(t testing.TB) *provisionedCluster {
	t.Helper()
	return unsyncedServers.get(t)
}

// syncedCluster is the tiered one, of 2 brokers and 4 bookies that sync, with
// TLS.
func syncedCluster(t testing.TB) *provisionedCluster {
	t.Helper()
	return syncedServers.get(t)
}

// clusterAt is the shared cluster that can give a level.
func clusterAt(t testing.TB, l workload.Level) *provisionedCluster {
	t.Helper()
	if synced(l) {
		return syncedCluster(t)
	}
	return sharedCluster(t)
}

func (k *kind) get(t testing.TB) *provisionedCluster {
	t.Helper()
	needJava(t)
	k.once.Do(func() {
		began := time.Now()
		if k.dir, k.err = os.MkdirTemp("", "plimsoll-pulsar-"); k.err == nil {
			k.cluster, k.err = provision(k.dir, k.settings, k.level, 3)
		}
		t.Logf("a cluster for level %d took %s to start", k.level, time.Since(began).Round(time.Millisecond))
	})
	if k.err != nil {
		t.Fatal(k.err)
	}
	return k.cluster
}

func stopShared() error {
	return errors.Join(unsyncedServers.stop(), syncedServers.stop())
}

func (k *kind) stop() error {
	if k.cluster != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if err := k.cluster.Stop(ctx); err != nil {
			return err
		}
	}
	if k.dir == "" {
		return nil
	}
	return os.RemoveAll(k.dir)
}

// provisionWith is a cluster of the test's own, with settings as name and value
// in turn: provisionWith(t, level, "topology", "standalone").
func provisionWith(t testing.TB, level workload.Level, settings ...string) *provisionedCluster {
	t.Helper()
	needJava(t)
	c, err := provision(t.TempDir(), settings, level, 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

func provision(dir string, settings []string, level workload.Level, nodes int) (*provisionedCluster, error) {
	s, err := settingsOf(settings...)
	if err != nil {
		return nil, err
	}
	p, err := pulsarSystem{}.Provision(context.Background(), system.Provision{
		Nodes: nodes, DataDir: filepath.Join(dir, "data"), LogDir: filepath.Join(dir, "logs"), Durability: level, Settings: s,
	})
	if err != nil {
		return nil, err
	}
	return p.(*provisionedCluster), nil
}

// settingsOf are the defaults with those given, as name and value in turn.
func settingsOf(given ...string) (system.Settings, error) {
	var all []target.Setting
	for i := 0; i+1 < len(given); i += 2 {
		all = append(all, target.Setting{Name: given[i], Value: given[i+1]})
	}
	return system.Resolve(declared(), all)
}

// optionsOf is how to connect to a cluster of ours.
func optionsOf(t testing.TB, c *provisionedCluster, level workload.Level, settings ...string) system.Options {
	t.Helper()
	s, err := settingsOf(settings...)
	if err != nil {
		t.Fatal(err)
	}
	return system.Options{Endpoints: c.Endpoints(), Credentials: c.Credentials(), TLS: c.TLS(), Settings: s, Durability: level}
}
