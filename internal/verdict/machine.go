package verdict

import (
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// NoisyMachine is the code of a warning that what is no part of the run used the
// machine too.
const NoisyMachine = "noisy_machine"

const (
	// fullBound is the share of a machine's CPU from which on whatever runs
	// there waits for a core.
	fullBound = 0.9
	// noiseBound is the share of a machine's CPU time that may be stolen, or
	// idle for want of a disk, before a reader must know.
	noiseBound = 0.05
	// othersBound is the share of a machine's CPU that programs which have no part
	// in the run may use; the kernel's own work is among it.
	othersBound = 0.1
	// toldFaults bounds the faults that one warning lists.
	toldFaults = 3
)

// machine warns of what the machine itself did to the figures.
func machine(all *list, r *result.Run) {
	host := r.Observation.Host
	if busy, ok := hostShare(r, host.CPUSeconds); ok && busy >= fullBound {
		if r.System.SharesHost {
			all.warn("machine_full", "the machine was full (%.0f%% of its CPU busy), with servers and load on it: the figures are of the two together, and say little of what the servers alone could do", busy*100)
		} else {
			all.warn("machine_full",
				"the machine that offered the load was full (%.0f%% of its CPU busy): latencies "+
					"include waiting for its cores", busy*100)
		}
	}
	if used, ok := others(r); ok && used > othersBound {
		all.warn(NoisyMachine,
			"a noisy machine: %.0f%% of its CPU went to what is neither plimsoll nor an observed "+
				"server, so a repetition may come out differently", used*100)
	}
	if stolen, ok := hostShare(r, host.StealSeconds); ok && stolen > noiseBound {
		all.warn(NoisyMachine,
			"a noisy machine: its hypervisor gave %.0f%% of its CPU time to others, so a "+
				"repetition may come out differently", stolen*100)
	}
	if waited, ok := hostShare(r, host.IOWaitSeconds); ok && waited > noiseBound {
		all.warn(NoisyMachine,
			"cores stood idle for a disk in %.0f%% of their time: whatever else used that disk "+
				"is in the figures too", waited*100)
	}
}

// others is the share of the machine's CPU that was used by what has no part in
// the run. It is not known when a server is on the machine that was not
// observed.
func others(r *result.Run) (float64, bool) {
	o := r.Observation
	if len(o.Servers) == 0 && r.System.SharesHost {
		return 0, false
	}
	used := o.Host.CPUSeconds
	seen := 0
	for _, p := range o.Processes {
		used -= p.CPUSeconds
		if slices.Contains(o.Servers, p.Name) {
			seen++
		}
	}
	share, ok := hostShare(r, used)
	return share, ok && seen == len(o.Servers)
}

// faults warns of faults in the measured window.
func faults(all *list, r *result.Run, events []result.Event) {
	from, to, measured := measuredWindow(r)
	var told []string
	count := 0
	for _, e := range events {
		if e.Kind != "fault" || !measured || e.AtNs < from || e.AtNs >= to {
			continue
		}
		if count++; count <= toldFaults {
			told = append(told, "after "+quantity.Duration(e.AtNs-from)+": "+e.Sentence)
		}
	}
	if count == 0 {
		return
	}
	more := ""
	if count > toldFaults {
		more = "; and " + quantity.Count(int64(count-toldFaults)) + " more"
	}
	all.warn("fault", "the measured window holds a fault, and the figures what came of it: %s%s",
		strings.Join(told, "; "), more)
}

// measuredWindow is when the run measured, in ns since it started; without an
// end it lasts.
func measuredWindow(r *result.Run) (from, to int64, ok bool) {
	for _, p := range r.Phases {
		if p.Name == result.PhaseMeasure {
			to = p.EndNs
			if to == 0 {
				to = 1<<63 - 1
			}
			return p.StartNs, to, true
		}
	}
	return 0, 0, false
}
