package report

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
)

// spending describes the resource use of a synthetic run. The zero value: nothing was observed.
type spending struct {
	nodes     int     // server processes
	inside    bool    // the servers live inside plimsoll
	cores     float64 // of each server
	own       float64 // of plimsoll
	syncs     int64   // of each server, per second
	amplify   float64 // bytes written per byte of payload, all nodes together
	endsAt    int     // second after which n2 is gone; 0: never
	uncounted bool    // the kernel reports neither syncs nor the network
	limits    bool    // calibrated
}

// kafkaThree and natsInside are runs with all resource use observed: one with servers as
// processes, of which one ends, one with servers inside plimsoll.
var (
	kafkaThree = shape{name: "kafka", system: "kafka", seconds: 16, rate: 20_000, medianU: 1900,
		stallAt: 9, level: 1, fault: "n2 (pid 4102) ended: killed",
		spends: spending{nodes: 3, cores: 0.92, own: 0.31, syncs: 410, amplify: 3.21, endsAt: 9,
			limits: true}}
	natsInside = shape{name: "nats", system: "nats", seconds: 16, rate: 20_000, medianU: 1100,
		level: 1,
		spends: spending{nodes: 1, inside: true, cores: 1.4, syncs: 900, amplify: 3.46,
			limits: true}}
)

func pointer[T any](v T) *T { return &v }

// servers are the nodes that plimsoll started; nil if nothing was observed.
func (p spending) servers() []result.Node {
	if p.nodes == 0 {
		return nil
	}
	return []result.Node{{Name: "n1", PID: 4101}, {Name: "n2", PID: 4102}, {Name: "n3", PID: 4103}}
}

// processes are the names of the observed processes.
func (p spending) processes() []string {
	var out []string
	for i := range p.nodes {
		if !p.inside {
			out = append(out, fmt.Sprintf("n%d", i+1))
		}
	}
	return append(out, result.Self)
}

// resources are the resource lines of a run, one a second.
func (sh shape) resources() []result.Resources {
	p := sh.spends
	if p.nodes == 0 {
		return nil
	}
	seed := noise(7)
	var out []result.Resources
	for k := range sh.seconds + 4 {
		phase := result.PhaseMeasure
		if k < 3 {
			phase = result.PhaseWarmup
		} else if k == sh.seconds+3 {
			phase = result.PhaseDrain
		}
		wobble := 0.9 + 0.2*seed.next()
		switch {
		case phase == result.PhaseDrain:
			wobble = 0.05
		case k == sh.stallAt && sh.stallAt > 0:
			wobble = 0.2
		case k == sh.stallAt+1 && sh.stallAt > 0:
			wobble = 1.6
		}
		line := result.Resources{StartNs: int64(k) * 1e9, EndNs: int64(k+1) * 1e9, Phase: phase,
			Host: result.HostUse{
				IOWaitSeconds: 0.3 * wobble, StealSeconds: 0, PressureCPU: pointer(
					0.12 * wobble), PressureIO: pointer(0.31 * wobble),
				PressureMemory: pointer(0.0), PageCacheBytes: 2<<30 +
					int64(k)*60<<20, DirtyBytes: int64(float64(90<<20) * (0.4 + seed.next())),
			}}
		total := int64(0)
		for _, name := range p.processes() {
			if name == "n2" && p.endsAt > 0 && k > p.endsAt {
				continue
			}
			use := sh.process(name, wobble*(0.95+0.1*seed.next()))
			line.Host.CPUSeconds += use.CPUSeconds
			total += *use.WriteBytes
			line.Processes = append(line.Processes, use)
		}
		line.Host.CPUSeconds += 0.2
		line.Host.LoopbackBytes = pointer(int64(130e6 * wobble))
		line.Disks = []result.DiskUse{
			{Name: "vda", WriteBytes: total + total/9, Writes: 900, ReadBytes: 0,
				Utilization: min(0.55*wobble, 1)},
			{Name: "vdb"},
		}
		out = append(out, line)
	}
	return out
}

// process is what one process spent in a second.
func (sh shape) process(name string, wobble float64) result.ProcessUse {
	p := sh.spends
	payload := sh.rate * 1024 * wobble
	use := result.ProcessUse{
		Name: name, PID: 4100 + int(name[1]-'0'), CPUSeconds: p.cores * wobble, RSSBytes: 410 << 20,
		ReadBytes: pointer(int64(0)), WriteBytes: pointer(
			int64(payload * p.amplify / float64(p.nodes))),
		Syncs: pointer(int64(float64(p.syncs) * wobble)), MapSyncs: pointer(
			2 * int64(float64(p.syncs)*wobble)),
		NetReceivedBytes: pointer(int64(payload * 1.05)), NetSentBytes: pointer(
			int64(payload * 1.1)),
	}
	if name == result.Self {
		use.PID, use.RSSBytes = 4242, 120<<20
		if !p.inside {
			use.CPUSeconds, use.WriteBytes, use.Syncs, use.MapSyncs = p.own*wobble, pointer(
				int64(30_000)), pointer(int64(0)), pointer(int64(0))
		}
	}
	if p.uncounted {
		use.Syncs, use.MapSyncs, use.NetReceivedBytes, use.NetSentBytes = nil, nil, nil, nil
	}
	return use
}

// sumUp adds figures that may be unknown.
func sumUp(to **int64, v *int64) {
	switch {
	case v == nil:
	case *to == nil:
		*to = pointer(*v)
	default:
		**to += *v
	}
}

// observe sums up the lines of the measured window, as a run does.
func (sh shape) observe() result.Observation {
	p := sh.spends
	if p.nodes == 0 {
		return result.Observation{}
	}
	o := result.Observation{Servers: p.processes(),
		Disks: []result.DiskUse{{Name: "vda"}, {Name: "vdb"}}, Methods: []string{
			"CPU and memory of each process are read from /proc once a second",
			"fsync and fdatasync are counted by a probe on the system calls",
		}}
	if !p.inside {
		o.Servers = o.Servers[:len(o.Servers)-1]
	}
	if p.uncounted {
		o.Methods = append(o.Methods[:1],
			"fsync calls are not counted: that takes root, and this run had none")
	}
	for _, line := range sh.resources() {
		if line.Phase != result.PhaseMeasure {
			continue
		}
		o.WindowNs += line.EndNs - line.StartNs
		o.Host.CPUSeconds += line.Host.CPUSeconds
		o.Host.IOWaitSeconds += line.Host.IOWaitSeconds
		o.Host.PageCacheBytes = max(o.Host.PageCacheBytes, line.Host.PageCacheBytes)
		o.Host.DirtyBytes = max(o.Host.DirtyBytes, line.Host.DirtyBytes)
		o.Disks[0].WriteBytes += line.Disks[0].WriteBytes
		for _, use := range line.Processes {
			at := slices.IndexFunc(o.Processes,
				func(p result.ProcessUse) bool { return p.Name == use.Name })
			if at < 0 {
				o.Processes = append(o.Processes,
					result.ProcessUse{Name: use.Name, PID: use.PID, RSSBytes: use.RSSBytes})
				at = len(o.Processes) - 1
			}
			to := &o.Processes[at]
			to.CPUSeconds += use.CPUSeconds
			sumUp(&to.ReadBytes, use.ReadBytes)
			sumUp(&to.WriteBytes, use.WriteBytes)
			sumUp(&to.Syncs, use.Syncs)
			sumUp(&to.MapSyncs, use.MapSyncs)
			sumUp(&to.NetReceivedBytes, use.NetReceivedBytes)
			sumUp(&to.NetSentBytes, use.NetSentBytes)
		}
	}
	o.Host.PressureCPU, o.Host.PressureIO, o.Host.PressureMemory = pointer(0.12), pointer(
		0.31), pointer(0.0)
	o.Disks[0].Utilization = 0.55
	return sh.limited(o)
}

// limited adds the machine's limits and the shares of them.
func (sh shape) limited(o result.Observation) result.Observation {
	seconds := float64(o.WindowNs) / 1e9
	servers, bytes := 0.0, int64(0)
	for _, p := range o.Processes {
		if slices.Contains(o.Servers, p.Name) {
			servers += p.CPUSeconds
			bytes += *p.WriteBytes
		}
	}
	o.MsgsPerCoreSecond = sh.rate * seconds / servers
	o.WriteAmplification = float64(bytes) / (sh.rate * seconds * 1024)
	if !sh.spends.limits {
		return o
	}
	sync := result.Latency{Series: "fdatasync", Count: 2000, MaxNs: 9e6,
		Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 610_000},
			{Percentile: 99, LatencyNs: 2_100_000}}}
	o.Limits = &result.Limits{MeasuredAt: "2026-11-20T08:00:00Z", Dir: "/var/lib/plimsoll",
		Device: "vda", SequentialWriteBytes: 95e6, DirectIO: true,
		SyncLatency: []result.Latency{
			sync}, LoopbackBytes: 4.1e9, MemoryCopyBytes: 9e9, ClockResolutionNs: 1, Cores: 8}
	disk, cpu := float64(o.Disks[0].WriteBytes)/seconds, o.Host.CPUSeconds/seconds
	o.Shares = []result.Share{
		{Resource: "disk", Used: disk, Limit: 95e6, Unit: "bytes_per_s", Share: disk / 95e6},
		{Resource: "cpu", Used: cpu, Limit: 8, Unit: "cores", Share: cpu / 8},
		{Resource: "loopback", Used: 130e6, Limit: 4.1e9, Unit: "bytes_per_s",
			Share: 130e6 / 4.1e9},
	}
	slices.SortStableFunc(o.Shares,
		func(a, b result.Share) int { return int((b.Share - a.Share) * 1e6) })
	return o
}
