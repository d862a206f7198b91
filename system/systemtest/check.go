package systemtest

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Checked is what a system must say of a run before anything starts.
type Checked struct {
	Level    workload.Level
	Delivery workload.Delivery
	Nodes    int      // 0: endpoints
	Given    []string // settings, name and value in turn
	Says     []string // parts of the error; empty: there is none
}

// Checks compares a system's Check with a table.
func Checks(t *testing.T, s system.System, all []Checked) {
	t.Helper()
	for _, c := range all {
		err := s.Check(system.Check{Settings: Settings(t, s, c.Given...), Durability: c.Level,
			Delivery: c.Delivery, Nodes: c.Nodes})
		if len(c.Says) == 0 && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		for _, part := range c.Says {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %v does not say %q", c, err, part)
			}
		}
	}
}
