package chart

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
)

// drawn is a chart with the lines that have values, and the greatest of them.
func (u *usage) drawn(c usageChart) (d *document.Chart, most float64) {
	d = &document.Chart{Small: true, Title: c.title, Note: c.note, Y: document.Axis{Unit: c.unit}}
	if c.top > 0 {
		d.Y.To = &c.top
	}
	var labels []string
	for _, l := range c.lines {
		s := document.Series{Name: l.label, Color: l.color, Dash: l.dash, X: u.at,
			Y: u.values(l.of)}
		if s.Y == nil {
			continue
		}
		if l.color >= document.Colors {
			s.Color, s.Dash = l.color%document.Colors, l.color/document.Colors%document.Dashes
		}
		for _, v := range s.Y {
			if phrase.Finite(v) {
				most = max(most, v)
			}
		}
		labels, d.Series = append(labels, l.label), append(d.Series, s)
	}
	d.Label = c.title + " over time: " + strings.Join(labels, ", ") + "."
	if c.limit > 0 {
		d.Note = strings.TrimSpace(c.note + " Limit of " + c.limitOf + ": " +
			phrase.BytesPerSecond(c.limit) + ".")
	}
	// The limit is drawn only if the values come near enough for both to be seen.
	const near = 0.3
	if c.limit > 0 && most > near*c.limit {
		d.Spans = []document.Span{{Level: true, From: c.limit, Words: "limit",
			Tone: document.Unsure}}
	}
	return d, most
}

const (
	maxMembers = 9 // lines of processes in one chart; one further line sums up the rest
	maxDisks   = 3 // disks in one chart: the busiest ones
)

// resourceLine is the value of a line of a chart over an interval; NaN where it is not known.
type resourceLine func(r result.Resources, seconds float64) float64

// usage is the resource use over time.
type usage struct {
	resources []result.Resources
	at        document.Values // the middle of each, in seconds since the run started
}

func newUsage(s *result.Saved) *usage {
	u := &usage{}
	for _, r := range s.Resources {
		if r.EndNs > r.StartNs {
			u.resources = append(u.resources, r)
			u.at = append(u.at, float64(r.StartNs+r.EndNs)/2e9)
		}
	}
	return u
}

// values are those of a line; nil where none is known, or there is no line.
func (u *usage) values(of resourceLine) document.Values {
	return valuesOf(u.resources, of, func(r result.Resources) int64 { return r.EndNs - r.StartNs })
}

// member is a line of the charts of processes: one process, or the sum of all processes for
// which there is no room.
type member struct {
	label     string
	color     int
	processes []string
}

// members divides the processes of a run into lines: the system's servers first, plimsoll on its
// hosts in one line, and plimsoll itself last.
func members(s *result.Saved) []member {
	o := s.Run.Observation
	order := slices.Clone(o.Servers)
	own := false
	for _, r := range s.Resources {
		for _, p := range r.Processes {
			own = own || p.Name == result.Self
			if p.Name != result.Self && !slices.Contains(order, p.Name) {
				order = append(order, p.Name)
			}
		}
	}
	var hosts []string
	for _, h := range s.Run.System.Hosts {
		hosts = append(hosts, result.HostProcess(h.Name))
	}
	order = slices.DeleteFunc(order, func(name string) bool {
		return name == result.Self || slices.Contains(hosts, name)
	})
	var out []member
	for i, name := range order {
		if i == maxMembers-1 && len(order) > maxMembers {
			rest := order[i:]
			out = append(out, member{fmt.Sprintf("%d others, summed", len(rest)), i, rest})
			break
		}
		out = append(out, member{document.Clean(name), i, []string{name}})
	}
	if len(hosts) > 0 {
		out = append(out, member{"plimsoll on the hosts, summed", len(out), hosts})
	}
	if own {
		label := result.Self
		if figure.Embedded(o) {
			label = "servers and plimsoll, one process"
		}
		out = append(out, member{label, -1, []string{result.Self}})
	}
	return out
}

// value is a figure of a process over an interval, NaN when it is not known.
type value func(p result.ProcessUse, seconds float64) float64

// perSecondOf returns a count, which may be unknown, as a rate.
func perSecondOf(of func(result.ProcessUse) *int64) value {
	return func(p result.ProcessUse, s float64) float64 { return orUnknown(of(p)) / s }
}

func cores(p result.ProcessUse, s float64) float64 { return p.CPUSeconds / s }

// processCharts are the charts of each process's resource use.
var processCharts = []struct {
	title, note string
	unit        document.Unit
	value       value
}{
	{"CPU", "Cores used.", document.Cores, cores},
	{"fsync and fdatasync", "Calls per second.", document.PerSecond, perSecondOf(figure.Syncs)},
	{"Written to disk", "Per second, as the kernel counts it: now or when " +
		"the page cache is written back, and of each changed byte the whole folio. The disks may " +
		"write less.",
		document.BytesRate, perSecondOf(figure.Written)},
	{"Read from disk", "Per second: what was not in the page cache.", document.BytesRate,
		perSecondOf(figure.Read)},
	{"msync", "Calls per second, on mapped files.", document.PerSecond,
		perSecondOf(figure.MapSyncs)},
	{"Network, sent", "TCP bytes per second.", document.BytesRate,
		perSecondOf(func(p result.ProcessUse) *int64 { return p.NetSentBytes })},
	{"Network, received", "TCP bytes per second.", document.BytesRate,
		perSecondOf(func(p result.ProcessUse) *int64 { return p.NetReceivedBytes })},
	{"Memory", "Resident, at the end of each interval.", document.Bytes,
		func(p result.ProcessUse, _ float64) float64 { return float64(p.RSSBytes) }},
}

// compared is a figure of processes that comparisons lay over one another.
type compared struct {
	id, title, note string
	unit            document.Unit
	value           value
	whole           bool // of plimsoll too
}

// comparedUsage are the figures to compare. CPU is that of all processes, because a system that
// lives inside plimsoll has no other; the rest, which plimsoll does none of, is the servers'.
var comparedUsage = []compared{
	{id: "compare-cpu", title: "CPU, servers and plimsoll together", unit: document.Cores,
		note: "Cores used. They are added up because servers inside plimsoll's process have " +
			"no separate CPU time.", value: cores, whole: true},
	{id: "compare-written", title: "Written to disk by the servers", unit: document.BytesRate,
		note: "Bytes per second as the kernel counts them, all nodes together: the disks may " +
			"write less.", value: perSecondOf(figure.Written)},
	{id: "compare-syncs", title: "fsync and fdatasync by the servers", unit: document.PerSecond,
		note: "Calls per second, all nodes together.", value: perSecondOf(figure.Syncs)},
}

// line is the figure of a run; nil without servers.
func (c compared) line(s *result.Saved) resourceLine {
	of := s.Run.Observation.Servers
	if len(of) == 0 {
		return nil
	}
	if c.whole && !figure.Embedded(s.Run.Observation) {
		of = append(slices.Clone(of), result.Self)
	}
	return summed(of, c.value)
}

// summed adds a figure up over processes. A figure that the kernel does not report makes the
// sum unknown; a process that has ended counts as zero.
func summed(processes []string, of value) resourceLine {
	return func(r result.Resources, seconds float64) float64 {
		total, some := 0.0, false
		for _, p := range r.Processes {
			if slices.Contains(processes, p.Name) {
				total, some = total+of(p, seconds), true
			}
		}
		if !some {
			return math.NaN()
		}
		return total
	}
}

// usageChart is a small chart.
type usageChart struct {
	title, note string
	unit        document.Unit
	top         float64 // of the axis; 0: by the values
	limit       float64 // of the machine, as calibrated
	limitOf     string
	lines       []usageLine
}

type usageLine struct {
	of    resourceLine
	label string
	color int // a place among the colours of runs; -1: plimsoll
	dash  int
}

// Usage are the small charts of the resource use of a run's processes and its machine, and
// the names of the figures without a chart: they stayed at zero, or the kernel did not report
// them.
func Usage(s *result.Saved) (out []*document.Chart, flat, unknown []string) {
	u := newUsage(s)
	if len(u.at) == 0 {
		return nil, nil, nil
	}
	spans := slices.DeleteFunc(runSpans(s), func(s document.Span) bool {
		return s.Tone == document.Unsure // too many for a small chart
	})
	var all []usageChart
	processes := members(s)
	for _, c := range processCharts {
		chart := usageChart{title: c.title, note: c.note, unit: c.unit}
		for _, m := range processes {
			chart.lines = append(chart.lines,
				usageLine{of: summed(m.processes, c.value), label: m.label, color: m.color})
		}
		all = append(all, chart)
	}
	for _, c := range append(all, hostCharts(s)...) {
		d, most := u.drawn(c)
		switch {
		case len(d.Series) == 0:
			unknown = append(unknown, c.title)
		case most == 0:
			flat = append(flat, c.title)
		default:
			d.ID, d.X = fmt.Sprintf("usage-%d", len(out)), timeAxis(s)
			d.Spans = append(d.Spans, spans...)
			out = append(out, d)
		}
	}
	return out, flat, unknown
}

// hostCharts are the charts of the whole machine.
func hostCharts(s *result.Saved) []usageChart {
	all := float64(s.Run.Environment.Cores)
	part := func(of func(result.HostUse) float64) resourceLine { // of all cores' time
		return func(r result.Resources, seconds float64) float64 {
			if all <= 0 {
				return math.NaN()
			}
			return of(r.Host) / seconds / all
		}
	}
	loopback := usageChart{title: "Loopback",
		note: "TCP bytes per second within the machine, of the processes above.",
		unit: document.BytesRate,
		lines: []usageLine{{label: "received",
			of: func(r result.Resources, seconds float64) float64 {
				return orUnknown(r.Host.LoopbackBytes) / seconds
			}}}}
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

func pressure(of func(result.HostUse) *float64) resourceLine {
	return func(r result.Resources, _ float64) float64 {
		return orUnknown(of(r.Host))
	}
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
				for _, d := range r.Disks {
					if d.Name == name {
						return of(d, seconds)
					}
				}
				return math.NaN()
			}
		}
		label := document.Clean(name)
		throughput.lines = append(throughput.lines,
			usageLine{line(func(d result.DiskUse, s float64) float64 {
				return float64(d.WriteBytes) / s
			}), label + " written", i, 0},
			usageLine{line(func(d result.DiskUse, s float64) float64 {
				return float64(d.ReadBytes) / s
			}), label + " read", i, 1})
		busy.lines = append(busy.lines, usageLine{line(func(d result.DiskUse, _ float64) float64 {
			return d.Utilization
		}), label, i, 0})
	}
	return throughput, busy
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
	names := slices.SortedFunc(maps.Keys(did),
		func(a, b string) int { return cmp.Or(cmp.Compare(did[b], did[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), maxDisks)]
}
