// Package export writes runs for machines: CSV of runs, intervals and resources, JSON, the Go
// benchmark format and the files of the OpenMessaging Benchmark.
//
// It promises that a figure which the samples cannot support is an empty cell or an absent field,
// never a zero, and that a bound is told apart from a value.
package export
