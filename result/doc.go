// Package result is the run directory: its format, its writer and its reader.
//
// It promises that a run directory can be read back whenever the writer was
// stopped, be it by kill -9: a directory appears with a readable run.json in
// it, run.json is only ever replaced whole, and the other files grow by whole
// lines of which the last may be torn. It judges nothing: verdicts are in
// internal/verdict, pictures in internal/report.
//
// run.json holds the workload and the target twice: as they were asked for
// (asked), and with every default spelled out (resolved), in YAML that plimsoll
// reads back. Credentials are in neither: a target names where they are.
//
// Times of a run are nanoseconds since the run started, on one monotonic
// clock; StartedAt says when that was.
//
// # Crashes
//
// A run directory is made beside its place and renamed into it with run.json inside.
// The other files grow by whole lines in single writes. The writer holds a lock on
// intervals.jsonl: a run that says "running" and whose lock is free is read as
// incomplete, and its summary is computed again from the saved intervals.
//
// # Readings do not wait for the disk
//
// One goroutine of the writer compresses, writes and syncs the files in order, behind
// a bounded queue (queue.go). Beside servers that keep disk and cores busy this takes
// seconds, and a trial that waited for it had too few readings for a verdict. A late
// reading stands for the readings that it missed.
//
// # Censored percentiles
//
// Messages without a latency are part of every percentile (Censored): an unanswered
// message counts for as long as it was waited for, every other such message as longer
// than any bound. See docs/design/censored-percentiles.md.
//
// # Runs of other tools
//
// Import gives zeros for what the other tool did not record. They mean unknown:
// internal/verdict calls them unknown, internal/report prints none of them, and no
// such run is ranked.
package result
