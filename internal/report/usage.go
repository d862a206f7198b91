package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	maxMembers = 9 // lines of processes in one chart; one further line sums up the rest
	maxDisks   = 3 // disks in one chart: the busiest ones
)

// usage is the resource use over time. Its lines are computed when they are asked for, because a
// run has many.
type usage struct {
	lines     map[string]func(r result.Resources, seconds float64) float64
	resources []result.Resources
	at        document.Values // the middle of each, in seconds since the run started
}

func newUsage(s *result.Saved) *usage {
	u := &usage{lines: usageLines(s)}
	for _, r := range s.Resources {
		if r.EndNs > r.StartNs {
			u.resources = append(u.resources, r)
			u.at = append(u.at, float64(r.StartNs+r.EndNs)/2e9)
		}
	}
	return u
}

// values are the values of a line; nil if none is known.
func (u *usage) values(line string) document.Values {
	of := u.lines[line]
	if of == nil {
		return nil
	}
	out := make(document.Values, len(u.resources))
	for i, r := range u.resources {
		out[i] = of(r, float64(r.EndNs-r.StartNs)/1e9)
	}
	if !slices.ContainsFunc(out, finite) {
		return nil
	}
	return out
}

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

// perSecondOf returns a count, which may be unknown, as a rate.
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
	key, title, note string
	unit             document.Unit
	value            value
}{
	{"cpu", "CPU", "Cores used.", document.Cores,
		func(p result.ProcessUse, s float64) float64 { return p.CPUSeconds / s }},
	{"syncs", "fsync and fdatasync", "Calls per second.", document.PerSecond, perSecondOf(syncs)},
	{"written", "Written to disk", "Per second, now or when the page cache is written back.",
		document.BytesRate, perSecondOf(written)},
	{"read", "Read from disk", "Per second: what was not in the page cache.", document.BytesRate,
		perSecondOf(read)},
	{"map_syncs", "msync", "Calls per second, on mapped files.", document.PerSecond,
		perSecondOf(mapSyncs)},
	{"sent", "Network, sent", "TCP bytes per second.", document.BytesRate,
		perSecondOf(func(p result.ProcessUse) *int64 { return p.NetSentBytes })},
	{"received", "Network, received", "TCP bytes per second.", document.BytesRate,
		perSecondOf(func(p result.ProcessUse) *int64 { return p.NetReceivedBytes })},
	{"memory", "Memory", "Resident, at the end of each interval.", document.Bytes,
		func(p result.ProcessUse, _ float64) float64 { return float64(p.RSSBytes) }},
}

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
	// The lines that comparisons overlay: CPU of all processes, because a system inside plimsoll
	// has no separate figure, and for servers alone what plimsoll itself does not do.
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
