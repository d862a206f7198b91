package systemtest

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Checked is what a system must say of a run before anything starts.
type Checked struct {
	Level    workload.Level
	Delivery workload.Delivery
	Nodes    int      // 0: endpoints
	Given    []string // settings, name and value in turn; each is at t.yaml:3:5
	Says     []string // parts of the error
	Exactly  string   // the whole error; empty, and Says too: there is none
}

// Checks compares a system's Check with a table.
func Checks(t *testing.T, s system.System, all []Checked) {
	t.Helper()
	for _, c := range all {
		settings, err := resolve(s, c.Given, target.Place{File: "t.yaml", Line: 3, Column: 5})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(s.Check(system.Check{Settings: settings, Durability: c.Level,
			Delivery: c.Delivery, Nodes: c.Nodes}))
		if want := cmp.Or(c.Exactly, fmt.Sprint(nil)); len(c.Says) == 0 && got != want {
			t.Errorf("%+v\ngot\n%s\nwant\n%s", c, got, want)
		}
		for _, part := range c.Says {
			if !strings.Contains(got, part) {
				t.Errorf("%+v: %s does not say %q", c, got, part)
			}
		}
	}
}
