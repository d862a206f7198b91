package memory

import (
	"os"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Main(m, nil)) }

func TestConformance(t *testing.T) {
	settings, err := system.Resolve(declared, nil)
	if err != nil {
		t.Fatal(err)
	}
	systemtest.Run(t, systemtest.Harness{
		System: New(),
		Options: func(_ *testing.T, level workload.Level) (system.Options, []system.Node) {
			return system.Options{Settings: settings, Durability: level}, nil
		},
	})
}
