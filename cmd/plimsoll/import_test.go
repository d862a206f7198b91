package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Every target that is made of a driver file is one that its system takes, at
// the level that goes with it.
func TestSystemsTakeImportedTargets(t *testing.T) {
	files, err := filepath.Glob("../../internal/omb/testdata/drivers/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no driver files", err)
	}
	systems, took := registry(), map[string]int{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := omb.ParseDriver(file, src)
		if err != nil {
			continue // internal/omb holds which are refused, and how
		}
		parsed, err := target.Parse("target.yaml", []byte(d.YAML()))
		if err != nil {
			t.Errorf("%s: the target does not parse: %v\n%s", file, err, d.YAML())
			continue
		}
		s, err := systems.Get(parsed.System)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := system.Resolve(s.Describe().Settings, parsed.Settings)
		if err != nil {
			t.Errorf("%s: the system does not know the settings: %v", file, err)
			continue
		}
		check := system.Check{Settings: settings, Durability: d.Level, Delivery: workload.AtLeastOnce, Nodes: parsed.Testbed.Nodes}
		if err := s.(system.Checker).Check(check); err != nil {
			t.Errorf("%s: the system refuses it at level %d: %v", file, d.Level, err)
		}
		took[parsed.System]++
	}
	for _, name := range []string{"kafka", "nats", "pulsar", "rabbitmq"} {
		if took[name] < 2 {
			t.Errorf("%d driver files became targets of %s", took[name], name)
		}
	}
}
