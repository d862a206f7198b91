package fleet

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
)

// A worker's clients have the aim of the workload, as the coordinator's report says.
func TestWorkerTakesTheAimOfTheClients(t *testing.T) {
	a := Assignment{Workload: "{clients: throughput, load: {rate: 1k/s}}", System: "sim",
		Plan: PlannedRun{Partitions: 4, Share: load.Share{Workers: 1}}}
	_, o, _, err := a.read(system.NewRegistry(sim.New(clock.Timers(), nil)))
	if err != nil || o.Settings.Text("linger") != "20ms" {
		t.Errorf("linger %q: %v", o.Settings.Text("linger"), err)
	}
}
