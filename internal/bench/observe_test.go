package bench_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
)

func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("what a run costs is observed on Linux only")
	}
}

// Every second of a run is observed once, and the run sums up those of its
// window.
func TestRunsSayWhatTheyCost(t *testing.T) {
	onLinux(t)
	w := load(1000, 3*time.Second)
	w.Warmup = time.Second
	s, _ := onSim(t, w, nil)
	o := s.Run.Observation
	if !slices.Equal(o.Servers, []string{result.Self}) || len(o.Methods) == 0 ||
		len(o.Processes) != 1 || o.Processes[0].PID != os.Getpid() {
		t.Errorf("%+v", o)
	}
	var window int64
	last := s.Resources[0].StartNs
	for _, r := range s.Resources {
		if r.StartNs != last || r.EndNs <= r.StartNs || len(r.Processes) != 1 {
			t.Errorf("after %d: %+v", last, r)
		}
		last = r.EndNs
		if r.Phase == result.PhaseMeasure {
			window += r.EndNs - r.StartNs
		}
	}
	if len(s.Resources) != len(s.Intervals) || o.WindowNs != window || window < 2.9e9 ||
		window > 3.1e9 {
		t.Errorf("%d lines of %d intervals, %d ns in the window, %d summed", len(s.Resources),
			len(s.Intervals), window, o.WindowNs)
	}
}

// bed is sim with the interfaces of a system with servers; the servers are idle processes.
type bed struct {
	sim     *sim.System
	servers []*exec.Cmd
}

func (b *bed) Describe() system.Description { return b.sim.Describe() }
func (b *bed) Check(c system.Check) error   { return b.sim.Check(c) }

func (b *bed) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	return b.sim.Connect(ctx, o)
}

// start starts a process that does nothing.
func (b *bed) start(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n := len(b.servers)
	b.servers = append(b.servers, cmd)
	t.Cleanup(func() { b.kill(n) })
	return cmd.Process.Pid
}

func (b *bed) kill(n int) {
	_ = b.servers[n].Process.Kill()
	_, _ = b.servers[n].Process.Wait()
}

// heard records a watcher's calls.
type heard struct{ sentences []string }

func (h *heard) Phase(_ result.PhaseName, sentence string) {
	h.sentences = append(h.sentences, sentence)
}
func (h *heard) Interval(result.Interval) {}

// external returns a job against a cluster that runs already.
func external(t *testing.T, b *bed, processes []target.Process) *bench.Job {
	t.Helper()
	settings, err := system.Resolve(b.Describe().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &bench.Job{
		Workload: load(1000,
			4*time.Second), System: b, Settings: settings, Runs: t.TempDir(),
		Clock: clock.Virtual(), Process: time.Now(),
		Target: &target.Target{Name: "bed", System: "sim", Endpoints: []string{"127.0.0.1:1"},
			Processes: processes},
	}
}

// A server that dies in the middle of a run does not end it, and is on its
// time line.
func TestAServerThatEndsIsAnEvent(t *testing.T) {
	onLinux(t)
	b := &bed{sim: sim.New(clock.Timers(), nil)}
	processes := []target.Process{{Name: "n1", PID: b.start(t)}, {Name: "n2", PID: b.start(t)}}
	job := external(t, b, processes)
	watch := &heard{}
	var dir string
	synctest.Test(t, func(t *testing.T) {
		if err := job.Check(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2500*time.Millisecond, func() { b.kill(1) })
		var err error
		if dir, err = bench.Run(t.Context(), job, watch); err != nil {
			t.Fatal(err)
		}
	})
	s, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var faults []result.Event
	for _, e := range s.Events {
		if e.Kind == "fault" {
			faults = append(faults, e)
		}
	}
	if len(faults) != 1 || !strings.HasPrefix(faults[0].Sentence, "node n2 (pid ") ||
		faults[0].AtNs < 2.4e9 || faults[0].AtNs > 4e9 ||
		!slices.Contains(watch.sentences, faults[0].Sentence) {
		t.Errorf("faults %+v, told %q", faults, watch.sentences)
	}
	if s.Run.State != result.Complete || s.Run.Counters.Acked != 4000 ||
		!slices.Equal(s.Run.Observation.Servers, []string{"n1", "n2"}) {
		t.Errorf("%s, acked %d, servers %v", s.Run.State, s.Run.Counters.Acked,
			s.Run.Observation.Servers)
	}
	if last := s.Resources[len(s.Resources)-1].Processes; len(last) != 2 || last[0].Name != "n1" {
		t.Errorf("at the end %+v", last)
	}
}

func TestJobsThatCannotBeObservedOrIsolatedAreRefused(t *testing.T) {
	onLinux(t)
	b := &bed{sim: sim.New(clock.Timers(), nil)}
	ended := b.start(t)
	b.kill(0)
	for _, c := range []struct {
		change func(*bench.Job)
		want   string
	}{
		{func(j *bench.Job) { j.Target.Processes[0].PID = ended },
			"processes: n1 cannot be observed: no process"},
		{func(j *bench.Job) { j.Target.Processes[0].PID = os.Getpid() }, "is plimsoll itself"},
		{func(j *bench.Job) {
			j.Target.Processes, j.Target.Endpoints = nil, []string{"192.0.2.1:9092"}
			j.Workload.Isolate.DropPageCache = true
		}, "none of the servers runs on it"},
	} {
		job := external(t, b, []target.Process{{Name: "n1", PID: 1}})
		if err := job.Check(); err != nil {
			t.Fatal(err)
		}
		c.change(job)
		if err := job.Check(); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestThePageCacheIsDroppedOrRefused(t *testing.T) {
	job := external(t, &bed{sim: sim.New(clock.Timers(), nil)}, nil)
	job.Workload.Isolate.DropPageCache = true
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		if err := job.Check(); err == nil ||
			!strings.Contains(err.Error(), "isolate.drop_page_cache: ") ||
			!strings.Contains(err.Error(), "only") {
			t.Error(err)
		}
		return
	}
	if testing.Short() {
		t.Skip("drops the page cache of this machine")
	}
	if err := job.Check(); err != nil {
		t.Skip("NOT TESTED: root may not drop the page cache here: ", err)
	}
	job.Workload.Duration, job.Workload.Load.Segments[0].For = 100*time.Millisecond,
		100*time.Millisecond
	dir, err := bench.Run(t.Context(), job, silent{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(s.Events,
		func(e result.Event) bool {
			return e.Kind == "note" &&
				strings.Contains(e.Sentence, "dropped")
		}) || !s.Run.Load.DropPageCache {
		t.Errorf("%+v", s.Events)
	}
}
