package sqs

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestProvisionedServer(t *testing.T) {
	c := server(t)
	systemtest.RunsOnLoopback(t, c, 1, 1)
	systemtest.IsPrivate(t, c.Members()[0].Path(configFile))
}

// The other levels are refused, and nothing is started.
func TestStartEndsWhenToldTo(t *testing.T) {
	server(t) // downloads it if necessary
	_, err := sqsSystem{}.Provision(t.Context(), system.Provision{
		Nodes: 1, DataDir: filepath.Join(t.TempDir(), "data"), LogDir: t.TempDir(),
		Durability: workload.AsyncAsync,
		Settings:   systemtest.Settings(t, sqsSystem{}, setHeap, "100TB"),
	})
	systemtest.Refused(t, time.Now(), err, "ended while it was started")
}
