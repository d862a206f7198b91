package bench

import (
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Shares of memory that Estimate adds up; see BENCHMARKS.md. An account exists twice while it is
// handed over, and the sets of a lane once more while they are compared.
const (
	baseMemory     = 64 << 20
	recorderMemory = result.HistogramBytes
	clientMemory   = 5 << 10 // plimsoll's part of a client, without its library's
	flightMemory   = 256     // a message in the pool without its payload
	laneMemory     = 170     // a lane in the account of its producer
	placeMemory    = 8       // a block of lanes in the account of a consumer
	ledgerMemory   = 0.39    // a message in one account, in the worst order
	pageMemory     = 1200    // a lane that has seen a message, in one account
)

// memoryOf returns the most memory of each worker's process, when a number of workers share the
// load evenly; 0 workers count as 1.
func memoryOf(w *workload.Workload, messages float64, workers int) float64 {
	producers, readers := float64(w.Topics*w.Producers), float64(w.AllSubscriptions()*w.Consumers)
	consumers := float64(w.Topics) * readers
	lanes, places := float64(w.LanesBefore(w.Topics)), 0.0
	touched := min(lanes, messages) * float64(1+w.AllSubscriptions())
	// A consumer has a place for each block of lanes, and the blocks with arrivals.
	for k := range w.TopicKinds() {
		places += float64(k.Topics) * readers *
			math.Ceil(float64(w.Producers)*float64(k.Most)/measure.LanesOfBlock)
	}
	blocks := min(places, messages*float64(w.AllSubscriptions()))
	shared := (producers+consumers)*clientMemory +
		min(w.BytesInFlight(), messages*float64(w.Message.Largest())) +
		min(producers*float64(w.MaxInFlight), messages)*flightMemory +
		float64(load.TimedMessages(w))*measure.MomentBytes +
		lanes*(laneMemory+measure.OrderBytes*float64(w.AllSubscriptions())) +
		places*placeMemory + blocks*measure.BlockBytes +
		touched*pageMemory + messages*ledgerMemory*float64(1+w.AllSubscriptions())
	return baseMemory + float64(load.Histograms(w))*recorderMemory +
		shared/float64(max(workers, 1))
}

// memory holds the limits of a process's memory on this machine, in bytes; 0: unknown.
type memory struct {
	machine int64
	group   int64 // the least limit of the control groups of this process
	// available is what new programs could use of the machine, and at most the group's limit.
	available int64
}

func memoryOfMachine() memory { return memoryIn(os.DirFS("/")) }

// memoryIn reads the limits from the file system of a machine.
func memoryIn(root fs.FS) memory {
	info, _ := fs.ReadFile(root, "proc/meminfo") // without the file the limits are unknown
	bytes := func(name string) int64 {
		var kib int64
		if _, err := fmt.Sscanf(field(string(info), name), "%d kB", &kib); err != nil {
			return 0
		}
		return kib << 10
	}
	m := memory{machine: bytes("MemTotal"), group: measure.Allowed(root).MemoryBytes,
		available: bytes("MemAvailable")}
	if m.group > 0 {
		m.available = min(m.available, m.group)
	}
	return m
}

// checkMemory refuses a crowd that does not fit this process's memory.
func (j *Job) checkMemory(have memory) error {
	need, most, whose := j.Estimate().MemoryBytes, have.machine, "this machine has"
	if have.group > 0 && (most == 0 || have.group < most) {
		most, whose = have.group, "the control group of this process allows"
	}
	if most == 0 || need <= most {
		return nil
	}
	w := j.Workload
	count := func(n int) string { return quantity.Count(int64(n)) }
	return fmt.Errorf(
		"plimsoll would take up to %s of memory for topics: %s, partitions: %s, producers: %s, "+
			"subscriptions: %s, consumers: %s and max_in_flight: %s, and %s %s: lower one of "+
			"them, or measure on a machine with more memory",
		quantity.Bytes(need), count(w.Topics), count(w.Record().Partitions), count(w.Producers),
		count(w.Subscriptions), count(w.Consumers), count(w.MaxInFlight), whose,
		quantity.Bytes(most))
}
