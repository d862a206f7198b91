package sim

import (
	"math"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/system"
)

// againAfter is the age, in multiples of cold_for, at which servers become half as cold again.
const againAfter = 8

// warmth makes new servers slower and dearer than they are later.
type warmth struct {
	course string
	times  float64 // of a new server, as a multiple
	forNs  float64
	bornNs int64
	cpuNs  float64 // of a message, later; 0: not told
}

func newWarmth(s system.Settings, bornNs int64) warmth {
	return warmth{course: s.Text("cold_course"), times: s.Number("cold_times"),
		forNs: float64(s.Duration("cold_for")), bornNs: bornNs,
		cpuNs: float64(s.Duration("cpu_per_message"))}
}

// factor returns by how much service and CPU times are longer than later, at a time of the clock.
func (w *warmth) factor(nowNs int64) float64 {
	if w.times <= 1 || w.forNs <= 0 {
		return 1
	}
	age := float64(nowNs-w.bornNs) / w.forNs
	falls := math.Exp(-age)
	switch w.course {
	case "steps":
		falls = max(0, 1-math.Floor(age)/2)
	case "again":
		if age > againAfter {
			falls = 0.5
		}
	case "sawtooth":
		falls = 1 - (age - math.Floor(age))
	}
	return 1 + (w.times-1)*falls
}

// birth is when the servers were started, by the first connection.
type birth struct{ atNs atomic.Pointer[int64] }

func (b *birth) at(nowNs int64) int64 {
	b.atNs.CompareAndSwap(nil, &nowNs)
	if at := b.atNs.Load(); at != nil {
		return *at
	}
	return nowNs // renewed meanwhile
}

// Renew makes the servers new, and cold if the settings say so.
func (s *System) Renew() { s.birth.atNs.Store(nil) }

// CPUSeconds returns the simulated CPU time of the servers since this connection; known is false if
// the settings give none.
func (c *cluster) CPUSeconds() (seconds float64, known bool) {
	c.simulator.Lock()
	defer c.simulator.Unlock()
	return c.simulator.cpuNs / 1e9, c.simulator.warmth.cpuNs > 0
}
