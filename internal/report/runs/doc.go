// Package runs makes the report on runs: of one run, its answer, headline figures, charts and every
// table; of several, the overview and each run folded below it.
//
// It promises that warnings come before the figures, and that a run without some of its data
// (stopped, crashed, never measured, still under way) is shown with a note on the missing data.
package runs
