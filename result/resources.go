package result

// Resources is a line of resources.jsonl: what the host and each process spent
// during about a second. A pointer that is nil is a figure that the kernel does
// not tell; Observation says why.
type Resources struct {
	StartNs   int64        `json:"start_ns"`
	EndNs     int64        `json:"end_ns"`
	Phase     PhaseName    `json:"phase"` // at its end
	Host      HostUse      `json:"host"`
	Disks     []DiskUse    `json:"disks,omitempty"`
	Processes []ProcessUse `json:"processes"`
}

// HostUse is what the whole machine spent. CPU time is summed over its cores.
type HostUse struct {
	CPUSeconds    float64 `json:"cpu_seconds"` // busy: neither idle, waiting for a disk nor stolen
	IOWaitSeconds float64 `json:"iowait_seconds"`
	StealSeconds  float64 `json:"steal_seconds"`
	// Pressure is the share of the interval in which some task waited for the
	// resource, 0 to 1.
	PressureCPU    *float64 `json:"pressure_cpu,omitempty"`
	PressureIO     *float64 `json:"pressure_io,omitempty"`
	PressureMemory *float64 `json:"pressure_memory,omitempty"`
	PageCacheBytes int64    `json:"page_cache_bytes"` // at the end
	DirtyBytes     int64    `json:"dirty_bytes"`      // of the page cache, not yet on disk, at the end
}

// DiskUse is what one disk of the host did.
type DiskUse struct {
	Name        string  `json:"name"`
	ReadBytes   int64   `json:"read_bytes"`
	WriteBytes  int64   `json:"write_bytes"`
	Reads       int64   `json:"reads"`
	Writes      int64   `json:"writes"`
	Utilization float64 `json:"utilization"` // share of the interval with a request under way, 0 to 1
}

// ProcessUse is what one process spent, its threads included.
type ProcessUse struct {
	Name       string  `json:"name"` // plimsoll, or the node's
	PID        int     `json:"pid"`
	CPUSeconds float64 `json:"cpu_seconds"`
	RSSBytes   int64   `json:"rss_bytes"`
	// ReadBytes and WriteBytes are what it caused to be read from disks and to
	// be written to them, now or when the page cache is written back.
	ReadBytes  *int64 `json:"read_bytes,omitempty"`
	WriteBytes *int64 `json:"write_bytes,omitempty"`
	// Syncs counts fsync and fdatasync calls, MapSyncs msync calls.
	Syncs    *int64 `json:"syncs,omitempty"`
	MapSyncs *int64 `json:"map_syncs,omitempty"`
	// Bytes of its TCP connections.
	NetReceivedBytes *int64 `json:"net_received_bytes,omitempty"`
	NetSentBytes     *int64 `json:"net_sent_bytes,omitempty"`
}

// Self is the name of plimsoll's own process among the observed ones.
const Self = "plimsoll"

// Observation is how the resources were observed and what they amount to over
// the measured window.
type Observation struct {
	// Servers says which processes are the system's: node names, or Self when
	// the servers live inside plimsoll. Empty: none could be observed.
	Servers []string `json:"servers,omitempty"`
	// Methods says how a figure was found, or why it is missing, in sentences.
	Methods []string `json:"methods,omitempty"`

	WindowNs  int64        `json:"window_ns"` // observed of the measured window
	Host      HostUse      `json:"host"`      // summed; pressures are means, bytes at the end are the greatest
	Disks     []DiskUse    `json:"disks,omitempty"`
	Processes []ProcessUse `json:"processes,omitempty"` // summed; memory is the greatest

	// MsgsPerCoreSecond is acknowledged messages per second of CPU that the
	// servers spent. 0: not known.
	MsgsPerCoreSecond float64 `json:"msgs_per_core_second"`
	// WriteAmplification is bytes that the servers wrote to disks per byte of
	// payload acknowledged, all nodes together. 0: not known.
	WriteAmplification float64 `json:"write_amplification"`

	Limits *Limits `json:"limits,omitempty"` // of this machine, as calibrated; nil: not calibrated
	Shares []Share `json:"shares,omitempty"` // the greatest first
}

// Limits is what this machine can do at best, as `plimsoll calibrate` found.
type Limits struct {
	MeasuredAt           string    `json:"measured_at"` // RFC 3339
	Dir                  string    `json:"directory"`   // whose file system was written to
	Device               string    `json:"device,omitempty"`
	SequentialWriteBytes float64   `json:"sequential_write_bytes_per_s"` // direct I/O where the file system allows it
	DirectIO             bool      `json:"direct_io"`
	SyncLatency          []Latency `json:"sync_latency"` // of fdatasync after a 4 KB write
	LoopbackBytes        float64   `json:"loopback_bytes_per_s"`
	LoopbackRoundTrip    []Latency `json:"loopback_round_trip"`
	MemoryCopyBytes      float64   `json:"memory_copy_bytes_per_s"`
	PacerError           []Latency `json:"pacer_error"` // woken after the time asked for
	ClockResolutionNs    int64     `json:"clock_resolution_ns"`
	Cores                int       `json:"cores"`
}

// Share is how much of one of the machine's limits a run used on average over
// the measured window.
type Share struct {
	Resource string  `json:"resource"` // cpu, disk, loopback
	Used     float64 `json:"used"`     // in Unit
	Limit    float64 `json:"limit"`
	Unit     string  `json:"unit"` // cores, bytes_per_s
	Share    float64 `json:"share"`
}
