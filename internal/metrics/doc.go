// Package metrics shows runs, under way and just ended, as metrics: for Prometheus to scrape,
// and for OpenTelemetry where the standard environment variables ask for it.
//
// It promises that the histograms hold the latencies of latency.hlog, each message in one
// bucket, so that quantiles are of all messages of the measured window and never means of
// quantiles; that a message without a latency counts as longer than any bound once the run has
// ended; and that counters never fall. It reads the files of the runs, each line once, and
// knows nothing of the hot path.
//
// The labels are run (the path of its directory below the folder that is served), target,
// system, workload and level.
//
// # Buckets
//
// The classic buckets are a 16th of an octave wide (4.4%) from 61 us to 8 s, and a quarter of an
// octave elsewhere. The native histograms have schema 5: 2.2%.
//
// # What is it not?
//
// It does not authenticate: the server of the handler does. It judges nothing: verdicts come from
// run.json.
package metrics
