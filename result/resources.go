package result

import (
	"cmp"
	"math"
	"slices"
)

// Resources is a line of resources.jsonl: the resources that the host and each process used
// during about a second. A nil pointer is a figure that the kernel does not provide;
// Observation says why.
type Resources struct {
	StartNs int64     `json:"start_ns"`
	EndNs   int64     `json:"end_ns"`
	Phase   PhaseName `json:"phase"` // at its end
	Host    HostUse   `json:"host"`
	Disks   []DiskUse `json:"disks,omitempty"`
	// Hosts is the use of other machines, which run the servers.
	Hosts     []NamedHostUse `json:"hosts,omitempty"`
	Processes []ProcessUse   `json:"processes"`
	// Gauges are the figures of the system's servers, where it has any, as last read.
	Gauges []Gauge `json:"gauges,omitempty"`
}

// HostUse is the resource use of the whole machine. CPU time is summed over its cores.
type HostUse struct {
	CPUSeconds float64 `json:"cpu_seconds"` // busy: neither idle, waiting for a disk nor stolen
	// ServersCPUSeconds is the busy time of the servers' separate CPUs, whichever program used
	// them; 0: they have none.
	ServersCPUSeconds float64 `json:"servers_cpus_seconds,omitempty"`
	IOWaitSeconds     float64 `json:"iowait_seconds"`
	StealSeconds      float64 `json:"steal_seconds"`
	// Pressure is the share of the interval in which some task waited for the
	// resource, 0 to 1.
	PressureCPU    *float64 `json:"pressure_cpu,omitempty"`
	PressureIO     *float64 `json:"pressure_io,omitempty"`
	PressureMemory *float64 `json:"pressure_memory,omitempty"`
	PageCacheBytes int64    `json:"page_cache_bytes"` // at the end
	// of the page cache, not yet on disk, at the end
	DirtyBytes int64 `json:"dirty_bytes"`
	// LoopbackBytes are the bytes that the observed processes received over TCP from this
	// machine. Each byte counts once.
	LoopbackBytes *int64 `json:"loopback_bytes,omitempty"`
}

// HostProcess names plimsoll's own process on a host.
func HostProcess(host string) string { return "plimsoll host " + host }

// NamedHostUse is the use of a machine of a fleet.
type NamedHostUse struct {
	Name string `json:"name"`
	HostUse
}

// DiskUse is the use of one disk of the host.
type DiskUse struct {
	Name       string `json:"name"`
	ReadBytes  int64  `json:"read_bytes"`
	WriteBytes int64  `json:"write_bytes"`
	Reads      int64  `json:"reads"`
	Writes     int64  `json:"writes"`
	// share of the interval with a request under way, 0 to 1
	Utilization float64 `json:"utilization"`
}

// ProcessUse is the resource use of one process, including its threads.
type ProcessUse struct {
	Name       string  `json:"name"` // plimsoll, or the node's
	PID        int     `json:"pid"`
	CPUSeconds float64 `json:"cpu_seconds"`
	// CompileNs is the part of the CPU time that the process spent on compiling its own hot code.
	// Nil: it has no threads that do so, as native programs have none.
	CompileNs *int64 `json:"compile_ns,omitempty"`
	RSSBytes  int64  `json:"rss_bytes"`
	// ReadBytes and WriteBytes are the bytes that the process caused to be read from disks and
	// written to them, at once or when the page cache is written back.
	ReadBytes  *int64 `json:"read_bytes,omitempty"`
	WriteBytes *int64 `json:"write_bytes,omitempty"`
	// LogBytes are those by which the file of its standard output grew, which is a server's log.
	// Nil: it has no such file, or it could not be seen.
	LogBytes *int64 `json:"log_bytes,omitempty"`
	// Syncs counts fsync and fdatasync calls, MapSyncs msync calls.
	Syncs    *int64 `json:"syncs,omitempty"`
	MapSyncs *int64 `json:"map_syncs,omitempty"`
	// Bytes of its TCP connections.
	NetReceivedBytes *int64 `json:"net_received_bytes,omitempty"`
	NetSentBytes     *int64 `json:"net_sent_bytes,omitempty"`
}

// Self is the name of plimsoll's own process among the observed ones.
const Self = "plimsoll"

// Observation says how the resources were observed, and has their sums over the measured
// window.
type Observation struct {
	// Servers names the system's processes: node names, or Self when the servers live inside
	// plimsoll. Empty: none could be observed.
	Servers []string `json:"servers,omitempty"`
	// Methods has sentences on how each figure was found, or why it is missing.
	Methods []string `json:"methods,omitempty"`

	WindowNs int64 `json:"window_ns"` // observed of the measured window
	// summed; pressures are means, bytes at the end are the greatest
	Host      HostUse        `json:"host"`
	Hosts     []NamedHostUse `json:"hosts,omitempty"` // that run the servers, where they are others
	Disks     []DiskUse      `json:"disks,omitempty"`
	Processes []ProcessUse   `json:"processes,omitempty"` // summed; memory is the greatest
	Gauges    []GaugeUse     `json:"gauges,omitempty"`

	// MsgsPerCoreSecond is the number of acknowledged messages per second of CPU time of the
	// servers. 0: not known.
	MsgsPerCoreSecond float64 `json:"msgs_per_core_second"`
	// WriteAmplification is the number of bytes that the servers of all nodes wrote to disks
	// per byte of acknowledged payload. 0: not known.
	WriteAmplification float64 `json:"write_amplification"`

	// Disk is the kernel's name of the disk with the data of the servers; empty: it is not known.
	Disk   string  `json:"disk,omitempty"`
	Limits *Limits `json:"limits,omitempty"` // of this machine, as calibrated; nil: not calibrated
	Shares []Share `json:"shares,omitempty"` // the greatest first
}

// Limits are the limits of this machine, as `plimsoll calibrate` measured them.
type Limits struct {
	MeasuredAt string `json:"measured_at"` // RFC 3339
	Dir        string `json:"directory"`   // whose file system was written to
	Device     string `json:"device,omitempty"`
	// direct I/O where the file system allows it
	SequentialWriteBytes float64   `json:"sequential_write_bytes_per_s"`
	DirectIO             bool      `json:"direct_io"`
	SyncLatency          []Latency `json:"sync_latency"` // of fdatasync after a 4 KB write
	LoopbackBytes        float64   `json:"loopback_bytes_per_s"`
	LoopbackRoundTrip    []Latency `json:"loopback_round_trip"`
	MemoryCopyBytes      float64   `json:"memory_copy_bytes_per_s"`
	PacerError           []Latency `json:"pacer_error"` // woken after the time asked for
	ClockResolutionNs    int64     `json:"clock_resolution_ns"`
	Cores                int       `json:"cores"`
}

// Share is the share of one of the machine's limits that a run used on average over the
// measured window.
type Share struct {
	Resource string  `json:"resource"` // cpu, servers' cores, disk, loopback
	Used     float64 `json:"used"`     // in Unit
	Limit    float64 `json:"limit"`
	Unit     string  `json:"unit"` // cores, bytes_per_s
	Share    float64 `json:"share"`
}

// The resources that a Share is of, and their units.
const (
	ResourceCPU = "cpu" // of all cores, by everything on the machine
	// ResourceServers is the servers' separate CPUs.
	ResourceServers = "servers' cores"
	// ResourceHost, with the host's name, is the CPU of a machine that only ran servers.
	ResourceHost     = "cpu of host "
	ResourceDisk     = "disk"     // writing to the disk that holds the data
	ResourceLoopback = "loopback" // TCP within the machine, by what was observed

	UnitCores       = "cores"
	UnitBytesPerSec = "bytes_per_s"
)

// Add adds an interval of the measured window.
func (o *Observation) Add(r Resources) {
	length := r.EndNs - r.StartNs
	if length <= 0 {
		return
	}
	before, now := float64(o.WindowNs), float64(length)
	o.Host.add(r.Host, before, now)
	for _, h := range r.Hosts {
		at := slices.IndexFunc(o.Hosts, func(have NamedHostUse) bool { return have.Name == h.Name })
		if at < 0 {
			at, o.Hosts = len(o.Hosts), append(o.Hosts, NamedHostUse{Name: h.Name})
		}
		o.Hosts[at].add(h.HostUse, before, now)
	}
	for i := range o.Disks {
		o.Disks[i].Utilization *= before / (before + now)
	}
	for _, d := range r.Disks {
		at := slices.IndexFunc(o.Disks, func(have DiskUse) bool { return have.Name == d.Name })
		if at < 0 {
			at, o.Disks = len(o.Disks), append(o.Disks, DiskUse{Name: d.Name})
		}
		o.Disks[at].add(d, now/(before+now))
	}
	for _, p := range r.Processes {
		at := slices.IndexFunc(o.Processes,
			func(have ProcessUse) bool { return have.Name == p.Name })
		if at < 0 {
			at, o.Processes = len(o.Processes), append(o.Processes, ProcessUse{Name: p.Name})
		}
		o.Processes[at].add(p)
	}
	o.addGauges(r.Gauges)
	o.WindowNs += length
}

// add adds an interval of now ns to the sum of before ns.
func (h *HostUse) add(n HostUse, before, now float64) {
	h.CPUSeconds += n.CPUSeconds
	h.ServersCPUSeconds += n.ServersCPUSeconds
	h.IOWaitSeconds += n.IOWaitSeconds
	h.StealSeconds += n.StealSeconds
	h.PressureCPU = mean(h.PressureCPU, before, n.PressureCPU, now)
	h.PressureIO = mean(h.PressureIO, before, n.PressureIO, now)
	h.PressureMemory = mean(h.PressureMemory, before, n.PressureMemory, now)
	h.PageCacheBytes = max(h.PageCacheBytes, n.PageCacheBytes)
	h.DirtyBytes = max(h.DirtyBytes, n.DirtyBytes)
	h.LoopbackBytes = total(h.LoopbackBytes, n.LoopbackBytes)
}

func (d *DiskUse) add(n DiskUse, weight float64) {
	d.ReadBytes += n.ReadBytes
	d.WriteBytes += n.WriteBytes
	d.Reads += n.Reads
	d.Writes += n.Writes
	d.Utilization += n.Utilization * weight
}

func (p *ProcessUse) add(n ProcessUse) {
	p.PID = n.PID
	p.CPUSeconds += n.CPUSeconds
	p.CompileNs = total(p.CompileNs, n.CompileNs)
	p.RSSBytes = max(p.RSSBytes, n.RSSBytes)
	p.ReadBytes = total(p.ReadBytes, n.ReadBytes)
	p.WriteBytes = total(p.WriteBytes, n.WriteBytes)
	p.LogBytes = total(p.LogBytes, n.LogBytes)
	p.Syncs = total(p.Syncs, n.Syncs)
	p.MapSyncs = total(p.MapSyncs, n.MapSyncs)
	p.NetReceivedBytes = total(p.NetReceivedBytes, n.NetReceivedBytes)
	p.NetSentBytes = total(p.NetSentBytes, n.NetSentBytes)
}

// total returns the sum of the known values; nil: none is known.
func total(a, b *int64) *int64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a + *b
	return &sum
}

// mean weighs two shares by their time. When one is not known, the result is the other.
func mean(a *float64, aNs float64, b *float64, bNs float64) *float64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	m := (*a*aNs + *b*bNs) / (aNs + bNs)
	return &m
}

// Finish computes the figures that follow from the sums, the load and the number of cores. It
// may be called again.
func (o *Observation) Finish(s Summary, l Load, cores int) {
	o.MsgsPerCoreSecond, o.WriteAmplification, o.Shares = 0, 0, nil
	seconds := float64(o.WindowNs) / 1e9
	if seconds <= 0 {
		return
	}
	// The messages are those answered within the window, because the CPU time is of the window
	// too.
	acked := s.Work() * seconds
	cpu := 0.0
	servers, _ := o.OfServers()
	for _, p := range servers {
		cpu += p.CPUSeconds
	}
	o.MsgsPerCoreSecond = ratio(acked, cpu)
	if written, known := o.Written(); known {
		o.WriteAmplification = ratio(float64(written), acked*s.PayloadBytes(l))
	}
	o.share(ResourceCPU, UnitCores, o.Host.CPUSeconds/seconds, float64(cores))
	if o.Limits == nil {
		return
	}
	if bytes, known := o.diskBytes(); known {
		o.share(ResourceDisk, UnitBytesPerSec, float64(bytes)/seconds,
			o.Limits.SequentialWriteBytes)
	}
	if o.Host.LoopbackBytes != nil {
		o.share(ResourceLoopback, UnitBytesPerSec, float64(*o.Host.LoopbackBytes)/seconds,
			o.Limits.LoopbackBytes)
	}
	slices.SortStableFunc(o.Shares, func(a, b Share) int { return cmp.Compare(b.Share, a.Share) })
}

func (o *Observation) share(resource, unit string, used, limit float64) {
	if limit > 0 {
		o.Shares = append(o.Shares, Share{Resource: resource, Used: used, Limit: limit, Unit: unit,
			Share: ratio(used, limit)})
	}
}

// ratio returns 0, for not known, when the divisor is 0.
func ratio(a, b float64) float64 {
	if r := a / b; b > 0 && !math.IsInf(r, 0) && !math.IsNaN(r) {
		return r
	}
	return 0
}

// OfServers returns what the processes of the servers used, and whether each server is among
// them.
func (o *Observation) OfServers() (servers []ProcessUse, whole bool) {
	for _, p := range o.Processes {
		if slices.Contains(o.Servers, p.Name) {
			servers = append(servers, p)
		}
	}
	return servers, len(servers) > 0 && len(servers) == len(o.Servers)
}

// OwnUse returns what plimsoll's process used to offer the load. Nil: it was not observed, the
// servers live in it, or workers offered the load, whose use of the window is not known.
func (r *Run) OwnUse() *ProcessUse {
	o := &r.Observation
	at := slices.IndexFunc(o.Processes, func(p ProcessUse) bool { return p.Name == Self })
	if at < 0 || slices.Contains(o.Servers, Self) || len(r.Workers) > 0 {
		return nil
	}
	return &o.Processes[at]
}

// Sum adds a figure up over processes. It is not known where it is not known of one of them.
func Sum(all []ProcessUse, of func(ProcessUse) *int64) (sum float64, known bool) {
	for _, p := range all {
		v := of(p)
		if v == nil {
			return 0, false
		}
		sum += float64(*v)
	}
	return sum, true
}

// Written returns the bytes that the servers wrote to disks within the window, of all nodes. It is
// no more than the disks wrote and what still waited for them, if theirs is known: Linux charges a
// process for the whole folio of the page cache that it makes dirty, which may have 256 KB where 8
// KB are written over, as in a log that was filled beforehand.
func (o *Observation) Written() (bytes int64, known bool) {
	servers, whole := o.OfServers()
	sum, known := Sum(servers, func(p ProcessUse) *int64 { return p.WriteBytes })
	bytes, known = int64(sum), known && whole
	if len(o.Hosts) > 0 || !slices.ContainsFunc(o.Disks,
		func(d DiskUse) bool { return d.Name == o.Disk }) {
		return bytes, known
	}
	disks := o.Host.DirtyBytes
	for _, d := range o.Disks {
		disks += d.WriteBytes
	}
	return min(bytes, disks), known
}

// diskBytes returns the bytes written to the calibrated disk within the window, by all
// processes, because they share the disk. When that disk is not known, it returns the bytes
// that the servers caused to be written.
func (o *Observation) diskBytes() (bytes int64, known bool) {
	if o.Limits.Device != "" {
		for _, d := range o.Disks {
			if d.Name == o.Limits.Device {
				return d.WriteBytes, true
			}
		}
	}
	return o.Written()
}
