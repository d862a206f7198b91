// Package load is the hot path: schedules, pacers, producers, consumers.
//
// It offers messages when they are due, whatever the system does (open loop),
// and charges every wait to the messages that waited. A schedule is a pure
// function of seed, rate curve and sequence number, so any division of the
// work adds up to the same schedule. In the steady state a message costs no
// allocation and, up to 16 producers, no lock that two of them share; in a crowd they share a lock
// once for every 32 latencies.
//
// A run drives it through a Worker (worker.go). Only plain data passes: plan and window in;
// readiness, samples and accounts out. Local is the worker in this process. Pure functions merge
// the data of several workers (merge.go), and the Course is the only owner of the window that they
// follow.
//
// Before the load, Prove shows that every partition accepts messages and every subscription
// receives from each partition.
//
// A closed loop has no schedule: each producer has a fixed number of sends in flight, and the next
// send is due when every message of an earlier send has an answer.
//
// Where classes of messages have topics of their own, messages come in rounds: each round has the
// same number of each class, and the producers of a class send its messages in turn (turns.go).
//
// Every scheduled message ends in exactly one counter: acked, failed, unknown
// or unsent. The package does not know phases of a run, files or verdicts:
// internal/bench does.
//
// # Phases of a message
//
// The phase of a message (warm-up, measured) follows from its due time, never from the
// time of its answer: a message that is due in the warm-up and acknowledged later
// belongs to the warm-up. Interval lines follow the time of the event.
//
// # Closed loop
//
// Each producer has a loop instead of a pacer: a goroutine that only waits for answers. The
// messages of a send are due when every message of an earlier send has an answer, so "scheduled"
// means "begun", and own lag is the turn-around time. A system.BatchSender gets a send in one
// call; every other producer gets one message at a time. The twin's pacer is the only pacer of
// such a run.
//
// # Counters
//
// Scheduled = acked + failed + unknown + unsent. An error that wraps system.ErrUnknown
// is not a refusal: the message may still arrive. Late messages are handed over during
// the drain too, so their latency is part of the percentiles.
//
// Messages without a latency are counted, not dropped. An unanswered message counts
// for as long as it was waited for (the series "waited"). Messages missing from
// end-to-end latency are counted from sequence numbers: a producer notes the first
// measured number of each topic and partition, so losses of the warm-up are not
// charged to the window.
//
// # Partitions of messages without a key
//
// They follow the system's own client (Description.Spread): messages stay with a
// partition for the client's batching time. The time is measured in due times, so the
// choice remains a pure function of the schedule.
//
// # Readiness
//
// Engine.Ready runs after every client is open and before the load. Every producer
// sends a message, and every partition gets a message, until it is acknowledged; every
// subscription must receive a message from every partition. A refused or lost message
// is sent again. When the time is over, the error names the first partition that is not ready.
// These messages have their own magic number: they are in no counter, histogram or ledger, and
// cost the receive path nothing. With a backlog that will be drained, the acknowledgements alone
// prove readiness.
//
// # Changing the schedule while it runs
//
// A warm-up that ends by itself changes the schedule once. Engine.Settle fixes the
// beginning of the window at a whole second beyond every message drawn so far, and
// replaces the immutable schedule by another that agrees with it on all earlier
// messages. Sequence numbers, due times and phases remain functions of seed, curve and
// warm-up length, and run.json has all three. The cost is one atomic load per message.
//
// A backlog ends the schedule the same way. The schedule covers the longest possible
// run; Engine.End cuts it at a time beyond every message drawn so far, so no message
// behind the cut counts as unsent.
//
// # Own lag
//
// A wait belongs to the system only while the pacer's thread sleeps in Send, or until
// the answer for which the pacer waits (waits.go). Time spent running, or waiting for a
// core, is plimsoll's; clock.Stint tells them apart. Own lag of a message is its
// hand-over time minus the later of its due time and the end of the last such wait. It
// is never less than the lag minus all such waits since the pacer was last on time.
//
// # The twin
//
// The twin (twin.go) is a producer and a consumer of a system that takes no time. It
// runs on the first pacer with the recorders and the receive path of any run, and its
// answers pass through ordinary goroutines. It never takes the pacer's turn to wake,
// and waits for the measured system are subtracted from its latency. Plan.Alone leaves
// it out, for benchmarks of the engine. See docs/design/twin.md.
//
// # First arrivals
//
// The consumers of a subscription share the highest sequence number of each topic, producer and
// partition: an atomic each. A message above it is new. Only a message below it is looked up at the
// other consumers, one lock at a time. So a copy at another consumer is recognised on arrival, and
// so is a message that was overtaken at another consumer, which is a fault where each partition has
// one consumer (Description.OwnsPartitions). Consumers of another worker share nothing: what is
// known of the order between workers follows from their accounts (measure.Judge).
//
// # Consumers that work
//
// Receive of a consumer that handles messages returns when the handling is over, so the
// system sees a slow consumer. Whether a handling fails is drawn from the seed, the
// consumer and the number of the message at that consumer. A returned message is noted before the
// system learns of the return, and the next delivery to any consumer of the subscription is its
// redelivery. All these consumers are on one worker.
//
// # Consumers that come and go
//
// One goroutine closes and opens consumers at the times of the plan. A consumer keeps
// its sets, so what it received before it closed still counts. A partition's gaps are those
// between the subscription's arrivals, at whichever consumer.
//
// A subscription may have no consumers for a time. From then on its arrivals have the series
// result.CatchUp, until it has received as many messages as had been acknowledged UnderWay before,
// and for UnderWay more. A goroutine looks for that moment every 20 ms, less often in a crowd.
//
// # Gaps without an acknowledgement
//
// Such a gap is a gap in the union of all producers' answers. Each producer notes its
// first and last answer of an interval under the lock that it holds anyway; the
// collector merges them. A gap that spans the end of an interval is exact.
//
// # Threads
//
// A pacer is a goroutine that stays on one thread between two of its waits. The watcher's thread
// holds a place in Go's scheduler, for which bench raises GOMAXPROCS (docs/design/waiting.md). A
// pacer waits at least 100 us between two wake-ups, or, if that is longer, a 25th of the median
// send latency, up to 1 ms; it hands over everything that became due in between. At high rates
// waking costs more than sending.
//
// # Bounds
//
// Messages in flight are bounded by max_in_flight, pacers by 64, kept errors by 20 per
// producer. Beyond 64 producers, producers share a pacer, and a producer that blocks
// delays its neighbours. Answers of one producer may come on several goroutines and
// then meet on that producer's lock; two producers never share a lock, except in a
// crowd (see internal/measure).
package load
