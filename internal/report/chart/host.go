package chart

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
)

// hostCharts are the charts of the whole machine.
func hostCharts(s *result.Saved) []usageChart {
	part := partOf(s.Run.Environment.Cores)
	loopback := usageChart{title: "Loopback",
		note:  "TCP bytes per second within the machine, of the processes above.",
		unit:  document.BytesRate,
		lines: []usageLine{{of: loopbackRate, label: "received", color: 0}}}
	throughput, busy := diskCharts(s)
	if l := s.Run.Observation.Limits; l != nil && phrase.Finite(l.SequentialWriteBytes) &&
		phrase.Finite(l.LoopbackBytes) {
		throughput.limit, throughput.limitOf = max(l.SequentialWriteBytes, 0), "sequential writes"
		loopback.limit, loopback.limitOf = max(l.LoopbackBytes, 0), "bandwidth"
	}
	cache := func(r result.Resources, _ float64) float64 { return float64(r.Host.PageCacheBytes) }
	dirty := func(r result.Resources, _ float64) float64 { return float64(r.Host.DirtyBytes) }
	return []usageChart{
		{title: "The machine's CPU", note: "Share of all cores.", unit: document.Share, top: 1,
			lines: []usageLine{
				{part(func(h result.HostUse) float64 { return h.CPUSeconds }), "busy", 0, 0},
				{part(func(h result.HostUse) float64 { return h.IOWaitSeconds }),
					"waiting for a disk", 1, 0},
				{part(func(h result.HostUse) float64 { return h.StealSeconds }), "stolen", 3, 0},
			}},
		{title: "Pressure", note: "Share of the time in which a task waited.", unit: document.Share,
			top: 1, lines: []usageLine{
				{pressure(func(h result.HostUse) *float64 { return h.PressureCPU }),
					"for CPU", 0, 0},
				{pressure(func(h result.HostUse) *float64 { return h.PressureIO }),
					"for disks", 1, 0},
				{pressure(func(h result.HostUse) *float64 { return h.PressureMemory }),
					"for memory", 2, 0},
			}},
		loopback, throughput, busy,
		{title: "Page cache", unit: document.Bytes,
			lines: []usageLine{{of: cache, label: "page cache", color: 0}}},
		{title: "Not yet on disk", note: "Dirty pages of the page cache.", unit: document.Bytes,
			lines: []usageLine{{of: dirty, label: "dirty", color: 1}}},
	}
}

// partOf makes lines of the share of all cores' time.
func partOf(cores int) func(of func(result.HostUse) float64) resourceLine {
	return func(of func(result.HostUse) float64) resourceLine {
		return func(r result.Resources, seconds float64) float64 {
			if cores <= 0 {
				return math.NaN()
			}
			return of(r.Host) / seconds / float64(cores)
		}
	}
}

func pressure(of func(result.HostUse) *float64) resourceLine {
	return func(r result.Resources, _ float64) float64 {
		return orUnknown(of(r.Host))
	}
}

func loopbackRate(r result.Resources, seconds float64) float64 {
	return orUnknown(r.Host.LoopbackBytes) / seconds
}

// orUnknown returns a figure; NaN: it is not known.
func orUnknown[N int64 | float64](v *N) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// diskCharts are what the busiest disks did, and how busy they were.
func diskCharts(s *result.Saved) (throughput, busy usageChart) {
	throughput = usageChart{title: "Disks", note: "Bytes per second, of all programs.",
		unit: document.BytesRate}
	busy = usageChart{title: "Disks, busy", note: "Share of the time with a request in progress.",
		unit: document.Share, top: 1}
	for i, name := range disks(s) {
		line := func(of func(d result.DiskUse, seconds float64) float64) resourceLine {
			return func(r result.Resources, seconds float64) float64 {
				at := slices.IndexFunc(r.Disks,
					func(d result.DiskUse) bool { return d.Name == name })
				if at < 0 {
					return math.NaN()
				}
				return of(r.Disks[at], seconds)
			}
		}
		label := document.Clean(name)
		throughput.lines = append(throughput.lines,
			usageLine{of: line(diskWritten), label: label + " written", color: i},
			usageLine{of: line(diskRead), label: label + " read", color: i, dash: 1})
		busy.lines = append(busy.lines, usageLine{of: line(diskBusy), label: label, color: i})
	}
	return throughput, busy
}

func diskWritten(d result.DiskUse, s float64) float64 { return float64(d.WriteBytes) / s }

func diskRead(d result.DiskUse, s float64) float64 { return float64(d.ReadBytes) / s }

func diskBusy(d result.DiskUse, _ float64) float64 { return d.Utilization }

// disks names the busiest disks, without idle ones.
func disks(s *result.Saved) []string {
	did := map[string]int64{}
	for _, r := range s.Resources {
		for _, d := range r.Disks {
			if d.ReadBytes+d.WriteBytes > 0 {
				did[d.Name] += d.ReadBytes + d.WriteBytes
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(did),
		func(a, b string) int { return cmp.Or(cmp.Compare(did[b], did[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), maxDisks)]
}
