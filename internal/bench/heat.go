package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	// A warm-up has levelled off when the servers' CPU time per message and publish p50 are level
	// in the later part of it, levelShare of all readings and at least levelFewest: their halves
	// differ by at most levelBound, no greater move is shown at an error of levelAlpha, and the
	// middle half of the readings spans no more than a factor of levelSpan.
	//
	// Servers whose virtual machine compiles hot code are warm when they have little left to
	// compile: it takes at most compileBound of their CPU time in a pass of passReadings, but for
	// the opening. The readings of that pass are to be level.
	compileBound = 0.20
	passReadings = 60
	passOpening  = 8

	levelBound  = 0.10
	levelAlpha  = 0.05
	levelSpan   = 1.35
	levelShare  = 0.5
	levelFewest = 24
	levelMost   = 60 // more readings are replaced by means of neighbours
)

// heat watches a warm-up, and ends it when the servers have levelled off.
//
// Servers that compile their code are warmed in passes, each with topics and clients of its own:
// new ones take paths through the code that were not taken before, for which parts of it are
// compiled once more. A single pass would leave that to the measured run.
type heat struct {
	unwatched
	end                     context.CancelFunc // of the pass
	began                   int                // the first reading of the pass
	ns, sent                int64              // of all passes: under load; acknowledged
	auto                    bool
	most                    time.Duration // under load
	mostBytes, messageBytes float64

	p50, cpu []float64 // ns; of a message. NaN: not known
	acked    []int64
	// used and compiled are the servers' CPU time, and that of their compilers, of each reading.
	used, compiled []float64
	compiles       bool // some server has compilers
	bytes          float64
	steady         bool
	why            string
}

// over reports whether the warm-up has ended.
func (h *heat) over() bool { return h.steady || h.why != "" }

func (h *heat) length() time.Duration { return time.Duration(h.ns) }

// pass runs one pass of a warm-up, which takes at most the time that is left.
func (h *heat) pass(ctx context.Context, job Job, left time.Duration) error {
	within, end := context.WithCancel(ctx)
	defer end()
	w := *job.Workload
	w.Duration = left
	if len(w.Load.Segments) > 0 {
		w.SetRate(w.Load.Segments[0].From)
	}
	job.Workload, h.end, h.began = &w, end, len(h.p50)
	run, err := passing(within, &job, h)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	h.ns += max(run.Run.Summary.WindowNs, int64(warmEvery))
	h.sent += run.Run.Counters.Acked
	return endedIn(&run.Run)
}

// Interval takes a reading of the load.
func (h *heat) Interval(i result.Interval) {
	if i.Phase != result.PhaseMeasure || i.EndNs-i.StartNs < int64(warmEvery)/2 || h.steady {
		return
	}
	if h.auto && h.why == "" {
		h.judge() // all earlier readings, whose resources are known
	}
	// From the call: the time before it grows for ever under more load than the servers carry.
	p50, known := result.Summary{Latency: i.Latency}.Series(result.Send).At(50)
	v := math.NaN()
	if known && p50 > 0 {
		v = float64(p50)
	}
	h.p50, h.cpu = append(h.p50, v), append(h.cpu, math.NaN())
	h.used, h.compiled = append(h.used, 0), append(h.compiled, 0)
	h.acked = append(h.acked, i.Acked)
	h.bytes += float64(i.Acked) * h.messageBytes
	if h.compiles && len(h.p50)-h.began > passReadings {
		h.end()
	}
}

// Resources takes the servers' use of the latest reading.
func (h *heat) Resources(r result.Resources, servers []string) {
	last := len(h.cpu) - 1
	if last < 0 || h.steady || r.Phase != result.PhaseMeasure ||
		slices.Contains(servers, result.Self) {
		return
	}
	used := cpuSecondsOf(r, servers) * 1e9
	if n := h.acked[last]; n > 0 && used > 0 {
		h.cpu[last] = used / float64(n)
	}
	h.used[last] = used
	for _, p := range r.Processes {
		if p.CompileNs != nil && slices.Contains(servers, p.Name) {
			h.compiled[last], h.compiles = h.compiled[last]+float64(*p.CompileNs), true
		}
	}
}

// judge ends a warm-up that has levelled off, or that has published enough.
func (h *heat) judge() {
	from, ok := h.later()
	if !ok {
		return
	}
	switch {
	case !h.compiling(from) && level(h.p50[from:]) && (!h.knowsCPU() || level(h.cpu[from:])):
		h.steady = true
	case h.bytes > h.mostBytes:
		h.why = fmt.Sprintf("stopped after %s, before the servers had levelled off",
			quantity.Bytes(int64(h.bytes)))
	default:
		return
	}
	h.end()
}

// later returns the index of the first reading that counts. It is false when there are too few.
func (h *heat) later() (from int, ok bool) {
	n := len(h.p50) - h.began
	span := max(int(levelShare*float64(n)), levelFewest)
	if h.compiles { // the first pass decides nothing
		return h.began + passOpening, h.began > 0 && n >= passReadings
	}
	return h.began + n - span, n >= span
}

// compiling reports whether the servers still compiled much of their code from a reading on.
func (h *heat) compiling(from int) bool {
	share, known := h.compileShare(from, len(h.used))
	return known && share > compileBound
}

// compileShare returns the share of the servers' CPU time that they spent on compiling their code,
// of the readings from one to another. It is false for servers without compilers.
func (h *heat) compileShare(from, to int) (share float64, known bool) {
	used, compiled := 0.0, 0.0
	for i := from; i < to; i++ {
		used, compiled = used+h.used[i], compiled+h.compiled[i]
	}
	return compiled / max(used, 1), h.compiles && used > 0
}

func (h *heat) knowsCPU() bool {
	return !slices.ContainsFunc(h.cpu[:max(len(h.cpu)-1, 0)], math.IsNaN)
}

// level reports whether a positive figure keeps its level.
func level(values []float64) bool {
	each := (len(values) + levelMost - 1) / levelMost
	var logs []float64
	for i := 0; i+each <= len(values); i += each {
		logs = append(logs, math.Log(mean(values[i:i+each])))
	}
	if slices.ContainsFunc(logs, math.IsNaN) {
		return false
	}
	n := len(logs)
	sorted := slices.Sorted(slices.Values(logs))
	m, ok := stats.MoveOf(logs)
	bound := math.Log1p(levelBound)
	return ok && sorted[n*3/4]-sorted[n/4] <= math.Log(levelSpan) &&
		math.Abs(mean(logs[n/2:])-mean(logs[:n/2])) <= bound &&
		(m.P > levelAlpha || math.Abs(m.After-m.Before) <= bound)
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// result returns what the warm-up was like.
func (h *heat) result() *result.Warming {
	w := &result.Warming{Steady: h.steady, Why: h.why, Ns: h.ns, Acked: h.sent}
	second := int(time.Second / warmEvery)
	ends := func(values []float64) (first, last float64) {
		known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
		if len(known) < 2*second {
			return 0, 0
		}
		return mean(known[:second]), mean(known[max(len(known)/2, len(known)-levelFewest):])
	}
	w.P50FirstNs, w.P50LastNs = ends(h.p50)
	w.CPUFirstNs, w.CPULastNs = ends(h.cpu)
	if n := len(h.used); n >= 2*second {
		if first, known := h.compileShare(0, second); known {
			last, _ := h.compileShare(max(n/2, h.began+passOpening), n)
			w.CompileFirst, w.CompileLast = &first, &last
		}
	}
	switch {
	case w.Steady || w.Why != "":
	case !h.auto:
		w.Why = "its length was given, and whether the servers had levelled off was not judged"
	default:
		w.Why = fmt.Sprintf("the servers had not levelled off after %s",
			quantity.ExactDuration(h.most))
	}
	return w
}
