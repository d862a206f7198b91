// Package compare tests whether two sets of runs differ: for each figure the median of
// each set, their ratio with an interval, and whether a difference is shown.
//
// It promises that two sets of the same system are called different in at most 5 of
// 100 comparisons, all figures together; that too few runs to show anything are
// reported as too few; that the same runs give the same answer; and that a gate fails
// only when the whole interval lies beyond its bound. Where a side has a single run,
// the intervals are of the variation within that run, and the comparison says so.
//
// It reads no file, prints nothing, and does not judge single runs: that is
// internal/verdict.
//
// The 5 in 100 are shared by all figures together, and gates have a share of their
// own; simulations in this package's tests hold both. Within a run a second resembles
// the next, so nothing is drawn or tested as if seconds were independent.
package compare
