// Package observe says what a run costs and what the machine could give: once
// a second what the host and each process spent, and, from a calibration, the
// machine's limits.
//
// It promises that every figure is the kernel's own, that one which the kernel
// does not tell is missing and never zero, and that a sentence says why
// (Observer.Methods). It counts fsync, fdatasync and msync calls at a place
// that costs the observed threads nothing between two such calls: a counter on
// each thread would make each of its context switches a quarter slower, and a
// broker switches often.
//
// It judges nothing. It observes only Linux; elsewhere it says so.
//
// The meter's goroutine reads these figures once an interval, in one or two
// milliseconds. Why calls are counted at the system call:
// docs/design/counting-syncs.md.
package observe
