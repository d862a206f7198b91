package observe

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/plimsoll-bench/plimsoll/result"
)

// host reads the resources of the whole machine.
type host struct {
	proc  procfs.FS
	block blockdevice.FS
	last  hostReading
	own   []int // CPUs that servers have of their own
	// forked is false when no process of the machine began between the last two readings.
	forked bool
}

// hostReading holds the machine's counters at one moment.
type hostReading struct {
	ns               int64
	cpu              procfs.CPUStat // seconds
	hasCPU           bool
	forks            uint64            // processes and threads that the machine ever began
	own              []procfs.CPUStat  // of the CPUs that servers have of their own
	pressure         map[string]uint64 // microseconds
	pageCache, dirty int64
	disks            map[string]blockdevice.IOStats
}

// The resources with a pressure in the kernel (PSI).
const (
	pressureCPU    = "cpu"
	pressureIO     = "io"
	pressureMemory = "memory"
)

// read returns the use since the last reading.
func (h *host) read(ns int64, notes *methods) (result.HostUse, []result.DiskUse) {
	now := h.look(ns, notes)
	use, disks := now.use(h.last), now.diskUse(h.last)
	h.forked = !now.hasCPU || now.forks != h.last.forks
	h.last = now
	return use, disks
}

// look reads the counters. It leaves out unreadable ones, and notes them.
func (h *host) look(ns int64, notes *methods) hostReading {
	r := hostReading{
		ns: ns, pressure: map[string]uint64{}, disks: map[string]blockdevice.IOStats{},
	}
	if stat, err := h.proc.Stat(); err == nil {
		r.cpu, r.hasCPU, r.forks = stat.CPUTotal, true, stat.ProcessCreated
		for _, cpu := range h.own {
			r.own = append(r.own, stat.CPU[int64(cpu)])
		}
	} else {
		notes.add("The host's CPU time is not known: /proc/stat cannot be read.")
	}
	if memory, err := h.proc.Meminfo(); err == nil {
		r.pageCache, r.dirty = bytesOf(memory.CachedBytes), bytesOf(memory.DirtyBytes)
	}
	for _, resource := range []string{pressureCPU, pressureIO, pressureMemory} {
		if p, err := h.proc.PSIStatsForResource(resource); err == nil && p.Some != nil {
			r.pressure[resource] = p.Some.Total
		} else {
			notes.add("Pressure on the host's %s is not known: this kernel does not report it, "+
				"and may do so when booted with psi=1.", resource)
		}
	}
	for name, stats := range h.disks() {
		r.disks[name] = stats
	}
	return r
}

// disks returns the counters of whole disks. It leaves out partitions, which would count
// twice, disks in memory, and unused loop devices.
func (h *host) disks() map[string]blockdevice.IOStats {
	// The directory has an entry for each whole disk. Partitions are in subdirectories.
	whole, err := h.block.SysBlockDevices()
	if err != nil {
		return nil
	}
	all, err := h.block.ProcDiskstats()
	if err != nil {
		return nil
	}
	disks := map[string]blockdevice.IOStats{}
	for _, d := range all {
		unused := strings.HasPrefix(d.DeviceName, "loop") && d.ReadIOs+d.WriteIOs == 0
		memory := strings.HasPrefix(d.DeviceName, "ram") || strings.HasPrefix(d.DeviceName, "zram")
		if !unused && !memory && slices.Contains(whole, d.DeviceName) {
			disks[d.DeviceName] = d.IOStats
		}
	}
	return disks
}

func bytesOf(n *uint64) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

// busy returns the time between two readings in which a CPU worked, in seconds. The time of
// guests is contained in User and Nice.
func busy(now, then procfs.CPUStat) float64 {
	return hundredths(since(now.User, then.User) +
		since(now.Nice, then.Nice) + since(now.System, then.System) +
		since(now.IRQ, then.IRQ) + since(now.SoftIRQ, then.SoftIRQ))
}

// use returns the host's use between two readings.
func (r hostReading) use(before hostReading) result.HostUse {
	use := result.HostUse{PageCacheBytes: r.pageCache, DirtyBytes: r.dirty}
	if r.hasCPU && before.hasCPU {
		now, then := r.cpu, before.cpu
		use.CPUSeconds = busy(now, then)
		for i := range min(len(r.own), len(before.own)) {
			use.ServersCPUSeconds += busy(r.own[i], before.own[i])
		}
		use.IOWaitSeconds = hundredths(since(now.Iowait, then.Iowait))
		use.StealSeconds = hundredths(since(now.Steal, then.Steal))
	}
	share := func(resource string) *float64 {
		total, known := r.pressure[resource]
		earlier, knownThen := before.pressure[resource]
		if !known || !knownThen {
			return nil
		}
		s := shareOf(float64(since(total, earlier))*1e3, r.ns-before.ns)
		return &s
	}
	use.PressureCPU, use.PressureIO = share(pressureCPU), share(pressureIO)
	use.PressureMemory = share(pressureMemory)
	return use
}

// diskUse returns the use of each disk between two readings, sorted by name.
func (r hostReading) diskUse(before hostReading) []result.DiskUse {
	var use []result.DiskUse
	for _, name := range slices.Sorted(maps.Keys(r.disks)) {
		// A disk that is new since then has counted from 0.
		now, then := r.disks[name], before.disks[name]
		if len(before.disks) == 0 {
			then = now
		}
		busyNs := float64(since(now.IOsTotalTicks, then.IOsTotalTicks)) * 1e6
		use = append(use, result.DiskUse{
			Name:        name,
			ReadBytes:   int64(since(now.ReadSectors, then.ReadSectors)) * procfs.SectorSize,
			WriteBytes:  int64(since(now.WriteSectors, then.WriteSectors)) * procfs.SectorSize,
			Reads:       int64(since(now.ReadIOs, then.ReadIOs)),
			Writes:      int64(since(now.WriteIOs, then.WriteIOs)),
			Utilization: shareOf(busyNs, r.ns-before.ns),
		})
	}
	return use
}

// shareOf returns a part of an interval as a share, both in nanoseconds. It is at most 1,
// because the kernel's counters and our clock may disagree a little.
func shareOf(ns float64, intervalNs int64) float64 {
	if intervalNs <= 0 {
		return 0
	}
	return min(ns/float64(intervalNs), 1)
}
