// Package runs makes the report on runs: of one run, its answer, headline figures, charts, cost and
// every table; of several, the overview and each run folded below it.
//
// It promises that warnings come before the figures, and that a run without some of its data
// (stopped, crashed, never measured, still under way) is shown with a note on the missing data.
// The cost is shown only as far as it is known: a figure that one server lacks is left out for the
// whole system, and the resource use of servers inside plimsoll's own process is not divided
// between servers and plimsoll.
package runs
