package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

// hostLines are the lines of the whole machine's resource use.
func hostLines(s *result.Saved) map[string]func(result.Resources, float64) float64 {
	cores := float64(s.Run.Environment.Cores)
	part := func(of func(result.HostUse) float64) func(result.Resources, float64) float64 {
		return func(r result.Resources, seconds float64) float64 {
			if cores <= 0 {
				return math.NaN()
			}
			return of(r.Host) / seconds / cores
		}
	}
	pressure := func(of func(result.HostUse) *float64) func(result.Resources, float64) float64 {
		return func(r result.Resources, _ float64) float64 {
			if v := of(r.Host); v != nil {
				return *v
			}
			return math.NaN()
		}
	}
	out := map[string]func(result.Resources, float64) float64{
		"host.cpu":          part(func(h result.HostUse) float64 { return h.CPUSeconds }),
		"host.iowait":       part(func(h result.HostUse) float64 { return h.IOWaitSeconds }),
		"host.steal":        part(func(h result.HostUse) float64 { return h.StealSeconds }),
		"host.pressure_cpu": pressure(func(h result.HostUse) *float64 { return h.PressureCPU }),
		"host.pressure_io":  pressure(func(h result.HostUse) *float64 { return h.PressureIO }),
		"host.pressure_memory": pressure(
			func(h result.HostUse) *float64 { return h.PressureMemory }),
		"host.cache": func(r result.Resources, _ float64) float64 {
			return float64(r.Host.PageCacheBytes)
		},
		"host.loopback": func(r result.Resources, seconds float64) float64 {
			if r.Host.LoopbackBytes == nil {
				return math.NaN()
			}
			return float64(*r.Host.LoopbackBytes) / seconds
		},
		"host.dirty": func(r result.Resources, _ float64) float64 {
			return float64(r.Host.DirtyBytes)
		},
	}
	for i, name := range disks(s) {
		type perDisk = func(result.DiskUse, float64) float64
		disk := func(value perDisk) func(result.Resources, float64) float64 {
			return func(r result.Resources, seconds float64) float64 {
				at := slices.IndexFunc(r.Disks,
					func(d result.DiskUse) bool { return d.Name == name })
				if at < 0 {
					return math.NaN()
				}
				return value(r.Disks[at], seconds)
			}
		}
		out[fmt.Sprintf("disk%d.written", i)] = disk(
			func(d result.DiskUse, s float64) float64 { return float64(d.WriteBytes) / s })
		out[fmt.Sprintf("disk%d.read", i)] = disk(
			func(d result.DiskUse, s float64) float64 { return float64(d.ReadBytes) / s })
		out[fmt.Sprintf("disk%d.busy", i)] = disk(
			func(d result.DiskUse, _ float64) float64 { return d.Utilization })
	}
	return out
}

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
	var names []string
	for name := range did {
		names = append(names, name)
	}
	slices.SortFunc(names,
		func(a, b string) int { return cmp.Or(cmp.Compare(did[b], did[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), maxDisks)]
}

// hostCharts are the charts of the whole machine.
func hostCharts(s *result.Saved) []usageChart {
	throughput := usageChart{title: "Disks", note: "Bytes per second, of all programs.",
		unit: document.BytesRate}
	busy := usageChart{title: "Disks, busy", note: "Share of the time with a request in progress.",
		unit: document.Share, top: 1}
	loopback := usageChart{title: "Loopback",
		note:  "TCP bytes per second within the machine, of the processes above.",
		unit:  document.BytesRate,
		lines: []usageLine{{of: "host.loopback", label: "received", color: 0}}}
	if l := s.Run.Observation.Limits; l != nil && finite(l.SequentialWriteBytes) &&
		finite(l.LoopbackBytes) {
		throughput.limit, throughput.limitOf = max(l.SequentialWriteBytes, 0), "sequential writes"
		loopback.limit, loopback.limitOf = max(l.LoopbackBytes, 0), "bandwidth"
	}
	for i, name := range disks(s) {
		key, name := fmt.Sprintf("disk%d", i), clean(name)
		throughput.lines = append(throughput.lines,
			usageLine{of: key + ".written", label: name + " written", color: i},
			usageLine{of: key + ".read", label: name + " read", color: i, dash: 1})
		busy.lines = append(busy.lines, usageLine{of: key + ".busy", label: name, color: i})
	}
	return []usageChart{
		{title: "The machine's CPU", note: "Share of all cores.", unit: document.Share, top: 1,
			lines: []usageLine{
				{of: "host.cpu", label: "busy", color: 0},
				{of: "host.iowait", label: "waiting for a disk", color: 1},
				{of: "host.steal", label: "stolen", color: 3},
			}},
		{title: "Pressure", note: "Share of the time in which a task waited.", unit: document.Share,
			top: 1, lines: []usageLine{
				{of: "host.pressure_cpu", label: "for CPU", color: 0},
				{of: "host.pressure_io", label: "for disks", color: 1},
				{of: "host.pressure_memory", label: "for memory", color: 2},
			}},
		loopback, throughput, busy,
		{title: "Page cache", unit: document.Bytes,
			lines: []usageLine{{of: "host.cache", label: "page cache", color: 0}}},
		{title: "Not yet on disk", note: "Dirty pages of the page cache.", unit: document.Bytes,
			lines: []usageLine{{of: "host.dirty", label: "dirty", color: 1}}},
	}
}
