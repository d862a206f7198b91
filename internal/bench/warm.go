package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// The time limits at the end of a warm-up. They are short because the measured runs have topics
	// of their own, which leftover messages of the warm-up do not reach.
	warmLate  = time.Second
	warmDrain = 10 * time.Second
	// MostWarm bounds a warm-up of a given length, mostAuto one that ends by itself.
	MostWarm = time.Hour
	mostAuto = 3 * time.Minute
	// warmEvery is the time between two readings of a warm-up.
	warmEvery = 250 * time.Millisecond
	// mostWarmBytes bounds what a warm-up that ends by itself publishes, and warmShare the share of
	// the free disk that all copies of it take.
	mostWarmBytes = 4e9
	warmShare     = 0.25
	// warmInFlight is the number of messages in flight of all producers of a warm-up together. More
	// would be a heavier load, and compiling takes as long under a light one
	// (docs/design/steady.md).
	warmInFlight = 256

	// A warm-up has levelled off when the servers' CPU time per message and publish p50 are level
	// in the later part of it, levelShare of all readings and at least levelFewest: their halves
	// differ by at most levelBound, no greater move is shown at an error of levelAlpha, and the
	// middle half of the readings spans no more than a factor of levelSpan.
	levelBound  = 0.10
	levelAlpha  = 0.05
	levelSpan   = 1.35
	levelShare  = 0.5
	levelFewest = 24
	levelMost   = 60 // more readings are replaced by means of neighbours
)

// WarmUp says how servers that were just started are put under load before they are measured. The
// zero WarmUp does not do so.
type WarmUp struct {
	Auto bool // until they have levelled off
	// Length is that of a warm-up that is not Auto, and the longest one of one that is; 0: the
	// usual limit.
	Length time.Duration
}

// ParseWarmUp reads "auto", "auto 1m" or a length.
func ParseWarmUp(text string) (w WarmUp, err error) {
	length, auto := strings.CutPrefix(text, result.WarmedAuto)
	if w.Auto = auto; auto && length == "" {
		return w, nil
	}
	if w.Length, err = quantity.ParseDuration(strings.TrimSpace(length)); err != nil {
		return w, fmt.Errorf("%w, or auto", err)
	}
	if w.Length < 0 || w.Length > MostWarm || auto && w.Length == 0 {
		return w, fmt.Errorf("must be auto, or 0s to %s, not %s", MostWarm, text)
	}
	return w, nil
}

// String returns the text that ParseWarmUp reads.
func (w WarmUp) String() string {
	switch {
	case w.Auto && w.Length == 0:
		return result.WarmedAuto
	case w.Auto:
		return result.WarmedAuto + " " + quantity.ExactDuration(w.Length)
	}
	return quantity.ExactDuration(w.Length)
}

// most returns the length that the warm-up does not exceed.
func (w WarmUp) most() time.Duration {
	if w.Auto && w.Length == 0 {
		return mostAuto
	}
	return w.Length
}

// leastAuto is the shortest warm-up that ends by itself.
const leastAuto = levelFewest / levelShare * warmEvery

// Takes returns how long the job's run takes with its warm-up: the shortest time, and the longest
// one of a system that answers. The start of servers comes on top.
func (j *Job) Takes() (least, most time.Duration) {
	least = j.Estimate().Length
	most = least + j.Workload.Drain
	if w := j.WarmUp; w != (WarmUp{}) {
		most += w.most() + warmLate + warmDrain + mostCalm
		if w.Auto {
			least += min(leastAuto, w.most())
		} else {
			least += w.Length
		}
	}
	return least, most
}

// checkWarmUp refuses a warm-up that would touch topics of others or cost money.
func (j *Job) checkWarmUp() error {
	if j.WarmUp == (WarmUp{}) {
		return nil
	}
	if j.Workload.Existing != nil {
		return errors.New("warm: topics that exist are warmed up by the workload's own warmup: " +
			"leave --warm out")
	}
	if _, charged := j.EstimateBill(); charged {
		return errors.New("warm: the provider charges for every request of a warm-up: leave " +
			"--warm out, and use the workload's own warmup")
	}
	return nil
}

// Warmth is how servers that serve several runs were warmed up. Its zero value: not yet.
type Warmth struct{ warmed *result.Warming }

// keep records a warm-up for the runs that follow.
func (w *Warmth) keep(done *result.Warming) {
	shared := *done
	shared.Shared = true
	w.warmed = &shared
}

// warmth returns that of the servers that the job's run shares with others; nil: it shares none.
func (j *Job) warmth() *Warmth {
	if j.Cluster != nil {
		return &j.Cluster.warmth
	}
	return j.Warmth
}

// Warm puts servers that serve several runs under load, as the job's WarmUp says, and keeps no run.
// They are warmed once, and the runs on them record that. Servers on a virtual machine that
// compiles code while it runs first carry only a fraction of their later rate, at many times the
// CPU time per message.
func Warm(ctx context.Context, job *Job, watch Watch) error {
	shared := job.warmth()
	if shared == nil || shared.warmed != nil || job.WarmUp == (WarmUp{}) {
		return nil
	}
	var bed *testbed.Testbed
	if job.Cluster != nil {
		bed = job.Cluster.testbed
	}
	done, err := job.warm(ctx, bed, watch)
	if err == nil {
		shared.keep(done)
	}
	return err
}

// warm warms up the servers of a run, unless an earlier run did, or the caller.
func (s *session) warm(ctx context.Context) (err error) {
	shared := s.job.warmth()
	if shared != nil && shared.warmed != nil {
		s.run.Warming = shared.warmed
		return nil
	}
	if s.held || s.job.WarmUp == (WarmUp{}) {
		return nil
	}
	s.run.Warming, err = s.job.warm(ctx, s.testbed, s.watch)
	if err == nil && shared != nil {
		shared.keep(s.run.Warming)
	}
	return err
}

// warm puts the servers of a testbed, or of the job's target, under load.
func (j *Job) warm(ctx context.Context, bed *testbed.Testbed, watch Watch) (
	*result.Warming, error) {
	watch.Phase(result.PhaseConnect, j.warmSentence())
	began := j.Clock.Now()
	warm, w := *j, *j.Workload
	closed := w.Load.Closed
	if closed == nil {
		closed = &workload.Closed{Batch: workload.Batch{Least: 1, Most: 1},
			InFlight: min(max(warmInFlight/(w.Topics*w.Producers), 1), gaugeInFlight)}
	}
	uneventful(&w)
	w.Load, w.MaxInFlight, w.Duration = workload.Load{Closed: closed}, closed.InFlight,
		j.WarmUp.most()
	w.Isolate = workload.Isolate{} // the run itself isolates
	warm.Workload, warm.Interval, warm.WarmUp, warm.passing = &w, warmEvery, WarmUp{}, true
	if bed != nil {
		warm.Cluster = &Cluster{testbed: bed}
	}
	within, end := context.WithCancel(ctx)
	defer end()
	h := &heat{end: end, auto: j.WarmUp.Auto, mostBytes: j.mostWarmBytes(),
		messageBytes: w.Message.Mean()}
	run, err := passing(within, &warm, h)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("warm the servers up: %w", ctx.Err())
	}
	if err == nil {
		err = endedIn(&run.Run)
	}
	if err != nil {
		return nil, fmt.Errorf("warm the servers up: %w", err)
	}
	out := h.result()
	out.Asked, out.Ns = j.WarmUp.String(), run.Run.Summary.WindowNs
	out.Acked = run.Run.Counters.Acked
	watch.Phase(result.PhaseConnect, "waiting until the servers are at rest after the warm-up")
	if out.PauseNs, err = j.calm(ctx, bed); err != nil {
		return nil, fmt.Errorf("wait after the warm-up: %w", err)
	}
	out.TookNs = j.Clock.Now() - began
	return out, nil
}

func (j *Job) warmSentence() string {
	if j.WarmUp.Auto {
		return fmt.Sprintf("warming %s up until its servers have levelled off, at most %s",
			j.Target.Name, quantity.ExactDuration(j.WarmUp.most()))
	}
	return fmt.Sprintf("warming %s up for %s", j.Target.Name,
		quantity.ExactDuration(j.WarmUp.Length))
}

// mostWarmBytes returns the most bytes that a warm-up which ends by itself publishes.
func (j *Job) mostWarmBytes() float64 {
	dir := j.dataDir()
	if dir == "" {
		return mostWarmBytes
	}
	free, err := testbed.FreeBytes(dir)
	if err != nil {
		return mostWarmBytes // the start of the servers has checked the disk
	}
	copies := diskOverhead * float64(max(j.Target.Testbed.Nodes, 1))
	return min(mostWarmBytes, warmShare*float64(free)/copies)
}

// endedIn returns an error if a server ended by itself during a run.
func endedIn(r *result.Run) error {
	if len(r.Ended) == 0 {
		return nil
	}
	return fmt.Errorf("node %s ended by itself: its log says why", r.Ended[0].Node)
}

// uneventful removes warm-up, backlog, faults, changes of consumers and audit from a workload.
func uneventful(w *workload.Workload) {
	w.Warmup, w.Settle, w.Backlog, w.Faults, w.Drain = 0, false, nil, nil, warmDrain
	w.Handling, w.Scaling, w.Audit = workload.Handling{}, nil, false
}

// heat watches a warm-up, and ends it when the servers have levelled off.
type heat struct {
	unwatched
	end                     context.CancelFunc
	auto                    bool
	mostBytes, messageBytes float64

	p50, cpu []float64 // ns; of a message. NaN: not known
	acked    []int64
	bytes    float64
	steady   bool
	why      string
}

// Interval takes a reading of the load.
func (h *heat) Interval(i result.Interval) {
	if i.Phase != result.PhaseMeasure || i.EndNs-i.StartNs < int64(warmEvery)/2 || h.steady {
		return
	}
	if h.auto && h.why == "" {
		h.judge() // all earlier readings, whose resources are known
	}
	p50, known := result.Summary{Latency: i.Latency}.Series(result.Publish).At(50)
	v := math.NaN()
	if known && p50 > 0 {
		v = float64(p50)
	}
	h.p50, h.cpu = append(h.p50, v), append(h.cpu, math.NaN())
	h.acked = append(h.acked, i.Acked)
	h.bytes += float64(i.Acked) * h.messageBytes
}

// Resources takes the servers' use of the latest reading.
func (h *heat) Resources(r result.Resources, servers []string) {
	last := len(h.cpu) - 1
	if last < 0 || h.steady || r.Phase != result.PhaseMeasure ||
		slices.Contains(servers, result.Self) {
		return
	}
	if n, used := h.acked[last], cpuSecondsOf(r, servers)*1e9; n > 0 && used > 0 {
		h.cpu[last] = used / float64(n)
	}
}

// judge ends a warm-up that has levelled off, or that has published enough.
func (h *heat) judge() {
	from := h.later()
	if len(h.p50)-from < levelFewest {
		return
	}
	switch {
	case level(h.p50[from:]) && (!h.knowsCPU() || level(h.cpu[from:])):
		h.steady = true
	case h.bytes > h.mostBytes:
		h.why = fmt.Sprintf("stopped after %s, before the servers had levelled off",
			quantity.Bytes(int64(h.bytes)))
	default:
		return
	}
	h.end()
}

// later returns the index of the first reading that counts.
func (h *heat) later() int {
	n := len(h.p50)
	return n - min(max(int(levelShare*float64(n)), levelFewest), n)
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
	w := &result.Warming{Steady: h.steady, Why: h.why}
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
	switch {
	case w.Steady || w.Why != "":
	case !h.auto:
		w.Why = "its length was given, and whether the servers had levelled off was not judged"
	default:
		w.Why = fmt.Sprintf("the servers had not levelled off after %s",
			quantity.ExactDuration(mostAuto))
	}
	return w
}

// gaugeInFlight is the number of messages in flight of each producer of a gauge.
const gaugeInFlight = 512

// Gauge offers a closed loop to a job's system for a length, and returns the rate, in messages per
// second, at which the system acknowledged. A search for the peak may begin near this rate. It is
// not the peak itself: a closed loop does not wait for consumers, and its rate depends on the
// number of messages in flight. The run is not kept.
func Gauge(ctx context.Context, job *Job, length time.Duration, watch Watch) (float64, error) {
	closed, w := *job, *job.Workload
	uneventful(&w)
	w.Load = workload.Load{Closed: &workload.Closed{InFlight: gaugeInFlight,
		Batch: workload.Batch{Least: 1, Most: 1}}}
	w.MaxInFlight, w.Duration = gaugeInFlight, length
	closed.Workload, closed.WarmUp = &w, WarmUp{}
	watch.Phase(result.PhaseConnect, fmt.Sprintf("gauging %s for %s", job.Target.Name,
		quantity.ExactDuration(length)))
	if err := closed.Check(); err != nil {
		return 0, fmt.Errorf("gauge the system: %w", err)
	}
	r, err := passing(ctx, &closed, unwatched{})
	if err != nil {
		return 0, fmt.Errorf("gauge the system: %w", err)
	}
	return r.Run.Summary.AchievedRate, nil
}

// passing measures a job whose run directory is not kept.
func passing(ctx context.Context, job *Job, watch Watch) (*result.Saved, error) {
	if err := os.MkdirAll(job.Runs, 0o755); err != nil {
		return nil, result.InFolder(job.Runs, "create a folder for a run that is not kept", err)
	}
	made, err := leftover.Dir(job.Runs, ".warm-")
	if err != nil {
		return nil, result.InFolder(job.Runs, "create a folder for a run that is not kept", err)
	}
	defer func() { _ = made.Remove() }()
	job.Runs, job.Late, job.Idle, job.Began = made.Path, warmLate, warmLate, nil
	kept, err := Run(ctx, job, watch)
	if err != nil {
		return nil, err
	}
	return result.Read(kept)
}

// unwatched is a Watch that ignores a run's progress.
type unwatched struct{}

func (unwatched) Phase(result.PhaseName, string) {}
func (unwatched) Interval(result.Interval)       {}
