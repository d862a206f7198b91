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
// A recording is handed over as plain data (plain.go), and Judge compares what was
// acknowledged with what arrived. The package does not interpret the figures:
// internal/verdict does.
//
// # Locks
//
// A recorder's mutex belongs to one client; the collector takes it once a second. A
// recorder keeps 32 latencies and hands them to the histograms of its store together.
// Up to 16 clients of a kind have a store each. A crowd shares 16 stores, so ten
// thousand clients cost what sixteen do.
//
// # Memory of the ledger
//
// A bitmap page covers 4,096 sequence numbers of a lane: a topic, producer and
// partition. Full pages collapse into one shared page. A stream without gaps costs 8
// bytes per 4,096 messages and bitmap, about 2 KB per million messages; the worst
// case, a gap in every page, costs 130 KB per million. There is one bitmap for
// acknowledged messages and one for each consumer, whose lanes are allocated in blocks
// of 64 when something arrives in the block. See docs/design/paged-bitmaps.md.
//
// A run with faults also keeps when each of its first 4 million messages was due and
// acknowledged, in memory made beforehand (16 bytes each), so the ledger can date a
// lost range. At most 20 lost ranges are kept.
package measure
