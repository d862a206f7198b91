package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := errors.Join(shared.Stop(), secured.Stop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// installWithin bounds the package's download and installation.
const installWithin = 5 * time.Minute

// shared is the one cluster that all tests use which need no special one:
// three nodes, default settings, a Raft log that is synced. It is started by the
// first and stopped by TestMain.
var shared = &systemtest.Servers[*driver.Cluster]{
	System: rabbitSystem{}, Level: workload.SyncSync, Mounted: []string{"n1", "n2"},
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
	for _, arguments := range [][]string{{"update", "-q"},
		{"install", "-q", "-y", "--no-install-recommends", "rabbitmq-server"}} {
		command := exec.CommandContext(ctx, apt, arguments...)
		command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
		if said, err := command.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "installing RabbitMQ: apt-get %s: %v: %s\n", arguments[0], err,
				said[max(0, len(said)-300):])
		}
	}
}

// sharedCluster is the cluster that tests share. Topics are a test's own.
func sharedCluster(t testing.TB) *driver.Cluster {
	t.Helper()
	needServer(t)
	return shared.Get(t)
}

// secured is the second cluster: encrypted, at level 2, so that its Raft log is not synced.
var secured = &systemtest.Servers[*driver.Cluster]{
	System: rabbitSystem{}, Level: workload.SyncAsync,
	Settings: []string{setSecurity, securityTLS, setQueueType, quorum},
}

func securedCluster(t testing.TB) *driver.Cluster {
	t.Helper()
	needServer(t)
	return secured.Get(t)
}

// optionsOf is how to connect to a cluster of ours.
func optionsOf(
	t testing.TB, c *driver.Cluster, level workload.Level, settings ...string,
) system.Options {
	t.Helper()
	return systemtest.OptionsOf(t, rabbitSystem{}, c, level, settings...)
}
