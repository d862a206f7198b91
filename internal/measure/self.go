package measure

import (
	"math"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
)

// Self reads what this process spends. It has one owner.
type Self struct {
	samples  []metrics.Sample
	allowed  *allowances
	waitedNs int64
	pauses   []uint64 // GC pauses by bucket at the last reading
	cpu      float64
	gcs      int64
}

// Spent is what this process spent since the reading before.
type Spent struct {
	CPUSeconds float64
	RSSBytes   int64
	HeapBytes  int64
	GCPauseNs  int64 // longest, to the precision of the runtime's buckets
	GCCount    int64
	Goroutines int64
	// Allowed has the limits of now, and the throttling since the reading before.
	Allowed Allowance
}

const (
	metricPauses     = "/sched/pauses/total/gc:seconds"
	metricHeap       = "/memory/classes/heap/objects:bytes"
	metricGCs        = "/gc/cycles/total:gc-cycles"
	metricGoroutines = "/sched/goroutines:goroutines"
)

// NewSelf returns a reader whose first Read counts from now.
func NewSelf() *Self {
	s := &Self{samples: []metrics.Sample{{Name: metricPauses}, {Name: metricHeap},
		{Name: metricGCs}, {Name: metricGoroutines}},
		allowed: newAllowances(os.DirFS("/"))}
	s.Read()
	return s
}

// Read returns what was spent since the last Read.
func (s *Self) Read() Spent {
	metrics.Read(s.samples)
	cpu, gcs := cpuSeconds(), int64(s.samples[2].Value.Uint64())
	allowed := s.allowed.read()
	waitedNs := allowed.ThrottledNs
	allowed.ThrottledNs = max(0, waitedNs-s.waitedNs)
	spent := Spent{
		CPUSeconds: cpu - s.cpu,
		RSSBytes:   rssBytes(),
		HeapBytes:  int64(s.samples[1].Value.Uint64()),
		GCPauseNs:  s.longestPause(s.samples[0].Value.Float64Histogram()),
		GCCount:    gcs - s.gcs,
		Goroutines: int64(s.samples[3].Value.Uint64()),
		Allowed:    allowed,
	}
	s.cpu, s.gcs, s.waitedNs = cpu, gcs, waitedNs
	return spent
}

// longestPause is the upper end of the highest bucket that grew.
func (s *Self) longestPause(h *metrics.Float64Histogram) int64 {
	longest := 0.0
	for i, n := range h.Counts {
		if i < len(s.pauses) && n == s.pauses[i] || n == 0 {
			continue
		}
		upper := h.Buckets[i+1]
		if math.IsInf(upper, 1) {
			upper = h.Buckets[i]
		}
		longest = max(longest, upper)
	}
	s.pauses = append(s.pauses[:0], h.Counts...)
	return int64(longest * 1e9)
}

// cpuSeconds is the user and system time of this process since it began.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// rssBytes is the resident memory of this process; 0 where it is unknown.
func rssBytes() int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0
	}
	n, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return n * int64(os.Getpagesize())
}
