package observe

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/plimsoll-bench/plimsoll/result"
)

// host reads what the whole machine spends.
type host struct {
	proc  procfs.FS
	block blockdevice.FS
	last  hostReading
}

// hostReading is the machine's counters at a moment.
type hostReading struct {
	ns               int64
	cpu              procfs.CPUStat // seconds
	hasCPU           bool
	pressure         map[string]uint64 // microseconds
	pageCache, dirty int64
	disks            map[string]blockdevice.IOStats
}

// The resources whose pressure the kernel tells.
const (
	pressureCPU    = "cpu"
	pressureIO     = "io"
	pressureMemory = "memory"
)

// read returns what was spent since the last reading.
func (h *host) read(ns int64, said *methods) (result.HostUse, []result.DiskUse) {
	now := h.look(ns, said)
	use, disks := now.use(h.last), now.diskUse(h.last)
	h.last = now
	return use, disks
}

// look reads the counters. What cannot be read is left out.
func (h *host) look(ns int64, said *methods) hostReading {
	r := hostReading{ns: ns, pressure: map[string]uint64{}, disks: map[string]blockdevice.IOStats{}}
	if stat, err := h.proc.Stat(); err == nil {
		r.cpu, r.hasCPU = stat.CPUTotal, true
	} else {
		said.say("The host's CPU time is not known: /proc/stat cannot be read.")
	}
	if memory, err := h.proc.Meminfo(); err == nil {
		r.pageCache, r.dirty = bytesOf(memory.CachedBytes), bytesOf(memory.DirtyBytes)
	}
	for _, of := range []string{pressureCPU, pressureIO, pressureMemory} {
		if p, err := h.proc.PSIStatsForResource(of); err == nil && p.Some != nil {
			r.pressure[of] = p.Some.Total
		} else {
			said.say("Pressure on the host's %s is not told by this kernel; one started with psi=1 may tell it.", of)
		}
	}
	for name, stats := range h.disks() {
		r.disks[name] = stats
	}
	return r
}

// disks returns the counters of whole disks. Their parts would be counted
// twice, and disks in memory are none. A file that serves as a disk (loop) is
// one when it was used.
func (h *host) disks() map[string]blockdevice.IOStats {
	// A directory for each whole disk; their parts are inside.
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

// use is what the host spent between two readings.
func (r hostReading) use(before hostReading) result.HostUse {
	use := result.HostUse{PageCacheBytes: r.pageCache, DirtyBytes: r.dirty}
	if r.hasCPU && before.hasCPU {
		now, then := r.cpu, before.cpu
		// Time given to guests is within user and nice already.
		use.CPUSeconds = hundredths(since(now.User, then.User) + since(now.Nice, then.Nice) + since(now.System, then.System) +
			since(now.IRQ, then.IRQ) + since(now.SoftIRQ, then.SoftIRQ))
		use.IOWaitSeconds = hundredths(since(now.Iowait, then.Iowait))
		use.StealSeconds = hundredths(since(now.Steal, then.Steal))
	}
	share := func(of string) *float64 {
		total, known := r.pressure[of]
		earlier, knownThen := before.pressure[of]
		if !known || !knownThen {
			return nil
		}
		s := shareOf(float64(since(total, earlier))*1e3, r.ns-before.ns)
		return &s
	}
	use.PressureCPU, use.PressureIO, use.PressureMemory = share(pressureCPU), share(pressureIO), share(pressureMemory)
	return use
}

// diskUse is what each disk did between two readings.
func (r hostReading) diskUse(before hostReading) []result.DiskUse {
	var use []result.DiskUse
	for _, name := range slices.Sorted(maps.Keys(r.disks)) {
		// One that was not there before has counted from nothing.
		now, then := r.disks[name], before.disks[name]
		if len(before.disks) == 0 {
			then = now
		}
		use = append(use, result.DiskUse{
			Name:      name,
			ReadBytes: int64(since(now.ReadSectors, then.ReadSectors)) * procfs.SectorSize, WriteBytes: int64(since(now.WriteSectors, then.WriteSectors)) * procfs.SectorSize,
			Reads: int64(since(now.ReadIOs, then.ReadIOs)), Writes: int64(since(now.WriteIOs, then.WriteIOs)),
			Utilization: shareOf(float64(since(now.IOsTotalTicks, then.IOsTotalTicks))*1e6, r.ns-before.ns),
		})
	}
	return use
}

// shareOf is a part of an interval, both in nanoseconds. Counters of the
// kernel and our clock may disagree by a little.
func shareOf(ns float64, of int64) float64 {
	if of <= 0 {
		return 0
	}
	return min(ns/float64(of), 1)
}
