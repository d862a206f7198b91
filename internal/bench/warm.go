package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/internal/observe"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// The time limits at the end of a warm-up. They are short because the measured runs have topics
	// of their own, which leftover messages of the warm-up do not reach.
	warmLate  = time.Second
	warmDrain = 10 * time.Second
	// MostWarm bounds a warm-up of a given length, mostAuto one that ends by itself.
	MostWarm = time.Hour
	mostAuto = 5 * time.Minute
	// warmEvery is the time between two readings of a warm-up.
	warmEvery = 250 * time.Millisecond
	// warmInFlight is the number of messages in flight of all producers in the first pass of a
	// warm-up together. More would be a heavier load, which leaves compilers less of the cores
	// (docs/design/steady.md).
	warmInFlight = 256
	// leastWarmRate is the least rate of the passes of a warm-up, in messages per second: a lower
	// one would take too long.
	leastWarmRate = 1000
)

// WarmUp says how servers that were just started are put under load before they are measured. The
// zero WarmUp does not do so.
type WarmUp struct {
	Auto bool // until they have levelled off
	// Fastest offers as much as the servers carry, also where the workload has a rate, as before a
	// search for the peak.
	Fastest bool
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
		return w, fmt.Errorf("must be auto, or 0s to %s, not %s",
			quantity.ExactDuration(MostWarm), text)
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
const leastAuto = laterFewest / laterShare * warmEvery

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

// warmWatch is a Watch that also shows how far a warm-up has come.
type warmWatch interface{ Warming(words string) }

// warm puts the servers of a testbed, or of the job's target, under load.
func (j *Job) warm(ctx context.Context, bed *testbed.Testbed, watch Watch) (
	*result.Warming, error) {
	watch.Phase(result.PhaseConnect, j.warmSentence())
	began := j.Clock.Now()
	warm := *j
	w, rate := j.heatLoad()
	warm.Workload, warm.Interval, warm.WarmUp, warm.passing = &w, warmEvery, WarmUp{}, true
	if bed != nil {
		warm.Cluster = &Cluster{testbed: bed}
		defer observe.CompilersFirst(pidsOf(serversOf(j, bed))...)()
	}
	h := &heat{up: j.WarmUp, rate: rate, room: j.roomFor(bed), messageBytes: w.Message.Mean()}
	if j.OnHosts == 0 && j.Workload.Load.Closed == nil {
		h.cores = runtime.NumCPU()
	}
	if w, shows := watch.(warmWatch); shows {
		h.tell = w.Warming
	}
	for !h.over() {
		left := w.Duration - time.Duration(h.ns)
		if left < warmEvery {
			break
		}
		err := h.pass(ctx, warm, bed, left)
		switch {
		case err != nil && bed == nil && ctx.Err() == nil:
			return nil, fmt.Errorf("warm the servers up: %w: leave --warm out, and use the "+
				"workload's own warmup", err)
		case err != nil:
			return nil, fmt.Errorf("warm the servers up: %w", err)
		}
	}
	out := h.result()
	out.Asked = j.WarmUp.String()
	watch.Phase(result.PhaseConnect, "waiting until the servers are at rest after the warm-up")
	var err error
	if out.PauseNs, err = j.calm(ctx, bed); err != nil {
		return nil, fmt.Errorf("wait after the warm-up: %w", err)
	}
	out.TookNs = j.Clock.Now() - began
	return out, nil
}

// heatLoad returns the job's workload with the load with which a warm-up begins: a closed loop.
// rate is that of later passes, in messages per second; 0: they have the same load.
func (j *Job) heatLoad() (w workload.Workload, rate float64) {
	w = *j.Workload
	uneventful(&w)
	w.Isolate = workload.Isolate{CPUs: workload.CPUsShared} // the run itself isolates
	w.Duration = j.WarmUp.most()
	if w.Load.Closed != nil {
		return w, 0
	}
	if s := w.Load.Segments; len(s) == 1 && s[0].From == s[0].To && !j.WarmUp.Fastest {
		rate = max(s[0].From, leastWarmRate)
	}
	w.MaxInFlight = min(max(warmInFlight/(w.Topics*w.Producers), 1), gaugeInFlight)
	w.Load = workload.Load{Closed: &workload.Closed{InFlight: w.MaxInFlight,
		Batch: workload.Batch{Least: 1, Most: 1}}}
	return w, rate
}

func pidsOf(all []target.Process) (pids []int) {
	for _, p := range all {
		if p.PID != os.Getpid() {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

func (j *Job) warmSentence() string {
	if j.WarmUp.Auto {
		return fmt.Sprintf("warming %s up until its servers have levelled off, at most %s",
			j.Target.Name, quantity.ExactDuration(j.WarmUp.most()))
	}
	return fmt.Sprintf("warming %s up for %s", j.Target.Name,
		quantity.ExactDuration(j.WarmUp.Length))
}

// uneventful removes warm-up, backlog, faults, changes of consumers and audit from a workload, and
// its classes, whose messages all producers then send: a closed loop has none.
func uneventful(w *workload.Workload) {
	if w.Classes = nil; w.Keyless() {
		w.Spread = cmp.Or(w.Spread, workload.SpreadClient)
	}
	w.Warmup, w.Settle, w.Backlog, w.Faults, w.Drain = 0, false, nil, nil, warmDrain
	w.Handling, w.Scaling, w.Audit = workload.Handling{}, nil, false
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

// passing measures a job whose run directory is not kept. It also returns a run that failed.
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
	if kept == "" {
		return nil, err
	}
	run, unread := result.Read(kept)
	return run, cmp.Or(err, unread)
}

// unwatched is a Watch that ignores a run's progress.
type unwatched struct{}

func (unwatched) Phase(result.PhaseName, string) {}
func (unwatched) Interval(result.Interval)       {}
