package workload

import "time"

// The bounds of a workload. They catch typing errors that ask for more than a machine can count,
// and are far above the values of any study.
const (
	// MaxCount bounds the topics, the partitions and the producers of a topic, and the consumers
	// of a subscription. MaxTotal bounds the products of such counts. Within both, no sum
	// overflows, and the number of a lane fits the stamp of a message. How large a crowd a
	// machine carries follows from its memory; that is checked before a run, not here.
	MaxCount = 10_000_000
	MaxTotal = 2_000_000_000

	MaxExisting      = 1_000 // topics by name
	MaxSubscriptions = 1_000
	MaxMessageBytes  = 64 << 20
	MaxKeys          = 10_000_000
	MaxExponent      = 10
	MaxRate          = 100e6 // messages per second
	MaxSteps         = 1_000
	MaxBurst         = 10_000  // messages due at the same moment
	MaxInFlightLimit = 1 << 24 // messages of one producer
	MaxSends         = 10_000  // of one producer in a closed loop, under way at a time
	MaxBatch         = 10_000  // messages of one send

	// DefaultSettle is the longest warm-up: auto, when the file gives no other limit. MinSettle
	// is the shortest limit that leaves time to detect a steady state.
	DefaultSettle = 2 * time.Minute
	MinSettle     = 30 * time.Second

	MaxWarmup   = 24 * time.Hour
	MaxDuration = 7 * 24 * time.Hour
	MaxDrain    = 24 * time.Hour

	MaxStrikes = 50 // times that faults happen in a run

	MaxObjectives = 32

	// MaxInFlightBytes bounds the payload that all producers together may have in flight:
	// topics x producers x max_in_flight x message size. One message of each producer is within
	// the bound in any case.
	MaxInFlightBytes = 2 << 30

	MaxName        = 64
	maxDescription = 1_000
)

// defaultInFlight is max_in_flight when the file gives none. It is lowered until all producers
// together have at most defaultInFlightBytes in flight.
const (
	defaultInFlight      = 16_384
	defaultInFlightBytes = 256 << 20
)
