package bench_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// coldly measures a load on a simulated system that is cold at first. About 100 ms for a message keep
// the closed loop of the warm-up small.
func coldly(t *testing.T, w *workload.Workload, warm bench.WarmUp, settings map[string]string) (
	s *result.Saved, left int) {
	t.Helper()
	all := map[string]string{"service": "lognormal", "service_sigma": "0.2",
		"service_time": "100ms", "cpu_per_message": "1ms", "cold_times": "5"}
	for name, value := range settings {
		all[name] = value
	}
	s = onSimAs(t, w, all, func(job *bench.Job, _ *sim.System) { job.WarmUp = warm })
	verdict.JudgeSaved(s)
	entries, err := os.ReadDir(filepath.Dir(s.Dir))
	if err != nil {
		t.Fatal(err)
	}
	return s, len(entries)
}

// A warm-up ends when the planted coldness is over, or says that it cannot.
func TestTruthWarmUpEndsWhenServersAreWarm(t *testing.T) {
	skipUnderRace(t)
	for name, c := range map[string]struct {
		settings    map[string]string
		least, most time.Duration // under load
		factor      float64       // of the CPU time at the end
		why         string
	}{
		"warm":        {map[string]string{"cold_times": "1"}, 5 * time.Second, 9 * time.Second, 1, ""},
		"exponential": {map[string]string{"cold_for": "4s"}, 15 * time.Second, 40 * time.Second, 1, ""},
		"steps": {map[string]string{"cold_for": "3s", "cold_course": "steps"}, 11 * time.Second,
			20 * time.Second, 1, ""},
		"cold again": {map[string]string{"cold_for": "1s", "cold_course": "again"}, 13 * time.Second,
			30 * time.Second, 3, ""},
		"never": {map[string]string{"cold_for": "12s", "cold_course": "sawtooth"},
			5*time.Minute - time.Second, 5*time.Minute + time.Second, 0,
			"over after 5m, before the servers had levelled off"},
	} {
		t.Run(name, func(t *testing.T) {
			s, left := coldly(t, load(10, 2*time.Second), bench.WarmUp{Auto: true}, c.settings)
			w := s.Run.Warming
			if w == nil || w.Steady != (c.why == "") || w.Why != c.why || w.Shared ||
				time.Duration(w.Ns) < c.least || time.Duration(w.Ns) > c.most {
				t.Fatalf("%+v", w)
			}
			if c.factor > 0 && (w.CPULastNs < 0.95e6*c.factor || w.CPULastNs > 1.15e6*c.factor) {
				t.Errorf("the CPU time at the end is %v ns, want %v ms", w.CPULastNs, c.factor)
			}
			// What the warm-up sent is in no figure of the run.
			if s.Run.Counters.Scheduled != 20 || left != 2 {
				t.Errorf("%+v, %d entries are left", s.Run.Counters, left)
			}
		})
	}
}

// A length is kept, and nothing is said about what it achieved.
func TestTruthWarmUpOfALength(t *testing.T) {
	skipUnderRace(t)
	s, _ := coldly(t, load(10, time.Second), bench.WarmUp{Length: 7 * time.Second},
		map[string]string{"cold_for": "1s"})
	w := s.Run.Warming
	if w == nil || w.Asked != "7s" || time.Duration(w.Ns).Round(time.Second) != 7*time.Second ||
		w.Steady || w.Acked < 1000 || w.CPUFirstNs < 2e6 || w.P50LastNs == 0 {
		t.Errorf("%+v", w)
	}
	// Servers that do not compile are warmed by a closed loop, whatever the workload's rate is.
	s, _ = coldly(t, load(10, time.Second), bench.WarmUp{Length: 5 * time.Second},
		map[string]string{"cold_times": "1"})
	if s.Run.Warming.Acked < 10_000 {
		t.Errorf("%+v", s.Run.Warming)
	}
	if s, _ = coldly(t, load(10, time.Second), bench.WarmUp{}, nil); s.Run.Warming != nil {
		t.Errorf("%+v", s.Run.Warming)
	}
}

// Of 20 windows on cold servers at least 19 are not steady, and of 20 on warm ones at most 1.
func TestTruthColdWindowsAreNotSteady(t *testing.T) {
	skipUnderRace(t)
	const seeds = 20
	broken := map[bool]int{}
	for seed := range uint64(seeds) {
		for _, warm := range []bool{false, true} {
			w := load(200, 30*time.Second)
			w.Seed = seed + 1
			settings := map[string]string{"service_time": "20ms", "cold_for": "3s",
				"seed": strconv.Itoa(int(seed))}
			if warm {
				settings["cold_times"] = "1"
			}
			s, _ := coldly(t, w, bench.WarmUp{}, settings)
			for _, v := range s.Run.Verdicts {
				if v.Name == verdict.Steady && v.Outcome == result.Broken {
					broken[warm]++
				}
			}
		}
	}
	t.Logf("broken: %v", broken)
	if broken[false] < seeds-1 || broken[true] > 1 {
		t.Errorf("%d of %d cold windows are broken, %d of %d warm ones", broken[false], seeds,
			broken[true], seeds)
	}
}

// An interrupt in the warm-up ends the run before anything is measured, and leaves nothing.
func TestTruthInterruptedWarmUp(t *testing.T) {
	runs := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		job := jobOn(t, sim.New(clock.Timers(), nil), runs, load(10, time.Second),
			map[string]string{"service_time": "100ms"})
		job.WarmUp.Auto = true
		ctx, stop := context.WithCancel(context.Background())
		time.AfterFunc(3*time.Second, stop)
		if dir, err := bench.Run(ctx, job, silent{}); dir != "" || err == nil ||
			!strings.Contains(err.Error(), "warm the servers up: ") {
			t.Errorf("%q, %v", dir, err)
		}
	})
	if left, err := os.ReadDir(runs); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// The servers of the caller are warmed up once, and each run on them says so.
func TestTruthSharedServersAreWarmedOnce(t *testing.T) {
	skipUnderRace(t)
	var dirs []string
	s, root, logs := &started{}, t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s.sim = sim.New(clock.Timers(), nil)
		job := startedJob(t, s, root, map[string]string{"service": "lognormal",
			"service_sigma": "0.2", "service_time": "100ms"})
		job.WarmUp.Auto = true
		var err error
		if job.Cluster, err = bench.OpenCluster(t.Context(), job, logs, silent{}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := bench.Warm(t.Context(), job, silent{}); err != nil {
				t.Fatal(err)
			}
			dir, err := bench.Run(t.Context(), job, silent{})
			if err != nil {
				t.Fatal(err)
			}
			dirs = append(dirs, dir)
		}
		if err := job.Cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	if len(s.connected) != 3 || s.up != 1 || s.deleted != 3 {
		t.Errorf("%d connections, %d clusters, %d topics deleted", len(s.connected), s.up, s.deleted)
	}
	for _, dir := range dirs {
		saved, err := result.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if w := saved.Run.Warming; w == nil || !w.Shared || !w.Steady {
			t.Errorf("%+v", w)
		}
	}
}

// Servers that run already are warmed up when asked, by the first run of those that share them, on
// topics that are then deleted.
func TestTruthServersThatRunAlreadyAreWarmedOnce(t *testing.T) {
	skipUnderRace(t)
	for _, c := range []struct {
		name   string
		share  bool   // the jobs share what is known of the servers
		before bool   // Warm is called before the runs
		shared []bool // each run says so
	}{
		{"by the first run", true, false, []bool{false, true}},
		{"before the runs", true, true, []bool{true, true}},
		{"by each run", false, false, []bool{false, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var dirs []string
			s, root := &started{}, t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s.sim = sim.New(clock.Timers(), nil)
				job := startedJob(t, s, root, map[string]string{"service": "lognormal",
					"service_sigma": "0.2", "service_time": "100ms"})
				job.Target.Endpoints = s.Endpoints()
				job.WarmUp.Auto = true
				if c.share {
					job.Warmth = &bench.Warmth{}
				}
				if c.before {
					if err := bench.Warm(t.Context(), job, silent{}); err != nil {
						t.Fatal(err)
					}
				}
				for range c.shared {
					of := *job
					dir, err := bench.Run(t.Context(), &of, silent{})
					if err != nil {
						t.Fatal(err)
					}
					dirs = append(dirs, dir)
				}
			})
			warmUps := 1
			if !c.share {
				warmUps = len(dirs)
			}
			if n := len(dirs) + warmUps; len(s.connected) != n || s.deleted != n || s.up > 0 {
				t.Errorf("%d connections, %d topics deleted, %d clusters", len(s.connected),
					s.deleted, s.up)
			}
			for i, dir := range dirs {
				saved, err := result.Read(dir)
				if err != nil {
					t.Fatal(err)
				}
				w := saved.Run.Warming
				if w == nil || w.Shared != c.shared[i] || !w.Steady {
					t.Errorf("run %d: %+v", i, w)
				}
			}
		})
	}
}

// A warm-up is refused where it would touch the topics of others.
func TestWarmUpIsRefused(t *testing.T) {
	job := jobOn(t, sim.New(clock.Timers(), nil), t.TempDir(), load(10, time.Second), nil)
	job.WarmUp.Auto = true
	if err := job.Check(); err != nil {
		t.Fatal(err)
	}
	w := *job.Workload
	w.Existing, job.Workload = []string{"orders"}, &w
	if err := job.Check(); err == nil || !strings.Contains(err.Error(), "leave --warm out") {
		t.Error(err)
	}
}

func TestParseWarmUp(t *testing.T) {
	for text, want := range map[string]bench.WarmUp{"auto": {Auto: true}, "0s": {}, "0": {},
		"90s": {Length: 90 * time.Second}, "1h": {Length: time.Hour},
		"auto 1m": {Auto: true, Length: time.Minute}} {
		got, err := bench.ParseWarmUp(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, err := bench.ParseWarmUp(got.String()); err != nil || again != got {
			t.Errorf("%s reads as %+v, and that as %+v, %v", text, got, again, err)
		}
	}
	for text, want := range map[string]string{"soon": "or auto", "2h": "auto, or 0s to 1h",
		"-1s": "", "": "", "Auto": "", "auto 0s": "auto, or 0s", "auto 2h": "auto, or 0s",
		"automatic": "or auto"} {
		if _, err := bench.ParseWarmUp(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTakes(t *testing.T) {
	w := workload.Default() // 3s and 15s, and at most 30s of drain
	for _, c := range []struct {
		warm        bench.WarmUp
		least, most time.Duration
	}{
		{bench.WarmUp{}, 18 * time.Second, 48 * time.Second},
		{bench.WarmUp{Length: 2 * time.Second}, 20 * time.Second, 91 * time.Second},
		{bench.WarmUp{Auto: true, Length: time.Minute}, 30 * time.Second, 149 * time.Second},
		{bench.WarmUp{Auto: true}, 30 * time.Second, 389 * time.Second},
	} {
		job := &bench.Job{Workload: w, WarmUp: c.warm, Target: &target.Target{},
			System: sim.New(clock.Precise(), nil)}
		if least, most := job.Takes(); least != c.least || most != c.most {
			t.Errorf("%s: %s to %s, want %s to %s", c.warm, least, most, c.least, c.most)
		}
	}
}
