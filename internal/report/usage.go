package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	maxMembers = 9 // lines of processes in one chart; one further line sums up the rest
	maxDisks   = 3 // disks in one chart: the busiest ones
)

// usage is the resource use over time, and its small charts.
type usage struct {
	timeline
	Charts []usageChart `json:"charts"`
	// Flat and Unknown name the figures without a chart: they stayed at zero, or the kernel did
	// not report them.
	Flat    []string `json:"-"`
	Unknown []string `json:"-"`
}

// usageChart is a small chart.
type usageChart struct {
	Title   string  `json:"title"`
	Note    string  `json:"-"`
	Format  string  `json:"format"`          // how the script prints a value
	Top     float64 `json:"top,omitempty"`   // of the axis; 0: by the values
	Limit   float64 `json:"limit,omitempty"` // of the machine, as calibrated
	LimitOf string  `json:"-"`
	// the lines are processes, whose names are shared by charts
	Members bool        `json:"members"`
	Lines   []usageLine `json:"lines"`
}

type usageLine struct {
	Of    string `json:"of"`
	Label string `json:"label"`
	Color int    `json:"color"` // a place among the colours of runs; -1: plimsoll
	Dash  bool   `json:"dash,omitempty"`
}

// The formats that the page's script knows.
const (
	inCores     = "cores"
	inBytes     = "bytes"
	inBytesPerS = "bytes_per_s"
	inPerS      = "per_s"
	asShare     = "share"
)

// member is a line of the charts of processes: one process, or the sum of all processes for
// which there is no room.
type member struct {
	key, label string
	color      int
	processes  []string
}

// members divides the processes of a run into lines: the system's servers
// first, plimsoll last.
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
	order = slices.DeleteFunc(order, func(name string) bool { return name == result.Self })
	var out []member
	for i, name := range order {
		if i == maxMembers-1 && len(order) > maxMembers {
			rest := order[i:]
			out = append(out, member{"rest", fmt.Sprintf("%d others, summed", len(rest)), i, rest})
			break
		}
		out = append(out, member{fmt.Sprintf("p%d", i), clean(name), i, []string{name}})
	}
	if own {
		label := result.Self
		if embedded(o) {
			label = "servers and plimsoll, one process"
		}
		out = append(out, member{"own", label, -1, []string{result.Self}})
	}
	return out
}

// value is a figure of a process over an interval, NaN when it is not known.
type value func(p result.ProcessUse, seconds float64) float64

// perSecondOf is a count that may be unknown, as a rate.
func perSecondOf(of func(result.ProcessUse) *int64) value {
	return func(p result.ProcessUse, s float64) float64 {
		v := of(p)
		if v == nil {
			return math.NaN()
		}
		return float64(*v) / s
	}
}

// processCharts are the charts of each process's resource use.
var processCharts = []struct {
	key, title, note, format string
	value                    value
}{
	{"cpu", "CPU", "Cores used.", inCores,
		func(p result.ProcessUse, s float64) float64 { return p.CPUSeconds / s }},
	{"syncs", "fsync and fdatasync", "Calls per second.", inPerS, perSecondOf(syncs)},
	{"written", "Written to disk", "Per second, now or when the page cache is written back.",
		inBytesPerS, perSecondOf(written)},
	{"read", "Read from disk", "Per second: what was not in the page cache.", inBytesPerS,
		perSecondOf(read)},
	{"map_syncs", "msync", "Calls per second, on mapped files.", inPerS, perSecondOf(mapSyncs)},
	{"sent", "Network, sent", "TCP bytes per second.", inBytesPerS,
		perSecondOf(func(p result.ProcessUse) *int64 { return p.NetSentBytes })},
	{"received", "Network, received", "TCP bytes per second.", inBytesPerS,
		perSecondOf(func(p result.ProcessUse) *int64 { return p.NetReceivedBytes })},
	{"memory", "Memory", "Resident, at the end of each interval.", inBytes,
		func(p result.ProcessUse, _ float64) float64 { return float64(p.RSSBytes) }},
}

// newUsage is nil when nothing was observed.
func newUsage(s *result.Saved) *usage {
	lines, all := usageLines(s), members(s)
	u := &usage{timeline: timeline{Seconds: points{}, Lines: map[string]points{}},
		Charts: []usageChart{}}
	for _, r := range s.Resources {
		seconds := float64(r.EndNs-r.StartNs) / 1e9
		if seconds <= 0 {
			continue
		}
		u.Seconds = append(u.Seconds, float64(r.StartNs+r.EndNs)/2e9)
		for name, of := range lines {
			u.Lines[name] = append(u.Lines[name], of(r, seconds))
		}
	}
	if len(u.Seconds) == 0 {
		return nil
	}
	for _, c := range processCharts {
		chart := usageChart{Title: c.title, Note: c.note, Format: c.format, Members: true}
		for _, m := range all {
			chart.Lines = append(chart.Lines,
				usageLine{Of: m.key + "." + c.key, Label: m.label, Color: m.color})
		}
		u.add(chart)
	}
	for _, c := range hostCharts(s) {
		u.add(c)
	}
	u.timeline = u.thin(maxGroups)
	u.forget()
	return u
}

// add keeps a chart that has values, or records why there is none.
func (u *usage) add(c usageChart) {
	c.Lines = slices.DeleteFunc(c.Lines, func(l usageLine) bool {
		return !slices.ContainsFunc(u.Lines[l.Of], finite)
	})
	switch {
	case len(c.Lines) == 0:
		u.Unknown = append(u.Unknown, c.Title)
	case !slices.ContainsFunc(c.Lines, func(l usageLine) bool {
		return slices.ContainsFunc(u.Lines[l.Of],
			func(v float64) bool { return finite(v) && v != 0 })
	}):
		u.Flat = append(u.Flat, c.Title)
	default:
		u.Charts = append(u.Charts, c)
	}
}

// forget drops the lines that no chart shows, to keep the page small.
func (u *usage) forget() {
	shown := map[string]bool{}
	for _, name := range comparedUsage {
		shown[name] = true
	}
	for _, c := range u.Charts {
		for _, l := range c.Lines {
			shown[l.Of] = true
		}
	}
	for name, values := range u.Lines {
		if !shown[name] || !slices.ContainsFunc(values, finite) {
			delete(u.Lines, name)
		}
	}
}

// has reports whether there is a line of that name.
func (u *usage) has(line string) bool { return u != nil && u.Lines[line] != nil }

// usageLines are the lines of a run by name, each with the function that takes its value.
func usageLines(s *result.Saved) map[string]func(r result.Resources, seconds float64) float64 {
	out := hostLines(s)
	for _, m := range members(s) {
		for _, c := range processCharts {
			out[m.key+"."+c.key] = func(r result.Resources, seconds float64) float64 {
				return summed(r, m.processes, c.value, seconds)
			}
		}
	}
	// What comparisons lay over one another: all CPU, because a system that lives
	// inside plimsoll has no other, and of the servers alone what plimsoll does
	// none of.
	o := s.Run.Observation
	if len(o.Servers) == 0 {
		return out
	}
	whole := o.Servers
	if !embedded(o) {
		whole = append(slices.Clone(whole), result.Self)
	}
	for _, c := range processCharts {
		of := o.Servers
		if c.key == "cpu" {
			of = whole
		}
		if name := "all." + c.key; slices.Contains(comparedUsage, name) {
			out[name] = func(r result.Resources, seconds float64) float64 {
				return summed(r, of, c.value, seconds)
			}
		}
	}
	return out
}

// comparedUsage are the lines that comparisons overlay.
var comparedUsage = []string{"all.cpu", "all.written", "all.syncs"}

// summed adds a figure up over processes. A figure that the kernel does not report makes the
// sum unknown; a process that has ended counts as zero.
func summed(r result.Resources, processes []string, of value, seconds float64) float64 {
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
