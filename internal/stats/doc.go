// Package stats holds the statistics of plimsoll: estimates, intervals, tests and their power.
// Each function names the source of its formula.
//
// It promises that every function is pure: the same values and the same random source give
// the same result. It knows nothing about runs: its callers choose the figures and the
// significance level of a comparison.
package stats
