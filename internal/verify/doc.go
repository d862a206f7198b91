// Package verify holds a system to what its acknowledgements promise: rounds of
// load with a fault in it, and for each guarantee whether it held.
//
// It promises that every round is a whole run in a directory of its own, with
// topics of its own; that a guarantee is judged by a pure function over the saved
// round (Judge); that nothing is called kept which nobody could have seen broken:
// then it is unknown; and that what a durability level does not promise is
// counted and said, and never held against the system.
//
// It breaks nothing itself (internal/bench does, by a system.Injector) and shows
// nothing (internal/report). That a guarantee held in some rounds says that it was
// not broken there, and no more.
//
// A promise is a function of level, delivery and fault (promise.go). Rounds wait for
// as long as the system may take to deliver again (bench.Job.Linger), where that is at
// most two minutes.
package verify
