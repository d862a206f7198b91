package nats

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestConformanceOfProcesses(t *testing.T) {
	systemtest.Run(t, systemtest.Harness{
		System: New(),
		Options: func(t *testing.T, level workload.Level) system.Options {
			return systemtest.OptionsOf(t, New(), provisionProcesses(t, level), level)
		},
	})
}

func provisionProcesses(t *testing.T, level workload.Level) *spawned {
	t.Helper()
	return systemtest.Provision[*spawned](t, New(), level, setServers, valueProcesses)
}
