// Package measure records what happens to messages: latencies in histograms,
// arrivals in a ledger, and what this process itself suffered.
//
// It promises that nothing is dropped: a value above a histogram's range is
// clamped and counted, a negative one is counted at zero, and every sequence
// number is accounted for in a bitmap. Recording allocates nothing in the
// steady state. Recorders belong to one goroutine each; their mutex is there
// for the collector, which takes it once an interval.
//
// It does not decide what the figures mean: that is internal/verdict.
package measure
