package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	throughput := usageChart{Title: "Disks", Note: "Bytes per second, of all programs.",
		Format: inBytesPerS}
	busy := usageChart{Title: "Disks, busy", Note: "Share of the time with a request in progress.",
		Format: asShare, Top: 1}
	loopback := usageChart{Title: "Loopback",
		Note:   "TCP bytes per second within the machine, of the processes above.",
		Format: inBytesPerS,
		Lines:  []usageLine{{Of: "host.loopback", Label: "received", Color: 0}}}
	if l := s.Run.Observation.Limits; l != nil && finite(l.SequentialWriteBytes) &&
		finite(l.LoopbackBytes) {
		throughput.Limit, throughput.LimitOf = max(l.SequentialWriteBytes, 0), "sequential writes"
		loopback.Limit, loopback.LimitOf = max(l.LoopbackBytes, 0), "bandwidth"
	}
	for i, name := range disks(s) {
		key, name := fmt.Sprintf("disk%d", i), clean(name)
		throughput.Lines = append(throughput.Lines,
			usageLine{Of: key + ".written", Label: name + " written", Color: i},
			usageLine{Of: key + ".read", Label: name + " read", Color: i, Dash: true})
		busy.Lines = append(busy.Lines, usageLine{Of: key + ".busy", Label: name, Color: i})
	}
	return []usageChart{
		{Title: "The machine's CPU", Note: "Share of all cores.", Format: asShare, Top: 1,
			Lines: []usageLine{
				{Of: "host.cpu", Label: "busy", Color: 0},
				{Of: "host.iowait", Label: "waiting for a disk", Color: 1},
				{Of: "host.steal", Label: "stolen", Color: 3},
			}},
		{Title: "Pressure", Note: "Share of the time in which a task waited.", Format: asShare,
			Top: 1, Lines: []usageLine{
				{Of: "host.pressure_cpu", Label: "for CPU", Color: 0},
				{Of: "host.pressure_io", Label: "for disks", Color: 1},
				{Of: "host.pressure_memory", Label: "for memory", Color: 2},
			}},
		loopback, throughput, busy,
		{Title: "Page cache", Format: inBytes,
			Lines: []usageLine{{Of: "host.cache", Label: "page cache", Color: 0}}},
		{Title: "Not yet on disk", Note: "Dirty pages of the page cache.", Format: inBytes,
			Lines: []usageLine{{Of: "host.dirty", Label: "dirty", Color: 1}}},
	}
}
