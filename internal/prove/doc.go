// Package prove compares plimsoll's printed figures with planted truths. Each truth is a short run
// on the simulated system, whose latencies, losses and limits are known from its settings; the
// same table of truths runs in real time (plimsoll prove) and on virtual time (this package's
// tests).
//
// It promises that a figure which is wrong by more than the run itself allows for is
// found. The allowed error is the sum of the histogram's resolution, the sampling error of the
// number of messages and, in real time, the run's measured error of its own instrument. A run that
// says plimsoll was the limit claims nothing, so its truth is unknown.
//
// It says nothing about a real system, a network between machines, or loads that are not in the
// table.
package prove
