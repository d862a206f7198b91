package fact

import (
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Fault names a fault, its target and the nodes that it hit.
func Fault(f result.Fault) string {
	out := document.Clean(f.Do)
	if f.Do != string(workload.FaultAddPartitions) { // which has no target
		out += " " + document.Clean(f.Target)
	}
	if nodes := document.Clean(strings.Join(f.Nodes, ", ")); nodes != "" &&
		nodes != document.Clean(f.Target) {
		out += " (" + nodes + ")"
	}
	return out
}

// Window is the start of the measured window, in ns since the run started.
func Window(r *result.Run) int64 {
	from, _, _ := r.Window()
	return from
}
