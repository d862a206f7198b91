// Package stats is the statistics of plimsoll: estimates, intervals, tests, and what tests
// can show. Each function names the source of its formula.
//
// It promises that every function is pure: of the same values, and of the same random source,
// it gives the same result. It knows nothing of runs: which figures are compared, at which
// level, is for its callers to say.
package stats
