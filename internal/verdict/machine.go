package verdict

import (
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// NoisyMachine is the code of a warning that programs without a part in the run used the machine.
const NoisyMachine = "noisy_machine"

// codeDiskWait is the code of a warning that the cores waited for a disk, which may be the system's
// own doing.
const codeDiskWait = "disk_wait"

const (
	// fullBound is the share of a machine's CPU in use above which every program there
	// waits for a core.
	fullBound = 0.9
	// noiseBound is the greatest share of a machine's CPU time that may be stolen, or idle
	// while it waits for a disk, without a warning.
	noiseBound = 0.05
	// othersBound is the greatest share of a machine's CPU that programs without a part in
	// the run, and the kernel, may use without a warning.
	othersBound = 0.1
	// leastObservedNs is the shortest window in which shares of CPU time are known. The kernel
	// counts that time in steps of 10 ms for each core and kind of work, so a few steps are a large
	// share of a shorter window.
	leastObservedNs = 1_000_000_000
	// leastLogged and leastLoggedEach are the bytes in the servers' logs, of a window and for each
	// message, from which on they count as a log of messages. A line is longer, but the log of only
	// one server of several may be seen.
	leastLogged     = 1 << 20
	leastLoggedEach = 16
	// mostFaultsListed bounds the faults that one warning lists.
	mostFaultsListed = 3
)

// machine warns of influences of the machine on the figures.
func machine(all *list, r *result.Run) {
	machines(all, r)
	logging(all, r)
	host := r.Observation.Host
	if busy, ok := HostShare(r, host.CPUSeconds); ok && busy >= fullBound {
		if own, _ := r.Environment.OwnCPUs(); own > 0 {
			all.warn("machine_full",
				"the machine was full (%.0f%% of its CPU busy): servers and load had cores of "+
					"their own, and the kernel's work for either may run on both", busy*100)
		} else if r.System.SharesHost {
			all.warn("machine_full",
				"the machine was full (%.0f%% of its CPU busy) with servers and load generator on "+
					"it: the figures describe both together, not what the servers alone could do",
				busy*100)
		} else {
			all.warn("machine_full",
				"the machine that offered the load was full (%.0f%% of its CPU busy): latencies "+
					"include waiting for its cores", busy*100)
		}
	}
	if used, ok := others(r); ok && used > othersBound {
		all.warn(NoisyMachine,
			"a noisy machine: programs other than plimsoll and the observed servers used %.0f%% "+
				"of its CPU, so a repetition may give other figures", used*100)
	}
	if stolen, ok := HostShare(r, host.StealSeconds); ok && stolen > noiseBound {
		all.warn(NoisyMachine,
			"a noisy machine: its hypervisor gave %.0f%% of its CPU time to other machines, so a "+
				"repetition may give other figures", stolen*100)
	}
	if waited, ok := HostShare(r, host.IOWaitSeconds); ok && waited > noiseBound {
		all.warn(codeDiskWait,
			"the cores waited for a disk in %.0f%% of their time: the figures include the effect "+
				"of any other program that used that disk", waited*100)
	}
}

// logging warns of servers that log each message, which costs them a part of their rate.
func logging(all *list, r *result.Run) {
	o, logged := r.Observation, int64(0)
	servers, _ := o.OfServers()
	for _, p := range servers {
		if p.LogBytes != nil {
			logged += *p.LogBytes
		}
	}
	messages := r.Summary.Work() * float64(o.WindowNs) / 1e9
	each := float64(logged) / messages
	if messages > 0 && logged >= leastLogged && each >= leastLoggedEach {
		all.warn(codeLogging, "the servers logged %s for each message, %s in all: with a "+
			"quieter log they may be faster", quantity.Bytes(int64(each)), quantity.Bytes(logged))
	}
}

// others returns the share of the machine's CPU that programs without a part in the run used. It
// is unknown if the machine has a server that was not observed.
func others(r *result.Run) (float64, bool) {
	o := r.Observation
	if len(o.Servers) == 0 && r.System.SharesHost {
		return 0, false
	}
	used := o.Host.CPUSeconds
	seen := 0
	hosts := hostsOf(r)
	for _, p := range o.Processes {
		if !slices.ContainsFunc(hosts, func(h hostUse) bool { return h.has(r, p.Name) }) {
			used -= p.CPUSeconds
		}
		if slices.Contains(o.Servers, p.Name) {
			seen++
		}
	}
	share, ok := HostShare(r, used)
	return share, ok && seen == len(o.Servers)
}

// faults warns of faults in the measured window, and of those that were left out.
func faults(all *list, r *result.Run, events []result.Event) {
	from, to, measured := r.Window()
	var listed, leftOut []string
	count := 0
	for _, e := range events {
		if e.Kind == result.EventLeftOut {
			leftOut = append(leftOut, e.Sentence)
		}
		if e.Kind != "fault" || !measured || e.AtNs < from || e.AtNs >= to {
			continue
		}
		if count++; count <= mostFaultsListed {
			listed = append(listed, "after "+quantity.Duration(e.AtNs-from)+": "+e.Sentence)
		}
	}
	andMore := func(n int) string {
		if n <= 0 {
			return ""
		}
		return "; and " + quantity.Count(int64(n)) + " more"
	}
	if len(leftOut) > 0 {
		all.warn(codeLeftOut, "%s%s", leftOut[0], andMore(len(leftOut)-1))
	}
	if count == 0 {
		return
	}
	all.warn("fault", "the measured window contains a fault, and the figures its effect: %s%s",
		strings.Join(listed, "; "), andMore(count-mostFaultsListed))
}
