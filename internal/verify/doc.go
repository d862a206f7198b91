// Package verify tests the promises of a system's acknowledgements: rounds of load
// with a fault in each, and for each guarantee whether it held.
//
// It promises that every round is a whole run in a directory of its own, with its own
// topics; that a guarantee is judged by a pure function over the saved round (Judge);
// that a guarantee whose breach could not have been seen is unknown, never kept; and that losses
// that a durability level allows are counted and reported, but never fail a verification.
//
// It injects no fault itself (internal/bench does, through a system.Injector) and
// shows nothing (internal/report). A guarantee that held in some rounds was not broken
// in those rounds; nothing more follows.
//
// A promise is a function of level, delivery and fault (promise.go). Rounds wait for the system's
// redelivery time (bench.Job.Linger), up to two minutes.
package verify
