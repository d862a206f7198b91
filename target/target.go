package target

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Target is one system to measure.
type Target struct {
	Name      string   // what reports call it; the system's name unless given
	System    string   // the registered system
	Endpoints []string // a cluster that already runs; empty: plimsoll starts one
	Testbed   Testbed  // how to start one
	Settings  strict.Pairs
	// Credentials says where the secrets are. It never holds them.
	Credentials Credentials
	TLS         TLS
	// Processes are the servers of a running cluster that run on this machine and are to be
	// observed.
	Processes []Process
	Hooks     Hooks
}

// Hooks are shell commands that run on this machine for each node, beside the load: Start when the
// measured window begins, which is asked to end with it, and End after it. They are never sent to
// another machine.
type Hooks struct{ Start, End string }

// Process is a server that runs on this machine.
type Process struct {
	Name string `yaml:"name"`
	PID  int    `yaml:"pid"`
}

// String returns the process as a target's file has it.
func (p Process) String() string {
	return fmt.Sprintf("{name: %s, pid: %d}", strict.Quote(p.Name), p.PID)
}

// Testbed is the size and place of a cluster that plimsoll starts.
type Testbed struct {
	Nodes int
	Dir   string // where the nodes keep their data; empty: beside the runs
}

// Setting is a setting in the system's own words, as it was written. At is the place of the
// value.
type Setting = strict.Pair

// Place is a position in a file, for error messages.
type Place = strict.Place
