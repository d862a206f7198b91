package prove

import (
	"cmp"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Truth is a behaviour planted in the simulated system, with the figures that a run must
// print for it.
type Truth struct {
	Name    string
	Planted string // the planted behaviour, in one sentence
	Load    Load
	// Settings are settings of the simulated system. The others have their defaults.
	Settings map[string]string
	Search   *Search // the truth is about a peak search; nil: about one run
	Checks   []Check
	// Concurrent allows other runs beside the truth's run, because microseconds do not
	// matter to it.
	Concurrent bool
	// RealTime says why the truth cannot hold on virtual time. It is empty when it can.
	RealTime string
}

// Load is the workload of a truth. Zero values mean the defaults of its method workload.
type Load struct {
	Rate     float64 // messages per second; 0: Steps
	For      time.Duration
	Steps    []workload.Segment
	Poisson  bool
	Closed   int // sends under way in a closed loop; 0: an open loop
	Delivery workload.Delivery
	Drain    time.Duration
	// Idle ends the drain when nothing has happened for this time; 0: see bench.Job.
	Idle       time.Duration
	InFlight   int
	Producers  int
	Partitions int
	// Subscriptions is the number of subscriptions. Each gets every message.
	Subscriptions int
	// Consumers is the number of consumers of each subscription, which handle each message.
	Consumers int
	Handling  workload.Handling
	Scaling   []workload.GroupSize
}

// Search describes a search for the peak stable throughput.
type Search struct {
	Start          float64       // the first rate, per second
	Trial, Confirm time.Duration // of a trial, and of a trial that confirms
	Objectives     []verdict.Objective
}

const (
	defaultPartitions = 4
	defaultDrain      = 5 * time.Second
	defaultInFlight   = 20_000
	seed              = 7
)

// workload returns the complete workload.
func (l Load) workload(name string) *workload.Workload {
	w := &workload.Workload{
		Name: "prove-" + name, Topics: 1, Partitions: cmp.Or(l.Partitions, defaultPartitions),
		Producers: cmp.Or(l.Producers, 1), Subscriptions: cmp.Or(l.Subscriptions, 1),
		Consumers: cmp.Or(l.Consumers, 1), Handling: l.Handling, Scaling: l.Scaling,
		Message: workload.Message{Size: 100, Incompressible: 1},
		Keys:    workload.Keys{Kind: workload.KeysNone}, Spread: workload.SpreadRoundRobin,
		Load:     workload.Load{Arrivals: workload.ArrivalsConstant, Segments: l.Steps},
		Duration: l.For, Drain: cmp.Or(l.Drain, defaultDrain),
		Delivery: workload.AtLeastOnce, Durability: workload.AsyncAsync,
		MaxInFlight: cmp.Or(l.InFlight, defaultInFlight), Seed: seed,
	}
	if l.Delivery != "" {
		w.Delivery = l.Delivery
	}
	if l.Poisson {
		w.Load.Arrivals = workload.ArrivalsPoisson
	}
	switch {
	case l.Closed > 0:
		w.Load = workload.Load{Closed: &workload.Closed{
			InFlight: l.Closed, Batch: workload.Batch{Least: 1, Most: 1},
		}}
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
