package prove

import (
	"cmp"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Truth is what is planted and what must be printed of it.
type Truth struct {
	Name    string
	Planted string // in one sentence
	Load    Load
	// Settings are those of the simulated system, beside its defaults.
	Settings map[string]string
	Search   *Search // nil: one run; otherwise a search for the peak
	Checks   []Check
	// Beside says that the truth is no matter of microseconds: it may be tried while
	// others are.
	Beside bool
	// RealTime says why the truth is none on virtual time; empty: it is one.
	RealTime string
}

// Load is the workload of a truth; zero values take the defaults of workload().
type Load struct {
	Rate       float64 // messages per second; 0: Steps
	For        time.Duration
	Steps      []workload.Segment
	Poisson    bool
	Closed     int // sends under way; 0: an open loop
	Delivery   workload.Delivery
	Drain      time.Duration
	InFlight   int
	Producers  int
	Partitions int
	// Subscriptions each get every message.
	Subscriptions int
}

// Search is a search for the highest stable rate.
type Search struct {
	Start          float64 // the first rate
	Probe, Confirm time.Duration
	Objectives     []verdict.Objective
}

const (
	defaultPartitions = 4
	defaultDrain      = 5 * time.Second
	defaultInFlight   = 20_000
	seed              = 7
)

// workload is the load in full.
func (l Load) workload(name string) *workload.Workload {
	w := &workload.Workload{
		Name: "prove-" + name, Topics: 1, Partitions: cmp.Or(l.Partitions, defaultPartitions),
		Producers: cmp.Or(l.Producers, 1), Subscriptions: cmp.Or(l.Subscriptions, 1), Consumers: 1,
		Message: workload.Message{Size: 100, Incompressible: 1},
		Keys:    workload.Keys{Kind: workload.KeysNone}, Spread: workload.SpreadRoundRobin,
		Load:     workload.Load{Arrivals: workload.ArrivalsConstant, Segments: l.Steps},
		Duration: l.For, Drain: cmp.Or(l.Drain, defaultDrain),
		Delivery:   workload.AtLeastOnce,
		Durability: workload.AsyncAsync, MaxInFlight: cmp.Or(l.InFlight, defaultInFlight), Seed: seed,
	}
	if l.Delivery != "" {
		w.Delivery = l.Delivery
	}
	if l.Poisson {
		w.Load.Arrivals = workload.ArrivalsPoisson
	}
	switch {
	case l.Closed > 0:
		w.Load = workload.Load{Closed: &workload.Closed{InFlight: l.Closed, Batch: workload.Batch{Least: 1, Most: 1}}}
		w.MaxInFlight = l.Closed
	case l.Rate > 0:
		w.Load.Segments = []workload.Segment{{From: l.Rate, To: l.Rate, For: l.For}}
	default:
		w.Duration = 0
		for _, s := range l.Steps {
			w.Duration += s.For
		}
	}
	return w
}
