package bench

import (
	"math"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// reading is a quarter of a second of a warm-up of two servers.
type reading struct {
	acked, failed int64
	memory        float64 // of each server
	alive         []string
}

// heated feeds readings to a watch until it ends the warm-up. It returns how many it took.
func heated(h *heat, readings int, at func(i int) reading) (taken int) {
	ended := false
	h.end = func() { ended = true }
	for taken = 0; taken < readings && !ended; taken++ {
		r := at(taken)
		from := int64(taken) * int64(warmEvery)
		i := result.Interval{Phase: result.PhaseMeasure, StartNs: from,
			EndNs: from + int64(warmEvery), Acked: r.acked, Failed: r.failed}
		if r.acked > 0 {
			i.Latency = []result.Latency{{Series: result.Send,
				Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 1e6}}}}
		}
		h.Interval(i)
		use := result.Resources{Phase: result.PhaseMeasure}
		for _, name := range r.alive {
			use.Processes = append(use.Processes, result.ProcessUse{Name: name, CPUSeconds: 0.1,
				RSSBytes: int64(r.memory)})
		}
		h.Resources(use, []string{"n1", "n2"})
	}
	return taken
}

// A warm-up ends when the servers cannot go on, or when it has taken its room, whatever its length
// was to be.
func TestWarmUpsThatCannotGoOn(t *testing.T) {
	both := []string{"n1", "n2"}
	refused := &result.Saved{Run: result.Run{Errors: []result.Error{{Message: "the disk is full",
		Count: 9}}}}
	for name, c := range map[string]struct {
		at     func(i int) reading
		run    *result.Saved
		taken  int
		failed string
		why    string
	}{
		"a server ends": {func(i int) reading {
			return reading{1000, 0, 1e8, both[:2-i/10]}
		}, nil, 11, "node n2 ended by itself", ""},
		"nothing is acknowledged": {func(i int) reading {
			return reading{int64(max(10-i, 0)), 0, 1e8, both}
		}, nil, 70, "the servers acknowledged no message for 15s", ""},
		"every message is refused": {func(int) reading { return reading{0, 1, 1e8, both} },
			refused, 8, "the servers refused messages: the disk is full", ""},
		"every message is refused for a second": {func(i int) reading {
			return reading{int64(1000 * min(i/4, 1)), int64(max(4-i, 0)), 1e8, both}
		}, nil, 240, "", ""},
		"most are refused later": {func(i int) reading {
			return reading{1000, int64(i) * 200, 1e8, both}
		}, refused, 14, "", "stopped after 13.4MB, when the servers refused messages: the disk " +
			"is full"},
		"the disk": {func(int) reading { return reading{1e6, 0, 1e8, both} }, nil, 7, "",
			"stopped after 5.59GB, before the servers had levelled off"},
		"the memory": {func(i int) reading {
			return reading{1000, 0, 1e8 * float64(i+1), both}
		}, nil, 18, "", "stopped when the memory of the servers had grown by 2.98GB, before they " +
			"had levelled off"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &heat{up: WarmUp{Length: time.Minute}, room: room{published: 5e9, memory: 3e9},
				messageBytes: 1000}
			taken := heated(h, 240, c.at)
			err := h.conclude(nil, c.run)
			if said := fmtError(err); said != c.failed || h.result().Why != c.why ||
				taken != c.taken {
				t.Errorf("%q, %q after %d readings", said, h.result().Why, taken)
			}
		})
	}
	// Without any of that the length is kept.
	h := &heat{up: WarmUp{Length: time.Minute}, room: room{math.Inf(1), math.Inf(1)}}
	steady := func(int) reading { return reading{1000, 0, 1e8, both} }
	if n := heated(h, 240, steady); n != 240 || h.conclude(nil, refused) != nil ||
		h.result().Why != "" {
		t.Errorf("%d readings, %+v", n, h.result())
	}
	h.up = WarmUp{Auto: true}
	if n := heated(h, 240, steady); n != 1 || !h.result().Steady {
		t.Errorf("%d more readings, %+v", n, h.result())
	}
}

// Servers that cost more and more at full load, as they hold more, have another pass at the
// workload's rate, and are warm when they keep a level there.
func TestServersThatLevelOffAtTheWorkloadsRate(t *testing.T) {
	h := &heat{up: WarmUp{Auto: true}, rate: 2000, messageBytes: 1000,
		room: room{math.Inf(1), math.Inf(1)}}
	w := workload.Default()
	w.Load = workload.Load{Closed: &workload.Closed{InFlight: 100}}
	if first := h.passLoad(w, time.Minute); first.Load.Closed == nil {
		t.Errorf("the first pass has the load %+v", first.Load)
	}
	both := []string{"n1", "n2"}
	costlier := func(i int) reading { return reading{int64(40_000 / (10 + i)), 0, 1e8, both} }
	if n := heated(h, 240, costlier); n != passReadings+1 || h.steady {
		t.Errorf("the first pass ended after %d readings, level: %t", n, h.steady)
	}
	later := h.passLoad(w, time.Minute).Load
	if later.Closed != nil || len(later.Segments) != 1 || later.Segments[0].From != 2000 {
		t.Errorf("the second pass has the load %+v", later)
	}
	h.began = len(h.p50)
	steady := func(i int) reading {
		if i == passOpening+laterFewest/2 {
			return reading{0, 0, 1e8, both}
		}
		return reading{500, 0, 1e8, both}
	}
	if n := heated(h, 240, steady); n != passOpening+laterFewest+1 || !h.steady ||
		h.result().RateMsgsPerS != 2000 {
		t.Errorf("the second pass ended after %d readings: %+v", n, h.result())
	}
	// A reading without an answer, and so without a cost, hides none of the others.
	h = &heat{up: WarmUp{Auto: true}, rate: 2000, messageBytes: 1000, room: h.room}
	stalled := func(i int) reading {
		if i == 2 {
			return reading{0, 0, 1e8, both}
		}
		return costlier(i)
	}
	if n := heated(h, 240, stalled); n != passReadings+1 || h.steady {
		t.Errorf("after a stall the first pass ended after %d readings, level: %t", n, h.steady)
	}
	// There publish p50 may swing.
	h = &heat{up: WarmUp{Auto: true}, rate: 2000, room: h.room}
	if n := warming(h, true, nil); n > 2*passReadings || !h.steady {
		t.Errorf("on a noisy machine: %d readings, level: %t", n, h.steady)
	}
}

// A closed loop whose clients wait for batches leaves servers idle, whose code then takes minutes
// to become hot: it gets more messages in flight, if that gains something.
func TestIdleServersGetMoreInFlight(t *testing.T) {
	both := []string{"n1", "n2"}
	for name, c := range map[string]struct {
		cores int     // each server uses 0.1 s of a quarter of a second
		gain  float64 // of a pass
		size  float64 // of a message, in bytes
		want  []int
	}{
		"idle":            {8, 2, 1000, []int{64, 256, 1024, 1024}},
		"behind a disk":   {8, 1, 1000, []int{64, 256, 256, 256}},
		"busy":            {2, 2, 1000, []int{64, 64, 64, 64}},
		"of others":       {0, 2, 1000, []int{64, 64, 64, 64}},
		"large messages":  {8, 2, 1e6, []int{64, 64, 64, 64}},
		"larger messages": {8, 2, 100_000, []int{64, 167, 167, 167}},
	} {
		h := &heat{up: WarmUp{Auto: true}, cores: c.cores, messageBytes: c.size,
			room: room{math.Inf(1), math.Inf(1)}}
		w := workload.Default()
		w.Topics, w.Producers, w.MaxInFlight = 1, 4, 64
		w.Load = workload.Load{Closed: &workload.Closed{InFlight: 64}}
		acked := 1000.0
		for pass, want := range c.want {
			load := h.passLoad(w, time.Minute)
			if load.Load.Closed.InFlight != want || load.MaxInFlight != want {
				t.Errorf("%s, pass %d: %d of at most %d in flight, want %d", name, pass,
					load.Load.Closed.InFlight, load.MaxInFlight, want)
			}
			h.began = len(h.p50)
			heated(h, laterFewest, func(i int) reading { // never level
				return reading{int64(acked) / int64(1+i%2), 0, 1e8, both}
			})
			acked *= c.gain
		}
		if w.Load.Closed.InFlight != 64 {
			t.Errorf("%s: the workload itself changed: %+v", name, w.Load.Closed)
		}
	}
}

// Servers whose CPU time is not known, as those in plimsoll's process, stay at full load.
func TestServersOfUnknownCostStayInOnePass(t *testing.T) {
	h := &heat{up: WarmUp{Auto: true}, rate: 2000, room: room{math.Inf(1), math.Inf(1)},
		end: func() { t.Fatal("the pass ended") }}
	for i := range int64(2 * passReadings) {
		h.Interval(result.Interval{Phase: result.PhaseMeasure, StartNs: i * int64(warmEvery),
			EndNs: (i + 1) * int64(warmEvery), Acked: 250, Latency: []result.Latency{{
				Series: result.Send, Count: 250, Percentiles: []result.Percentile{
					{Percentile: 50, LatencyNs: 1e6 * (1 + i)}}}}})
	}
}

func fmtError(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A warm-up has a share of the disk that its servers use, if that is known, and of the machine's
// memory.
func TestRoomForAWarmUp(t *testing.T) {
	job := &Job{System: sim.New(clock.Precise(), nil), Workload: workload.Default(),
		Target: &target.Target{Endpoints: []string{"a"}}}
	job.WarmUp.Length = time.Minute
	if r := job.roomFor(nil); !math.IsInf(r.published, 1) {
		t.Errorf("%v bytes on a disk that is not known", r.published)
	}
	auto := *job
	if auto.WarmUp = (WarmUp{Auto: true}); auto.roomFor(nil).published != mostUnseenBytes {
		t.Errorf("%v bytes on a cluster of the user's", auto.roomFor(nil).published)
	}
	job.DataDir = t.TempDir()
	one := job.roomFor(nil)
	job.Target.Processes = make([]target.Process, 3)
	three := job.roomFor(nil)
	if r := one.published / three.published; r < 2 || r > 4 || three.published <= 0 {
		t.Errorf("%v bytes for a single copy, %v for three", one.published, three.published)
	}
	if job.WarmUp = (WarmUp{Auto: true}); job.roomFor(nil).published > mostWarmBytes {
		t.Errorf("%v bytes until the servers have levelled off", job.roomFor(nil).published)
	}
}

// warming feeds readings to a heat, pass by pass, until it is over: the servers carry 1,000
// messages a second at a constant CPU time, of which they compile for a share that depends on the
// reading and on the number of readings of the pass before it. Publish p50 of a noisy machine
// swings. It returns the number of readings.
func warming(h *heat, noisy bool, compiled func(reading, ofPass int) float64) (readings int) {
	const limit = 1200 // 5 minutes
	for readings < limit && !h.over() {
		ended := false
		h.end, h.began = func() { ended = true }, len(h.p50)
		for i := 0; !ended && readings < limit; i++ {
			start, p50 := int64(readings)*int64(warmEvery), int64(5e6)
			if noisy && i/6%2 == 1 { // every 1.5 s
				p50 *= 3
			}
			h.Interval(result.Interval{Phase: result.PhaseMeasure, StartNs: start,
				EndNs: start + int64(warmEvery), Acked: 250, Latency: []result.Latency{{
					Series: result.Send, Count: 250,
					Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: p50}}}}})
			use := []result.ProcessUse{{Name: "n1", CPUSeconds: 0.2}, {Name: "n2", CPUSeconds: 0.2},
				{Name: result.Self, CPUSeconds: 9}}
			if compiled != nil {
				ns := int64(compiled(readings, i) * 0.2e9)
				use[0].CompileNs, use[2].CompileNs = &ns, &ns
			}
			h.Resources(result.Resources{Phase: result.PhaseMeasure, Processes: use},
				[]string{"n1", "n2"})
			readings++
		}
	}
	return readings
}

// Latency and CPU time per message of servers that compile may be level long before they have
// done so: what they compile decides.
func TestWarmUpEndsWhenServersHaveCompiled(t *testing.T) {
	const perSecond = 4
	for name, c := range map[string]struct {
		noisy       bool
		compiled    func(reading, ofPass int) float64
		least, most int // seconds
	}{
		"nothing": {false, func(int, int) float64 { return 0 }, 29, 31},
		"for 90 seconds": {false, func(i, _ int) float64 {
			return 0.9 * below(i, 90*perSecond)
		}, 91, 122},
		"nothing, on a noisy machine":    {true, func(int, int) float64 { return 0.01 }, 29, 31},
		"a little, on a noisy machine":   {true, func(int, int) float64 { return 0.1 }, 300, 300},
		"a little, on a machine at rest": {false, func(int, int) float64 { return 0.1 }, 29, 31},
		"with topics of its own": {false, func(i, ofPass int) float64 {
			return 0.9*below(i, 20*perSecond) + 0.9*below(ofPass, 8*perSecond)*below(i, 100*perSecond)
		}, 101, 137},
		"in the opening of each pass": {false, func(_, ofPass int) float64 {
			return below(ofPass, 2*perSecond)
		}, 29, 31},
		"for ever": {false, func(int, int) float64 { return 0.6 }, 300, 300},
	} {
		h := &heat{up: WarmUp{Auto: true}, room: room{math.Inf(1), math.Inf(1)}}
		n := warming(h, c.noisy, c.compiled)
		if n < c.least*perSecond || n > c.most*perSecond || h.steady != (c.most < 300) {
			t.Errorf("%s: %d s, steady: %v", name, n/perSecond, h.steady)
		}
		w := h.result()
		if w.CompileFirst == nil || w.CompileLast == nil {
			t.Fatalf("%s: %+v", name, w)
		}
		if h.steady && *w.CompileLast > compileBound {
			t.Errorf("%s: the servers compile for %v of their time at the end", name, *w.CompileLast)
		}
	}
}

// below is 1 for numbers below a limit, and 0 for others.
func below(i, limit int) float64 {
	if i < limit {
		return 1
	}
	return 0
}
