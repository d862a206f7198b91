// Package measure records what happens to messages: latencies in histograms,
// arrivals in a ledger, and what this process itself suffered.
//
// It promises that nothing is dropped: a value above a histogram's range is
// clamped and counted, a negative one is counted at zero, and every sequence
// number is accounted for in a bitmap. Recording allocates nothing in the
// steady state. A recorder belongs to one client; its mutex is there for answers
// that come on several goroutines, and for the collector, once an interval. The
// histograms are in stores, which the recorders of a crowd share: theirs is the
// only lock that two clients meet on, once for 32 latencies.
//
// What was recorded is handed over as plain data (plain.go), and judged from that: what was
// acknowledged against what arrived (Judge).
//
// It does not decide what the figures mean: that is internal/verdict.
package measure
