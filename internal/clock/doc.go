// Package clock is the one time of a run: nanoseconds of the machine's
// monotonic clock, and waits that end when they should.
//
// Go's own timers round an idle wait to about a millisecond, far more than
// what is measured here. On Linux a precise Alarm therefore owns its OS thread
// and waits in the kernel until an absolute time of CLOCK_MONOTONIC. It does so
// with a futex rather than clock_nanosleep: the same timer, and a wait that
// another goroutine can cut short.
//
// It is not a calendar: Now counts from an arbitrary moment, the same for all
// processes of a machine.
//
// # One clock
//
// All times are nanoseconds of CLOCK_MONOTONIC, and due times are absolute. Tests run
// the same code on virtual time (testing/synctest) with Timers in place of precise
// alarms.
//
// # Short waits
//
// A short wait keeps its place in Go's scheduler. Giving the place away would keep the
// scheduler's monitor awake, which costs more than the wait saves:
// docs/design/pacing-threads.md has the figures.
package clock
