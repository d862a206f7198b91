package figure

import "github.com/plimsoll-bench/plimsoll/result"

// costs are what the servers and plimsoll spent on a message.
func costs() []Figure {
	of := func(f Figure, value func(Cost) (float64, bool)) Figure {
		return known(f, func(r *result.Run) (float64, bool) { return value(NewCost(r)) })
	}
	return []Figure{
		of(Figure{Name: "cpu", Title: "CPU time per message, together", Unit: Nanoseconds,
			Means: "of the servers and plimsoll"}, Cost.AllCPU),
		of(Figure{Name: "servers_cpu", Title: "CPU time of the servers, per message",
			Unit: Nanoseconds, Means: "of all servers, per acknowledged message"}, Cost.ServerCPU),
		of(Figure{Name: "own_cpu", Title: "CPU time of plimsoll, per message",
			Unit: Nanoseconds, Means: "per acknowledged message"}, Cost.OwnCPU),
		of(Figure{Name: PerCore, Title: "messages per core-second of the servers", Unit: PerSecond,
			More: true, Means: "acknowledged messages per second of the servers' CPU time"},
			Cost.MsgsPerCoreSecond),
		of(Figure{Name: "written", Title: "bytes that the servers wrote to disks, per message",
			Unit: Bytes, Means: "of all nodes, per acknowledged message"},
			func(c Cost) (float64, bool) {
				times, known := c.Amplification()
				return times * c.Run.Summary.PayloadBytes(c.Run.Load), known
			}),
		of(Figure{Name: "syncs", Title: "syncs of the servers, per message", Unit: PerMessage,
			Zero: true, Means: "calls of fsync, fdatasync and msync of all nodes"}, Cost.AllSyncs),
		of(Figure{Name: "memory", Title: "greatest memory of the servers", Unit: Bytes,
			Means: "resident memory of all nodes together"}, Cost.Memory),
	}
}

// Cost is the resource use of a run over the observed part of the measured window. A sum over
// processes is unknown when the kernel does not report the figure of one of them.
type Cost struct {
	Run     *result.Run
	Servers []result.ProcessUse
	// complete is set when each server was observed.
	complete bool
	Own      *result.ProcessUse // see result.Run.OwnUse
	// Embedded is set when the servers live inside plimsoll's process, whose
	// cost cannot be divided between the two.
	Embedded bool
	Seconds  float64
	Messages float64 // acknowledged while observed
}

// NewCost sorts the processes of a run into the system's and plimsoll.
func NewCost(r *result.Run) Cost {
	o := r.Observation
	c := Cost{Run: r, Embedded: Embedded(o), Seconds: float64(max(o.WindowNs, 0)) / 1e9}
	if rate := r.Summary.Work(); !Unprintable(rate) && rate > 0 {
		c.Messages = rate * c.Seconds
	}
	c.Servers, c.complete = o.OfServers()
	c.Own = r.OwnUse()
	return c
}

// Embedded reports whether the servers live inside plimsoll.
func Embedded(o result.Observation) bool {
	return len(o.Servers) == 1 && o.Servers[0] == result.Self
}

// Observed reports whether the use of any process is known. Gauges of the system do not count.
func (c Cost) Observed() bool { return c.Seconds > 0 && len(c.Run.Observation.Processes) > 0 }

// Nodes is the number of servers among which the cost is divided.
func (c Cost) Nodes() float64 {
	if c.Embedded {
		return float64(max(len(c.Run.System.Nodes), 1))
	}
	return float64(max(len(c.Servers), 1))
}

// whole reports whether each server was observed in the window.
func (c Cost) whole() bool { return c.Seconds > 0 && c.complete }

// Sum adds a figure up over all servers.
func (c Cost) Sum(of func(result.ProcessUse) *int64) (float64, bool) {
	total, known := result.Sum(c.Servers, of)
	return total, known && c.whole()
}

// Written is the bytes that a process wrote to disks.
func Written(p result.ProcessUse) *int64 { return p.WriteBytes }

// Read is the bytes that a process read from disks.
func Read(p result.ProcessUse) *int64 { return p.ReadBytes }

// Syncs is a process's calls of fsync and fdatasync.
func Syncs(p result.ProcessUse) *int64 { return p.Syncs }

// MapSyncs is a process's calls of msync.
func MapSyncs(p result.ProcessUse) *int64 { return p.MapSyncs }

// PerSecond is a figure of all servers together, per second.
func (c Cost) PerSecond(of func(result.ProcessUse) *int64) (float64, bool) {
	v, ok := c.Sum(of)
	return v / max(c.Seconds, 1e-9), ok
}

// WrittenPerSecond is the bytes that all servers together wrote to disks, per second.
func (c Cost) WrittenPerSecond() (float64, bool) {
	bytes, known := c.Run.Observation.Written()
	return float64(bytes) / max(c.Seconds, 1e-9), known && c.whole()
}

// EachNode is what a server uses in the mean, per second.
func (c Cost) EachNode(of func(result.ProcessUse) *int64) (float64, bool) {
	v, ok := c.PerSecond(of)
	return v / c.Nodes(), ok
}

// PerMessage is a figure of all servers together, per acknowledged message.
func (c Cost) PerMessage(of func(result.ProcessUse) *int64) (float64, bool) {
	v, ok := c.Sum(of)
	return v / max(c.Messages, 1e-9), ok && c.Messages > 0
}

// ServerCPUSeconds is the CPU time of all servers.
func (c Cost) ServerCPUSeconds() (float64, bool) {
	total := 0.0
	for _, p := range c.Servers {
		total += p.CPUSeconds
	}
	return total, c.whole()
}

// ServerCPU is nanoseconds of the servers' CPU time per acknowledged message.
func (c Cost) ServerCPU() (float64, bool) {
	if v := c.Run.Observation.MsgsPerCoreSecond; v > 0 && !Unprintable(v) {
		return 1e9 / v, true
	}
	total, ok := c.ServerCPUSeconds()
	return total * 1e9 / max(c.Messages, 1e-9), ok && c.Messages > 0
}

// MsgsPerCoreSecond is the reciprocal of ServerCPU, in messages per second of CPU time.
func (c Cost) MsgsPerCoreSecond() (float64, bool) {
	ns, ok := c.ServerCPU()
	return 1e9 / max(ns, 1e-9), ok && ns > 0
}

// OwnCPU is nanoseconds of plimsoll's CPU time per acknowledged message. It is unknown when
// the servers run inside plimsoll's process, or workers offered the load.
func (c Cost) OwnCPU() (float64, bool) {
	if c.Own == nil || c.Messages <= 0 {
		return 0, false
	}
	return c.Own.CPUSeconds * 1e9 / c.Messages, true
}

// AllCPU is the CPU time of servers and plimsoll together: the only figure by which a system
// inside plimsoll's process can be compared with one outside. It is unknown when workers offered
// the load.
func (c Cost) AllCPU() (float64, bool) {
	servers, known := c.ServerCPU()
	if !known || len(c.Run.Workers) > 0 {
		return 0, false
	}
	own, _ := c.OwnCPU() // 0: plimsoll was not observed apart
	return servers + own, true
}

// Amplification is bytes written to disks by all servers per acknowledged byte of payload.
func (c Cost) Amplification() (float64, bool) {
	if v := c.Run.Observation.WriteAmplification; v > 0 && !Unprintable(v) {
		return v, true
	}
	bytes, ok := c.WrittenPerSecond()
	payload := c.Messages * c.Run.Summary.PayloadBytes(c.Run.Load)
	return bytes * c.Seconds / max(payload, 1e-9), ok && payload > 0
}

// Memory is the servers' greatest memory use.
func (c Cost) Memory() (float64, bool) {
	return c.Sum(func(p result.ProcessUse) *int64 { return &p.RSSBytes })
}

// AllSyncs is calls of fsync, fdatasync and msync of all servers per acknowledged message.
func (c Cost) AllSyncs() (float64, bool) {
	files, known := c.PerMessage(Syncs)
	maps, alsoKnown := c.PerMessage(MapSyncs)
	return files + maps, known && alsoKnown
}
