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

// The other levels cannot be had, and nothing is started.
func TestStartAtAnotherLevel(t *testing.T) {
	err := systemtest.FailedStart(t, sqsSystem{}, time.Second) // level 2, three nodes
	if err == nil {
		t.Fatal("it started")
	}
	t.Log(err)
}

func TestStartEndsWhenToldTo(t *testing.T) {
	server(t) // it is here
	_, err := sqsSystem{}.Provision(t.Context(), system.Provision{
		Nodes: 1, DataDir: filepath.Join(t.TempDir(), "data"), LogDir: t.TempDir(),
		Durability: workload.AsyncAsync,
		Settings:   systemtest.Settings(t, sqsSystem{}, setHeap, "100TB"),
	})
	systemtest.Refused(t, time.Now(), err, "ended while it was started")
}
