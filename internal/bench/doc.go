// Package bench is the life of a run: connect, warm up, measure, drain,
// account.
//
// It promises that a run which measured anything leaves a run directory, and
// one that did not leaves none; that a first request to stop ends the run
// cleanly with what was measured; and that whatever it started it ends.
//
// A session has the run directory, the cluster and the workers (internal/load); a run is
// its load, drain and account. Whatever a run does beside is a part of it: settling, a
// backlog, faults, an audit (parts.go).
//
// It measures and counts; it judges nothing (internal/verdict) and shows
// nothing (internal/report).
package bench
