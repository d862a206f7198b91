// Package clock is the one time of a run: nanoseconds of the machine's
// monotonic clock, and waits that end when they should.
//
// Go's own timers round an idle wait to about a millisecond, far more than
// what is measured here. On Linux a precise Alarm therefore waits for a timer
// descriptor with an absolute time of CLOCK_MONOTONIC, and another goroutine
// can cut the wait short.
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
// # Places
//
// Go runs goroutines on a number of places, and a goroutine that waits for an Alarm
// leaves its place to others. Only a sleeper holds its place while it waits, so that the
// scheduler's monitor stays awake: docs/design/waiting.md has the figures.
package clock
