// Package observe reads what a run costs and what the machine could give: every
// second, the use of each process and of the host; from a calibration, the machine's
// limits.
//
// It promises that every figure is the kernel's own; that a figure which the kernel
// does not tell is missing, never zero; and that a sentence gives the reason
// (Observer.Methods). It counts fsync, fdatasync and msync calls by tracepoints, which
// cost the observed threads nothing between two such calls.
//
// It judges nothing. It observes only Linux; elsewhere it says so.
//
// The meter's goroutine reads these figures once an interval, in one or two
// milliseconds. Why calls are counted at the system call:
// docs/design/counting-syncs.md.
package observe
