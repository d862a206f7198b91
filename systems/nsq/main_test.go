package nsq

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == NodeCommand {
		if err := serveNode(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(systemtest.Main(m, []interface{ Stop() error }{shared, secured}))
}

// serveNode does what the plimsoll program does for NodeCommand.
func serveNode() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return nsqSystem{}.ServeNode(ctx, os.Stdin, os.Stdout)
}

// shared is the cluster of most tests. secured is encrypted.
var (
	shared  = &systemtest.Servers[*driver.Cluster]{System: nsqSystem{}, Level: workload.AsyncAsync}
	secured = &systemtest.Servers[*driver.Cluster]{
		System: nsqSystem{}, Level: workload.AsyncAsync,
		Settings: []string{setSecurity, driver.SecurityTLS},
	}
)

// optionsOf returns the options for a connection to a cluster. Messages of the dead come again soon.
func optionsOf(t testing.TB, servers *systemtest.Servers[*driver.Cluster]) system.Options {
	t.Helper()
	return systemtest.OptionsOf(t, nsqSystem{}, servers.Get(t), workload.AsyncAsync,
		setMsgTimeout, "3s")
}

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, nsqSystem{}, o)
}

func TestConformance(t *testing.T) {
	systemtest.Run(t, systemtest.Harness{
		System: New(), Levels: []workload.Level{workload.AsyncAsync},
		Options: func(t *testing.T, _ workload.Level) (system.Options, []system.Node) {
			return optionsOf(t, shared), shared.Get(t).Nodes()
		},
	})
}

// Messages go and come over TLS, and a server without it is named.
func TestEncrypted(t *testing.T) {
	systemtest.SendAndReceive(t, connect(t, optionsOf(t, secured)), "encrypted")
	plain := optionsOf(t, shared)
	plain.TLS = secured.Get(t).TLS()
	began, err := systemtest.TryConnect(t, nsqSystem{}, plain)
	systemtest.Refused(t, began, err, "offers no TLS")
}
