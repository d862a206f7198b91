package fleet

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/skew"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// What chrony says on each machine is in the result, and where it is silent nothing is. What no
// chrony says is refused.
func TestChronysWord(t *testing.T) {
	t.Parallel()
	of, own := newCommon(), &skew.Chrony{Synchronised: true, Stratum: 2, BoundNs: 5}
	c, err := Listen(Options{Address: "127.0.0.1:0", Workers: 2, Version: version,
		Clock: clock.Precise(), chronys: func(context.Context) *skew.Chrony { return own }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	said := map[string]*skew.Chrony{"w0": {Synchronised: true, Stratum: 3, BehindNs: -7, BoundNs: 9},
		"w1": nil, "bad": {Stratum: 99}}
	start := func(name string) *hired {
		return hireWith(t, WorkerOptions{Coordinator: c.Address(), Token: c.Token(), Name: name,
			Host: "there", Version: version, Cores: 1, Systems: system.NewRegistry(of),
			elsewhere: true, Clock: clock.Precise(),
			chronys: func(context.Context) *skew.Chrony { return said[name] }})
	}
	if err := checkHello(hello{Name: "bad", Chrony: said["bad"]}); err == nil {
		t.Error("a stratum of 99 is taken")
	}
	start("w0")
	start("w1")
	if err := c.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	workers, here := c.Describe()
	if here == nil || *here != result.Chrony(*own) || workers[0].Chrony == nil ||
		*workers[0].Chrony != result.Chrony(*said["w0"]) || workers[1].Chrony != nil {
		t.Errorf("%+v and %+v", here, workers)
	}
}

// awry opens a fleet of workers whose clocks are wrong by what is planted.
func awry(t *testing.T, of system.System, all ...skew.Planted) *Coordinator {
	t.Helper()
	c := listen(t, len(all))
	for i, planted := range all {
		hireWith(t, WorkerOptions{Coordinator: c.Address(), Token: c.Token(),
			Name: fmt.Sprintf("w%d", i), Host: "there", Version: version, Cores: 1,
			Systems: system.NewRegistry(of), elsewhere: true,
			Clock: skew.Plant(clock.Precise(), planted)})
	}
	if err := c.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// Workers whose clocks are seconds apart measure the latency that there is, within the bound that
// the result states.
func TestOtherClocks(t *testing.T) {
	t.Parallel()
	of := newCommon()
	job := jobOn(t, of, 2*time.Second)
	job.Crew = awry(t, of, skew.Planted{OffsetNs: 3e9, DriftPPM: 80},
		skew.Planted{OffsetNs: -2e9, DriftPPM: -80})
	got, err := ran(t, job)
	if err != nil {
		t.Fatal(err)
	}
	for i, offset := range []int64{-3e9, 2e9} {
		w := got.Run.Workers[i]
		if away := w.ClockOffsetNs - offset; w.SameClock || w.ClockBoundNs <= 0 ||
			away > int64(10*time.Millisecond) || away < -int64(10*time.Millisecond) {
			t.Errorf("%+v", w)
		}
	}
	latency := got.Run.Summary.Series(result.EndToEnd)
	if latency.Count != 2*4000 || time.Duration(latency.MeanNs) > time.Second {
		t.Errorf("end to end: %+v", latency)
	}
	if latency.ErrorNs != got.Run.Workers[0].ClockBoundNs+got.Run.Workers[1].ClockBoundNs {
		t.Errorf("an error of %d", latency.ErrorNs)
	}
	for _, p := range latency.Percentiles {
		if p.LatencyNs < result.ErrorShare*latency.ErrorNs {
			t.Errorf("p%v %d is known to ± %d only", p.Percentile, p.LatencyNs, latency.ErrorNs)
		}
	}
	if got.Run.Counters.Acked != 4000 {
		t.Errorf("%+v", got.Run.Counters)
	}
}

// A clock that steps in mid-run marks the run.
func TestSteppedClock(t *testing.T) {
	t.Parallel()
	of := newCommon()
	job := jobOn(t, of, time.Minute)
	job.Crew = awry(t, of, skew.Planted{},
		skew.Planted{StepNs: 2e9, StepAfterNs: int64(6 * time.Second)})
	got, err := ran(t, job)
	if err == nil || got.Run.State != result.Failed ||
		!strings.Contains(got.Run.StateReason, "the clock of worker w1 stepped by") {
		t.Errorf("%s: %s", got.Run.State, got.Run.StateReason)
	}
}
