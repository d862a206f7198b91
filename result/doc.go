// Package result is the run directory: its format, its writer and its reader.
//
// It promises that a run directory can be read back, whenever and however the writer was stopped,
// also by kill -9. A directory appears with a readable run.json in it. run.json is only ever
// replaced as a whole. The other files grow by whole lines, and only the last line may be torn.
// The package judges nothing: verdicts are in internal/verdict, charts in internal/report.
//
// run.json holds the workload and the target twice: as the user gave them (asked), and with every
// default filled in (resolved), in YAML that plimsoll reads back. Neither holds credentials: a
// target names the places where they are.
//
// Times of a run are nanoseconds since the run started, on one monotonic clock. StartedAt is
// the wall clock time of the start.
//
// # Crashes
//
// A run directory is created under a temporary name and renamed when run.json is inside. The other
// files grow by whole lines in single writes. The writer holds a lock on intervals.jsonl: a run
// that says "running" and whose lock is free is read as incomplete, and its summary is computed
// again from the saved intervals.
//
// # Readings do not wait for the disk
//
// One goroutine of the writer compresses, writes and syncs the files in order, behind a bounded
// queue (queue.go). While servers keep disk and cores busy, this takes seconds. A trial that
// waited for it would have too few readings for a verdict. A late reading replaces the readings
// that were missed.
//
// # Censored percentiles
//
// Messages without a latency are part of every percentile (Censored): an unanswered
// message counts for as long as it was waited for, every other such message as longer
// than any bound. See docs/design/censored-percentiles.md.
//
// # Runs of other tools
//
// Import gives zeros for the values that the other tool did not record. They mean unknown:
// internal/verdict calls them unknown, internal/report prints none of them, and no such run is
// ranked.
package result
