// Package prove holds plimsoll's printed figures against planted truths. Each truth is
// a short run on the simulated system, whose latencies, losses and limits are known
// from its settings; the same table of truths runs in real time (plimsoll prove) and on
// virtual time (this package's tests).
//
// It promises that a figure which is wrong by more than the run itself allows for is
// found. The allowed error is the sum of the histogram's resolution, the sampling error
// of so many messages, and, in real time, what the run measured of its own instrument.
// A run that says plimsoll was the limit claims nothing, so its truth is unknown.
//
// It shows nothing of a real system, of a network between machines, or of loads that
// the table does not have.
package prove
