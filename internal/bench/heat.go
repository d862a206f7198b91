package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// A warm-up has levelled off when the servers' CPU time per message and publish p50 are level
	// in the later part of a pass: laterShare of its readings, and at least laterFewest.
	laterShare  = 0.5
	laterFewest = 24

	// Servers whose virtual machine compiles hot code are warm when they have little left to
	// compile: it takes at most compileBound of their CPU time in a pass of passReadings, but for
	// the opening. The readings of that pass are to be level.
	compileBound = 0.20
	// compileRest is the share below which they have nothing left to compile. Then only their CPU
	// time per message is to be level: publish p50 of warm servers swings on a noisy machine.
	compileRest  = 0.02
	passReadings = 60
	passOpening  = 8

	// mostWarmBytes bounds what a warm-up that ends by itself publishes, mostUnseenBytes where the
	// disk is not known. diskShare is the share of the free disk that all copies take at most,
	// memoryShare the share of the available memory by which the servers may grow.
	mostWarmBytes   = 12e9
	mostUnseenBytes = 4e9
	diskShare       = 1.0 / 3
	memoryShare     = 0.5
	// mostSilent is how long the servers may acknowledge nothing. They have messages to acknowledge
	// at any time.
	mostSilent = 15 * time.Second
	// Servers that use less than idleShare of the cores get idleFactor times as many messages in
	// flight in the next pass, because code is compiled when it was run often enough: at first, and
	// again if they then acknowledged more than idleGain times as many. Together producers have at
	// most mostWarmInFlight messages and mostWarmFlying bytes in flight, but for the first pass.
	idleShare        = 0.25
	idleFactor       = 4
	idleGain         = 1.5
	mostWarmInFlight = 4096
	mostWarmFlying   = 64 << 20
	// mostRefused is how long the servers may refuse most messages.
	mostRefused = 2 * time.Second
)

// warmLevel is the level of the figures of warm servers.
var warmLevel = level{halves: 0.10, alpha: 0.05, move: 0.10, span: 1.35}

// room is what a warm-up may take, in bytes.
type room struct {
	published float64
	memory    float64 // by which the servers grow
}

// roomFor returns the room for a job's warm-up; +Inf: no bound is known.
func (j *Job) roomFor(bed *testbed.Testbed) room {
	r := room{math.Inf(1), math.Inf(1)}
	if j.OnHosts > 0 {
		r.published = mostUnseenBytes
		return r // this machine's disk and memory are not the servers'
	}
	within := func(dir string, copies int) {
		// A disk that cannot be read was checked by the start of the servers.
		if free, err := testbed.FreeBytes(dir); err == nil {
			r.published = min(r.published,
				diskShare*float64(free)/(diskOverhead*float64(max(copies, 1))))
		}
	}
	if dir := j.dataDir(); dir != "" {
		within(dir, max(j.Target.Testbed.Nodes, len(j.Target.Processes)))
	}
	if bed != nil {
		for _, n := range bed.Cluster().Nodes() {
			if bed.Disk(n.Name) != nil {
				within(filepath.Join(bed.DataDir(), n.Name), 1)
			}
		}
	}
	if j.WarmUp.Auto {
		most := mostWarmBytes
		if math.IsInf(r.published, 1) {
			most = mostUnseenBytes
		}
		r.published = min(r.published, most)
	}
	if free := memoryOfMachine().available; free > 0 {
		r.memory = memoryShare * float64(free)
	}
	return r
}

// heat watches a warm-up, and ends it when the servers have levelled off, or cannot go on.
//
// Servers are warmed in passes, each with topics and clients of its own. Those that compile their
// code need several: new topics take paths through the code that were not taken before, for which
// parts of it are compiled once more, and a single pass would leave that to the measured run. After
// the first pass the load has the workload's own rate, because at another one other code is hot.
// Others are warm when they level off in their first pass. Under full load some never do: a server
// that rewrites its append-only file does so again and again, each time with more data. They level
// off at the workload's rate, where the CPU time per message decides alone, because publish p50 of
// a light load swings on a noisy machine. Servers whose CPU time is not known stay in the first
// pass.
type heat struct {
	unwatched
	end          context.CancelFunc // of the pass
	began        int                // the first reading of the pass
	ns, sent     int64              // of all passes: under load; acknowledged
	up           WarmUp
	rate         float64 // of later passes, in messages per second; 0: a closed loop too
	room         room
	messageBytes float64
	// cores is the number of the servers' machine, if closed loops may grow; 0: they may not.
	// growth is the factor of the messages in flight since the first pass, and carried how many
	// were acknowledged in a reading before the latest growth.
	cores, growth int
	carried       float64

	p50, cpu []float64 // ns; of a message. NaN: not known
	acked    []int64
	// used and compiled are the servers' CPU time in ns, and that of their compilers.
	used, compiled []float64
	compiles       bool // some server has compilers

	bytes    float64
	silentNs int64   // without an acknowledgement, until the latest reading
	memory   float64 // of all servers, in bytes, at the first reading; 0: not known
	grown    float64 // by as much at the latest reading
	lost     string  // a server that ended by itself; empty: none
	// refusedNs is the time, until the latest reading, in which most messages were refused.
	refusedNs int64
	steady    bool
	why       string

	tell func(words string) // nil: nobody watches
}

// pass runs one pass of a warm-up, which takes at most the time that is left.
func (h *heat) pass(ctx context.Context, job Job, bed *testbed.Testbed, left time.Duration) error {
	within, end := context.WithCancel(ctx)
	defer end()
	w := h.passLoad(job.Workload, left)
	job.Workload, h.end, h.began = &w, end, len(h.p50)
	run, err := passing(within, &job, h)
	if err != nil && bed != nil { // a client may notice it before the next reading of resources
		for _, n := range bed.Cluster().Nodes() {
			if n.Ended {
				h.lost = cmp.Or(h.lost, n.Name)
			}
		}
	}
	if err = cmp.Or(ctx.Err(), h.conclude(bed, run), err); err != nil {
		return err
	}
	h.ns += max(run.Run.Summary.WindowNs, int64(warmEvery))
	h.sent += run.Run.Counters.Acked
	return nil
}

// passLoad returns the load of the next pass of a warm-up. A closed loop gets more messages in
// flight when the pass before left the servers idle: its clients may have waited for their batches.
func (h *heat) passLoad(of *workload.Workload, left time.Duration) workload.Workload {
	w := *of
	w.Duration = left
	switch {
	case len(h.p50) > 0 && h.rate > 0:
		w.Load = workload.Load{Arrivals: workload.ArrivalsConstant}
		w.SetRate(h.rate)
	case w.Load.Closed != nil && h.cores > 0:
		closed := *w.Load.Closed
		closed.InFlight = h.inFlight(closed.InFlight, w.Topics*w.Producers)
		w.Load.Closed, w.MaxInFlight = &closed, closed.InFlight
	}
	return w
}

// inFlight returns how many messages each producer has in flight in the next pass, given those of
// the first one. It grows while the servers are idle, and only if it gained something before:
// servers that wait for a disk are idle too.
func (h *heat) inFlight(first, producers int) int {
	h.growth = max(h.growth, 1)
	most := int(min(mostWarmInFlight, mostWarmFlying/max(h.messageBytes, 1))) / producers
	carried := 0.0
	for _, n := range h.acked[h.began:] {
		carried += float64(n)
	}
	carried /= float64(max(len(h.acked)-h.began, 1))
	if h.idle() && first*h.growth < most && carried > idleGain*h.carried {
		h.growth, h.carried = h.growth*idleFactor, carried
	}
	return max(min(first*h.growth, most), first)
}

// idle reports whether the servers used only a small share of the cores in the latest pass.
func (h *heat) idle() bool {
	pass := h.used[h.began:]
	whole := float64(len(pass)) * float64(warmEvery) * float64(h.cores)
	return len(pass) >= laterFewest && h.knowsCPU() && total(pass) < idleShare*whole
}

// Interval takes a reading of the load.
func (h *heat) Interval(i result.Interval) {
	if i.Phase != result.PhaseMeasure || i.EndNs-i.StartNs < int64(warmEvery)/2 || h.over() {
		return
	}
	h.judge() // all earlier readings, whose resources are known
	// From the call: the time before it grows for ever under more load than the servers carry.
	p50, known := result.Summary{Latency: i.Latency}.Series(result.Send).At(50)
	v := math.NaN()
	if known && p50 > 0 {
		v = float64(p50)
	}
	h.p50, h.cpu = append(h.p50, v), append(h.cpu, math.NaN())
	h.acked, h.used, h.compiled = append(h.acked, i.Acked), append(h.used, 0), append(h.compiled, 0)
	h.bytes += float64(i.Acked) * h.messageBytes
	if h.silentNs += i.EndNs - i.StartNs; i.Acked > 0 {
		h.silentNs = 0
	}
	if h.refusedNs += i.EndNs - i.StartNs; i.Failed <= i.Acked {
		h.refusedNs = 0
	}
	if h.tell != nil && len(h.p50)%readingsPerReport == 0 {
		h.tell(h.soFar())
	}
	passes := h.compiles || h.up.Auto && h.knowsCPU()
	if h.refused() || h.silent() || passes && len(h.p50)-h.began > passReadings {
		h.end()
	}
}

// readingsPerReport is the number of readings from one report of progress to the next.
const readingsPerReport = int(time.Second / warmEvery)

// soFar says how far the warm-up has come. The latest reading's resources are not known yet.
func (h *heat) soFar() string {
	under := time.Duration(h.ns) + time.Duration(len(h.p50)-h.began)*warmEvery
	words := fmt.Sprintf("%s, at most %s", quantity.ExactDuration(under.Round(time.Second)),
		quantity.ExactDuration(h.up.most()))
	acked, ns := 0.0, 0.0
	last := max(len(h.p50)-1, 0)
	for i := max(last-readingsPerReport, 0); i < last; i++ {
		if cpu := h.cpu[i]; !math.IsNaN(cpu) {
			acked, ns = acked+float64(h.acked[i]), ns+cpu*float64(h.acked[i])
		}
	}
	if acked > 0 {
		words += ": the servers' CPU per message is " + quantity.Duration(int64(ns/acked))
	}
	return words
}

// Resources takes the servers' use of the latest reading.
func (h *heat) Resources(r result.Resources, servers []string) {
	memory := 0.0
	alive := map[string]bool{}
	for _, p := range r.Processes {
		if alive[p.Name] = true; slices.Contains(servers, p.Name) {
			memory += float64(p.RSSBytes)
		}
	}
	for _, name := range servers {
		if !alive[name] && h.lost == "" {
			h.lost = name
			h.end()
		}
	}
	if h.memory == 0 {
		h.memory = memory
	}
	h.grown = memory - h.memory
	last := len(h.cpu) - 1
	if last < 0 || h.over() || r.Phase != result.PhaseMeasure ||
		slices.Contains(servers, result.Self) {
		return
	}
	h.used[last] = cpuSecondsOf(r, servers) * 1e9
	if n := h.acked[last]; n > 0 && h.used[last] > 0 {
		h.cpu[last] = h.used[last] / float64(n)
	}
	for _, p := range r.Processes {
		if p.CompileNs != nil && slices.Contains(servers, p.Name) {
			h.compiled[last], h.compiles = h.compiled[last]+float64(*p.CompileNs), true
		}
	}
}

// over reports whether the warm-up was ended.
func (h *heat) over() bool {
	return h.steady || h.why != "" || h.lost != "" || h.refused() || h.silent()
}

func (h *heat) refused() bool { return h.refusedNs >= int64(mostRefused) }

func (h *heat) silent() bool { return h.silentNs >= int64(mostSilent) }

// judge ends a warm-up that has levelled off, or that has taken its room.
func (h *heat) judge() {
	switch {
	case h.up.Auto && h.levelled():
		h.steady = true
	case h.bytes > h.room.published:
		h.why = fmt.Sprintf("stopped after %s, before the servers had levelled off",
			quantity.Bytes(int64(h.bytes)))
	case h.grown > h.room.memory:
		h.why = "stopped when the memory of the servers had grown by " +
			quantity.Bytes(int64(h.grown)) + ", before they had levelled off"
	}
	if h.over() {
		h.end()
	}
}

// conclude returns an error if the servers could not go on in a pass, and otherwise notes why they
// ended it. run is nil if there is none.
func (h *heat) conclude(bed *testbed.Testbed, run *result.Saved) error {
	switch {
	case h.lost != "":
		return endOf(bed, h.lost)
	case h.refused() && h.bytes == 0:
		return errors.New("the servers refused messages" + firstError(run))
	case h.refused(): // at a limit of their own, such as of memory
		h.why = fmt.Sprintf("stopped after %s, when the servers refused messages%s",
			quantity.Bytes(int64(h.bytes)), firstError(run))
	case h.silent():
		return fmt.Errorf("the servers acknowledged no message for %s%s", mostSilent,
			firstError(run))
	}
	return nil
}

// firstError returns a colon and the most frequent error of a run's messages; empty: none.
func firstError(run *result.Saved) string {
	if run == nil || len(run.Run.Errors) == 0 {
		return ""
	}
	return ": " + run.Run.Errors[0].Message
}

// endOf returns the error of a server that ended by itself. It quotes the server's log, which is
// deleted with the servers' data.
func endOf(bed *testbed.Testbed, node string) error {
	said := ""
	if bed != nil {
		for _, n := range bed.Cluster().Nodes() {
			if n.Name != node {
				continue
			}
			for line := range process.TailLines(n.Log) {
				said = line
			}
		}
	}
	if said == "" {
		return fmt.Errorf("node %s ended by itself", node)
	}
	return fmt.Errorf("node %s ended by itself, and its log ends with: %s", node,
		process.Said(said))
}

// levelled reports whether the figures keep their levels, in the later part of the pass or, where
// servers compile, in all of it but the opening.
func (h *heat) levelled() bool {
	n, opening, cpuAlone := len(h.p50), h.began, false
	if h.began > 0 {
		opening, cpuAlone = opening+passOpening, h.knowsCPU()
	}
	from := n - max(int(laterShare*float64(n-opening)), laterFewest)
	if h.compiles {
		if h.began == 0 || n-h.began < passReadings { // the first pass decides nothing
			return false
		}
		from = opening
		share := h.compileShare(from, n)
		if share > compileBound {
			return false
		}
		cpuAlone = cpuAlone && share < compileRest
	}
	return from >= opening && (cpuAlone || warmLevel.holds(h.answered(h.p50, from))) &&
		(!h.knowsCPU() || warmLevel.holds(h.answered(h.cpu, from)))
}

// compileShare returns the share of the servers' CPU time that they spent on compiling their code,
// from one reading to before another.
func (h *heat) compileShare(from, to int) float64 {
	return total(h.compiled[from:to]) / max(total(h.used[from:to]), 1)
}

// answered returns the values from a reading on, without those of readings that have no answer.
func (h *heat) answered(values []float64, from int) (out []float64) {
	for i, v := range values[from:] {
		if h.acked[from+i] > 0 {
			out = append(out, v)
		}
	}
	return out
}

// knowsCPU reports whether each reading with an answer has the servers' CPU time per message, but
// for the last, whose use is not known yet.
func (h *heat) knowsCPU() bool {
	return !slices.ContainsFunc(h.answered(h.cpu[:max(len(h.cpu)-1, 0)], 0), math.IsNaN)
}

// result returns what the warm-up was like.
func (h *heat) result() *result.Warming {
	w := &result.Warming{Steady: h.steady, Why: h.why, Ns: h.ns, Acked: h.sent}
	if h.began > 0 {
		w.RateMsgsPerS = h.rate
	}
	second := int(time.Second / warmEvery)
	ends := func(values []float64) (first, last float64) {
		known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
		if len(known) < 2*second {
			return 0, 0
		}
		return mean(known[:second]), mean(known[max(len(known)/2, len(known)-laterFewest):])
	}
	w.P50FirstNs, w.P50LastNs = ends(h.p50)
	w.CPUFirstNs, w.CPULastNs = ends(h.cpu)
	if n := len(h.used); h.compiles && n >= 2*second {
		first := h.compileShare(0, second)
		last := h.compileShare(min(h.began+passOpening, n-second), n)
		w.CompileFirst, w.CompileLast = &first, &last
	}
	if h.up.Auto && !w.Steady && w.Why == "" {
		w.Why = fmt.Sprintf("over after %s, before the servers had levelled off",
			quantity.ExactDuration(h.up.most()))
	}
	return w
}
