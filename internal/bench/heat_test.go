package bench

import (
	"math"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// reading is a quarter of a second of a warm-up of two servers.
type reading struct {
	acked  int64
	memory float64 // of each server
	alive  []string
}

// heated feeds readings to a watch until it ends the warm-up. It returns how many it took.
func heated(h *heat, readings int, at func(i int) reading) (taken int) {
	ended := false
	h.end = func() { ended = true }
	for taken = 0; taken < readings && !ended; taken++ {
		r := at(taken)
		from := int64(taken) * int64(warmEvery)
		i := result.Interval{Phase: result.PhaseMeasure, StartNs: from,
			EndNs: from + int64(warmEvery), Acked: r.acked}
		if r.acked > 0 {
			i.Latency = []result.Latency{{Series: result.Publish,
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

// A warm-up ends when the servers cannot go on, or when it has taken its room, of whatever length it
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
			return reading{1000, 1e8, both[:2-i/10]}
		}, nil, 11, "node n2 ended by itself", ""},
		"nothing is acknowledged": {func(i int) reading {
			return reading{int64(max(10-i, 0)), 1e8, both}
		}, nil, 70, "the servers acknowledged no message for 15s", ""},
		"every message is refused": {func(int) reading { return reading{0, 1e8, both} }, refused,
			60, "the servers acknowledged no message for 15s: the disk is full", ""},
		"the disk": {func(int) reading { return reading{1e6, 1e8, both} }, nil, 7, "",
			"stopped after 5.59GB, before the servers had levelled off"},
		"the memory": {func(i int) reading { return reading{1000, 1e8 * float64(i+1), both} }, nil,
			18, "", "stopped when the memory of the servers had grown by 2.98GB, before they " +
				"had levelled off"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &heat{up: WarmUp{Length: time.Minute}, room: room{published: 5e9, memory: 3e9},
				messageBytes: 1000}
			taken := heated(h, 240, c.at)
			err := h.failure(nil, c.run)
			if said := fmtError(err); said != c.failed || h.result().Why != c.why ||
				taken != c.taken {
				t.Errorf("%q, %q after %d readings", said, h.result().Why, taken)
			}
		})
	}
	// Without any of that the length is kept.
	h := &heat{up: WarmUp{Length: time.Minute}, room: room{math.Inf(1), math.Inf(1)}}
	steady := func(int) reading { return reading{1000, 1e8, both} }
	if n := heated(h, 240, steady); n != 240 || h.failure(nil, refused) != nil ||
		h.result().Why != "" {
		t.Errorf("%d readings, %+v", n, h.result())
	}
	h.up = WarmUp{Auto: true}
	if n := heated(h, 240, steady); n != 1 || !h.result().Steady {
		t.Errorf("%d more readings, %+v", n, h.result())
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
