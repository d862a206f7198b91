package bench

import (
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Job is one run to do.
type Job struct {
	Workload *workload.Workload
	Target   *target.Target
	System   system.System
	Settings system.Settings
	Secrets  target.Secrets

	Runs    string // the folder that run directories are made in
	Clock   clock.Clock
	Build   result.Build
	Asked   result.Asked
	Process time.Time // when the process began, for the time to the first message
}

// Watch is told how a run goes, from the goroutine that runs it.
type Watch interface {
	Phase(name result.PhaseName, sentence string)
	Interval(i result.Interval)
}

// Check refuses what the system says that it cannot do, before anything is
// started.
func (j *Job) Check() error {
	d := j.System.Describe()
	guarantee, known := d.Levels[j.Workload.Durability]
	if !known {
		return fmt.Errorf("%s does not say how it gives durability level %d", d.Name, j.Workload.Durability)
	}
	if guarantee.Refusal != "" {
		return fmt.Errorf("%s cannot give durability level %d: %s", d.Name, j.Workload.Durability, guarantee.Refusal)
	}
	if !slices.Contains(d.Delivery, j.Workload.Delivery) {
		return fmt.Errorf("%s cannot deliver %s: it can deliver %v", d.Name, j.Workload.Delivery, d.Delivery)
	}
	_, embedded := j.System.(system.Embedded)
	_, provisions := j.System.(system.Provisioner)
	if len(j.Target.Endpoints) == 0 && !embedded && !provisions {
		return fmt.Errorf("plimsoll cannot start %s itself: give the target the endpoints of a running cluster", d.Name)
	}
	return nil
}

// Estimate is what a run will take, known before it starts.
type Estimate struct {
	Messages       int64 // warm-up included
	PublishedBytes int64
	DeliveredBytes int64 // by all subscriptions
	DiskBytes      int64 // on all nodes together; 0: the servers are not ours
	MemoryBytes    int64 // of plimsoll itself, embedded servers excepted
	Length         time.Duration
}

// Shares of memory that Estimate adds up; see BENCHMARKS.md.
const (
	baseMemory       = 40 << 20
	recorderMemory   = 200 << 10 // a histogram
	flightMemory     = 256       // a message in the pool without its payload
	ledgerPerMillion = 130 << 10 // per million messages and account, when nothing is in order
	diskOverhead     = 1.15      // headers, indexes, replication logs
)

// Estimate adds up what the run will take.
func (j *Job) Estimate() Estimate {
	w := j.Workload
	e := Estimate{
		Messages: w.WarmupMessages() + w.OfferedMessages(),
		Length:   w.Warmup + w.Duration,
	}
	e.PublishedBytes = e.Messages * w.Message.Size
	e.DeliveredBytes = e.PublishedBytes * int64(w.Subscriptions)
	if _, provisions := j.System.(system.Provisioner); provisions && len(j.Target.Endpoints) == 0 {
		e.DiskBytes = int64(float64(e.PublishedBytes) * float64(j.Target.Testbed.Nodes) * diskOverhead)
	}
	producers := int64(w.Topics * w.Producers)
	consumers := int64(w.Topics * w.Subscriptions * w.Consumers)
	e.MemoryBytes = baseMemory + (producers*8+consumers*2)*recorderMemory +
		producers*int64(w.MaxInFlight)*(w.Message.Size+flightMemory) +
		e.Messages*ledgerPerMillion/1e6*int64(1+w.Subscriptions)
	return e
}

// loadOf is the workload in the figures that reports compare.
func loadOf(w *workload.Workload) result.Load {
	l := result.Load{
		Workload: w.Name, Model: "open", Arrivals: string(w.Load.Arrivals),
		TargetRate:   float64(w.OfferedMessages()) / w.Duration.Seconds(),
		MessageBytes: w.Message.Size, Topics: w.Topics, Partitions: w.Partitions,
		Producers: w.Producers, Subscriptions: w.Subscriptions, Consumers: w.Consumers,
		Keys: string(w.Keys.Kind), Delivery: string(w.Delivery), MaxInFlight: w.MaxInFlight,
		WarmupSeconds: w.Warmup.Seconds(), WindowSeconds: w.Duration.Seconds(),
		IncompressiblePct: w.Message.Incompressible * 100,
	}
	for _, s := range w.Load.Segments {
		l.Segments = append(l.Segments, result.Segment{From: s.From, To: s.To, Seconds: s.For.Seconds()})
	}
	return l
}

// engineOf returns the engine of a run.
func (j *Job) engineOf(run uint32) *load.Engine {
	return load.New(load.Plan{
		Workload: j.Workload, Clock: j.Clock, Run: run, Prefix: fmt.Sprintf("plimsoll-%08x", run),
	})
}
