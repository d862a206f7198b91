// Package bench is the life of a run: connect, warm up, measure, drain,
// account.
//
// It promises that a run which measured anything leaves a run directory, and
// one that did not leaves none; that a first request to stop ends the run
// cleanly with what was measured; and that whatever it started it ends.
//
// It measures and counts; it judges nothing (internal/verdict) and shows
// nothing (internal/report).
package bench
