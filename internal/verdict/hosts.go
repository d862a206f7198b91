package verdict

import (
	"net"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
)

// hostUse is the use of a machine of a fleet that ran servers, and nothing of the load.
type hostUse struct {
	result.NamedHostUse
	machine string
	cores   int
	servers float64 // CPU seconds of what plimsoll started there
}

// has reports whether a process ran on the machine, for this host or for another one there.
func (h hostUse) has(r *result.Run, process string) bool {
	return slices.ContainsFunc(r.System.Hosts, func(other result.Host) bool {
		return other.Machine == h.machine && !other.SameMachine &&
			(process == result.HostProcess(other.Name) || onHost(r, process, other.Address))
	})
}

// share returns CPU seconds as a share of all that the host had in the window.
func (h hostUse) share(r *result.Run, cpuSeconds float64) (float64, bool) {
	return cpuShare(r, h.cores, cpuSeconds)
}

// hostsOf returns the machines of a run that only ran servers.
func hostsOf(r *result.Run) (all []hostUse) {
	for _, use := range r.Observation.Hosts {
		at := slices.IndexFunc(r.System.Hosts,
			func(h result.Host) bool { return h.Name == use.Name })
		if at < 0 {
			continue
		}
		host := r.System.Hosts[at]
		h := hostUse{NamedHostUse: use, machine: host.Machine, cores: host.Cores}
		for _, p := range r.Observation.Processes {
			if h.has(r, p.Name) {
				h.servers += p.CPUSeconds
			}
		}
		all = append(all, h)
	}
	return all
}

// onHost reports whether a server listens on the address of a host.
func onHost(r *result.Run, server, address string) bool {
	return slices.ContainsFunc(r.System.Nodes, func(n result.Node) bool {
		host, _, err := net.SplitHostPort(n.Address)
		return err == nil && n.Name == server && host == address
	})
}

// machines warns of influences of the hosts on the figures.
func machines(all *list, r *result.Run) {
	for _, h := range hostsOf(r) {
		if busy, ok := h.share(r, h.CPUSeconds); ok && busy >= fullBound {
			all.warn("machine_full", "host %s was full (%.0f%% of its CPU busy)", h.Name, busy*100)
		}
		if used, ok := h.share(r, h.CPUSeconds-h.servers); ok && used > othersBound {
			all.warn(NoisyMachine, "a noisy machine: on host %s, programs other than plimsoll and "+
				"the observed servers used %.0f%% of its CPU, so a repetition may give other "+
				"figures", h.Name, used*100)
		}
		if waited, ok := h.share(r, h.IOWaitSeconds); ok && waited > noiseBound {
			all.warn(codeDiskWait, "the cores of host %s waited for a disk in %.0f%% of their "+
				"time: the figures include the effect of any other program that used that disk",
				h.Name, waited*100)
		}
		if stolen, ok := h.share(r, h.StealSeconds); ok && stolen > noiseBound {
			all.warn(NoisyMachine, "a noisy machine: the hypervisor of host %s gave %.0f%% of its "+
				"CPU time to other machines, so a repetition may give other figures", h.Name,
				stolen*100)
		}
	}
}
