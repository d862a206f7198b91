// Package verify tests the promises of a system's acknowledgements: rounds of load
// with a fault in each, and for each guarantee whether it held.
//
// It promises that every round is a whole run in a directory of its own, with its own
// topics; that a guarantee is judged by a pure function over the saved round (Judge);
// that a guarantee whose breach could not have been seen is unknown, never kept; and
// that what a durability level does not promise is counted and reported, and never
// fails a verification.
//
// It injects no fault itself (internal/bench does, through a system.Injector) and
// shows nothing (internal/report). A guarantee that held in some rounds was not broken
// in those rounds; nothing more follows.
//
// A promise is a function of level, delivery and fault (promise.go). Rounds wait for
// as long as the system may take to deliver again (bench.Job.Linger), where that is at
// most two minutes.
package verify
