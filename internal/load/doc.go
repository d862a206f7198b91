// Package load is the hot path: schedules, pacers, producers, consumers.
//
// It offers messages when they are due, whatever the system does (open loop),
// and charges every wait to the messages that waited. A schedule is a pure
// function of seed, rate curve and sequence number, so any division of the
// work adds up to the same schedule. In the steady state a message costs no
// allocation and, up to 16 producers, no lock that two of them share; in a crowd
// they share one for every 32 latencies.
//
// A run drives it through a Worker (worker.go), by which only plain data passes: plan and
// window in; readiness, samples and accounts out. Local is the worker in this process. What
// several workers say merges by pure functions (merge.go), and the Course is the one owner
// of the window that all of them follow.
//
// Before the load every partition is proved to take messages, and every
// subscription to receive from each (Prove).
//
// In a closed loop there is no schedule: each producer has so many sends under
// way, and what it sends next is due when all of an earlier send was answered.
//
// Every scheduled message ends in exactly one counter: acked, failed, unknown
// or unsent. The package does not know phases of a run, files or verdicts:
// internal/bench does.
package load
