// Package compare tests whether two sets of runs differ: for each figure the median of
// each set, their ratio with an interval, and whether a difference is shown.
//
// It promises that two sets of the same system are called different in at most 5 of 100
// comparisons, all figures together; that it reports when the runs are too few to show anything;
// that the same runs give the same answer; and that a gate fails only when the whole interval lies
// beyond its bound. If a side has a single run, the intervals are of the variation within that
// run, and the comparison says so.
//
// It reads no file, prints nothing, and does not judge single runs: that is
// internal/verdict.
//
// All figures share the 5 in 100, and gates have a share of their own; simulations in this
// package's tests check both. Within a run a second resembles the next, so nothing is drawn or
// tested as if seconds were independent.
package compare
