package rabbitmq

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

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
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const (
	// stopLimit is longer than a cluster takes to be killed when it does not
	// end.
	stopLimit = 60 * time.Second
	// installWithin bounds the package's download and installation.
	installWithin = 5 * time.Minute
)

// shared is the one cluster that all tests use which need no special one:
// three nodes, default settings, a Raft log that is synced. It is started by the
// first and stopped by TestMain.
var shared struct {
	once    sync.Once
	dir     string
	cluster *provisionedCluster
	err     error
}

// installing is done once, by root alone: the tests of a machine that is ours
// may install what they need, and the product never does.
var installing sync.Once

// needServer skips a test, by name and loudly, where the real servers cannot be
// had.
func needServer(t testing.TB) {
	t.Helper()
	if _, err := findInstallation(); err != nil {
		installing.Do(install)
	}
	if _, err := findInstallation(); err != nil {
		t.Skipf("%s needs RabbitMQ: %v", t.Name(), err)
	}
}

// install takes the package from the distribution, where that can be done.
func install() {
	if os.Geteuid() != 0 {
		return
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), installWithin)
	defer cancel()
	for _, arguments := range [][]string{{"update", "-q"}, {"install", "-q", "-y", "--no-install-recommends", "rabbitmq-server"}} {
		command := exec.CommandContext(ctx, apt, arguments...)
		command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
		if said, err := command.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "installing RabbitMQ: apt-get %s: %v: %s\n", arguments[0], err, said[max(0, len(said)-300):])
		}
	}
}

// sharedCluster is the cluster that tests share. Topics are a test's own; who
// stops a server or changes one uses provisionWith.
func sharedCluster(t testing.TB) *provisionedCluster {
	t.Helper()
	needServer(t)
	shared.once.Do(func() {
		if shared.dir, shared.err = os.MkdirTemp("", "plimsoll-rabbitmq-"); shared.err == nil {
			began := time.Now()
			shared.cluster, shared.err = provision(shared.dir, nil, workload.SyncSync, 3)
			t.Logf("the shared cluster took %s", time.Since(began).Round(time.Millisecond))
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

func stopShared() error {
	if shared.cluster != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if err := shared.cluster.Stop(ctx); err != nil {
			return err
		}
	}
	if shared.dir == "" {
		return nil
	}
	return os.RemoveAll(shared.dir)
}

// provisionWith is a three-node cluster of the test's own, with settings as
// name and value in turn: provisionWith(t, level, "security", "tls").
func provisionWith(t testing.TB, level workload.Level, settings ...string) *provisionedCluster {
	t.Helper()
	needServer(t)
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
	p, err := rabbitSystem{}.Provision(context.Background(), system.Provision{
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
