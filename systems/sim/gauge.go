package sim

import (
	"context"
	"math"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.GaugeReader = (*cluster)(nil)

// collectEvery is the time between two collections of the simulated memory.
const collectEvery = time.Minute

// store is a simulated memory: it fills, is collected, and may leak.
type store struct {
	seed      uint64
	base      float64 // bytes; 0: there is none
	leakBytes float64 // in each hour
}

func newStore(s system.Settings) store {
	return store{seed: uint64(s.Count("seed")), base: float64(s.Bytes("memory")),
		leakBytes: float64(s.Bytes("leak"))}
}

// bytes returns the size at a time since the start: a sawtooth of collections of varying height,
// and a fluctuation over about ten minutes that is not growth.
func (h store) bytes(ns int64) float64 {
	const saw, height, wander = 0.1, 0.5, 0.02
	draw := truth{seed: h.seed}
	period, phase := ns/int64(collectEvery), ns%int64(collectEvery)
	top := saw * (1 + height*(draw.uniform(period, 2)-0.5))
	swing := 0.0
	for k := range uint64(3) {
		turn := (7 + 6*draw.uniform(int64(k), 3)) * float64(time.Minute)
		swing += wander / 3 * math.Sin(2*math.Pi*(float64(ns)/turn+draw.uniform(int64(k), 1)))
	}
	return h.base*(1+swing+top*float64(phase)/float64(collectEvery)) +
		h.leakBytes*float64(ns)/float64(time.Hour)
}

// ReadGauges returns the simulated memory.
func (c *cluster) ReadGauges(context.Context, []system.Topic) ([]system.Gauge, error) {
	if c.simulator.memory.base == 0 {
		return nil, nil
	}
	now := c.simulator.clock.Now() - c.simulator.startNs
	return []system.Gauge{
		{Name: "memory", Unit: "bytes", Value: c.simulator.memory.bytes(now)}}, nil
}
