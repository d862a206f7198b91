package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// nearLimit is the share of its limit at which a resource is named as the limiting one: a
// mean of 80% over a whole window leaves little room for the busier half of the window.
const nearLimit = 0.8

// Limit is the resource that was closest to its limit in a run.
type Limit struct {
	// Resource is generator, cpu, servers' cores, disk, loopback, NoneSeen or NotKnown.
	Resource string
	Share    float64 // of its limit; 0 for the generator and where no limit is known
	Sentence string
}

// The values of Limit.Resource that name no resource.
const (
	NoneSeen = "none seen"
	NotKnown = "not known"
)

// Limiting names the resource that was near its limit over the measured
// window, by this rule:
//
//   - the generator, when its verdict is broken: such a run does not show what
//     the system could have carried;
//   - else the resource with the greatest share of its limit in use, when that
//     share is 80% or more;
//   - else NoneSeen, when the machine that the servers ran on was observed;
//   - else NotKnown.
//
// A share is a mean over the window: a resource that was short for moments only
// is not found. Nor is anything found whose limit is unknown: a lock, one busy
// thread, the time that an fsync takes. A resource near its limit is not proved
// to be the cause. NoneSeen does not prove that there was no limit.
func Limiting(r *result.Run) Limit {
	return limiting(r, generator(r))
}

// LimitingRate is like Limiting, for figures that plimsoll's error in latencies does not change,
// and for a latency of which this error is a known part (OwnErrorAt): the generator is named only
// when plimsoll lacked CPU time or, in a closed loop, used too much of the time between two sends.
func LimitingRate(r *result.Run) Limit {
	v, is := starved(r)
	if !is && r.Load.Closed != nil {
		v = turnAround(r)
		i, publish := r.Summary.Instrument, r.Summary.Series(result.Publish)
		if i != nil && i.Publish.MeanNs > turnAroundBound*publish.MeanNs {
			v = generator(r)
		}
	}
	return limiting(r, v)
}

func limiting(r *result.Run, generator result.Verdict) Limit {
	if generator.Outcome == result.Broken {
		return Limit{Resource: Generator, Sentence: generator.Sentence}
	}
	o, shares := r.Observation, Shares(r)
	greatest := result.Share{}
	if len(shares) > 0 {
		greatest = shares[0]
	}
	most := greatest.Resource + ", " + shareOf(greatest)
	away := len(o.Servers) == 0 && !r.System.SharesHost
	switch {
	case greatest.Share >= nearLimit:
		l := Limit{Resource: greatest.Resource, Share: greatest.Share, Sentence: shareOf(greatest) +
			" was used"}
		if away {
			l.Sentence += ", on the machine that offered the load; the servers' machines were " +
				"not observed"
		}
		return l
	case len(shares) == 0:
		return Limit{Resource: NotKnown, Sentence: unobserved(r)}
	case away:
		return Limit{Resource: NotKnown,
			Sentence: "the servers' machines were not observed; on plimsoll's machine the most " +
				"used resource was " + most}
	case greatest.Share <= 0:
		return Limit{Resource: NoneSeen, Sentence: "no resource with a known limit was used"}
	}
	return Limit{Resource: NoneSeen, Share: greatest.Share,
		Sentence: fmt.Sprintf("no resource reached %.0f%% of its limit; the most used one was %s",
			nearLimit*100, most)}
}

// unobserved says why nothing is known of the resources that a run used.
func unobserved(r *result.Run) string {
	if os := elsewhere(r); os != "" {
		return "CPU, memory, disks, syncs and network are measured on Linux only, and plimsoll " +
			"ran on " + os
	}
	return "the resources that the run used were not observed"
}

// elsewhere returns the operating system if it is one on which plimsoll measures no resources; "":
// it is Linux, or unknown.
func elsewhere(r *result.Run) string {
	if os, _, _ := strings.Cut(r.Environment.OS, "/"); os != "linux" {
		return os
	}
	return ""
}

// Shares returns the shares of the machine's limits that a run used, the greatest first. The share
// of the CPU needs no calibration. Values that are not finite are left out, and so are shares of
// CPU time that HostShare does not know.
func Shares(r *result.Run) []result.Share {
	if elsewhere(r) != "" {
		return nil
	}
	o := r.Observation
	var out []result.Share
	_, timed := HostShare(r, o.Host.CPUSeconds)
	own, cpu := serverShare(r)
	if cpu {
		out = append(out, own)
	}
	for _, s := range o.Shares {
		if s.Resource == result.ResourceCPU && (cpu || !timed) {
			continue
		}
		if finite(s.Used, s.Limit, s.Share) {
			out = append(out, s)
			cpu = cpu || s.Resource == result.ResourceCPU
		}
	}
	cores, seconds := float64(r.Environment.Cores), float64(o.WindowNs)/1e9
	if used := o.Host.CPUSeconds / max(seconds, 1e-9); !cpu && timed {
		out = append(out, result.Share{Resource: result.ResourceCPU, Used: used, Limit: cores,
			Unit: result.UnitCores, Share: used / cores})
	}
	for _, h := range hostsOf(r) {
		if share, ok := h.share(r, h.CPUSeconds); ok {
			out = append(out, result.Share{Resource: result.ResourceHost + h.Name,
				Used: h.CPUSeconds / seconds, Limit: float64(h.cores), Unit: result.UnitCores,
				Share: share})
		}
	}
	slices.SortStableFunc(out, func(a, b result.Share) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

// serverShare returns the busy share of the servers' separate CPUs, whichever program used them;
// false: the servers had none.
func serverShare(r *result.Run) (result.Share, bool) {
	cpus, _ := r.Environment.OwnCPUs()
	used := r.Observation.Host.ServersCPUSeconds / (float64(r.Observation.WindowNs) / 1e9)
	if _, timed := HostShare(r, r.Observation.Host.ServersCPUSeconds); cpus == 0 || !timed {
		return result.Share{}, false
	}
	return result.Share{Resource: result.ResourceServers, Used: used, Limit: float64(cpus),
		Unit: result.UnitCores, Share: used / float64(cpus)}, true
}

func finite(values ...float64) bool {
	return !slices.ContainsFunc(values,
		func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// shareOf prints a share of a limit: 71% of its sequential limit (312MB/s of
// 440MB/s).
func shareOf(s result.Share) string {
	limit := "its limit"
	switch s.Resource {
	case result.ResourceCPU:
		limit = "all cores"
	case result.ResourceServers:
		limit = "the servers' own cores"
	case result.ResourceDisk:
		limit = "its sequential limit"
	}
	return fmt.Sprintf("%.0f%% of %s (%s)", s.Share*100, limit, UsedOf(s))
}

// UsedOf prints the use of a resource beside its limit: 312MB/s of 440MB/s, 4.9 of 8 cores.
func UsedOf(s result.Share) string {
	if s.Unit == result.UnitBytesPerSec && s.Used >= 0 && max(s.Used, s.Limit) < 1<<62 {
		return quantity.Bytes(int64(s.Used)) + "/s of " + quantity.Bytes(int64(s.Limit)) + "/s"
	}
	return fmt.Sprintf("%.3g of %.3g %s", s.Used, s.Limit, s.Unit)
}

// mostOfMachine is the greatest share of a machine's CPU time that may be true. It exceeds the
// whole by what the kernel's steps and two clocks may add. More is an error of the counters: those
// of stolen and waiting time may leap on virtual machines.
const mostOfMachine = 1.1

// HostShare returns cpuSeconds as a share of all the machine's CPU time in the observed window;
// false when too little was observed, when it is more than there was, where the operating system
// tells nothing, or on virtual time.
func HostShare(r *result.Run, cpuSeconds float64) (float64, bool) {
	return cpuShare(r, r.Environment.Cores, cpuSeconds)
}

// cpuShare is HostShare of a machine with a number of cores.
func cpuShare(r *result.Run, cores int, cpuSeconds float64) (float64, bool) {
	window := r.Observation.WindowNs
	whole := float64(window) / 1e9 * float64(cores)
	if whole <= 0 || window < leastObservedNs || elsewhere(r) != "" ||
		r.Environment.Clock == clock.VirtualName {
		return 0, false
	}
	share := cpuSeconds / whole
	return share, finite(cpuSeconds) && share <= mostOfMachine
}
