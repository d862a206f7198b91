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
package result
