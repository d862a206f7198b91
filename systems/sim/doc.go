// Package sim is a messaging system whose truth is known: how long it takes,
// how much it carries, what it loses, doubles, swaps and refuses are set in
// its target, from a seed. plimsoll is tested and calibrated against it. It is
// not a stand-in for a broker and stores nothing, unless it is told to retain.
//
// Its words: a topic is a topic, a partition a queue of arrivals, a
// subscription a list of consumers. A message arrives, waits for its turn when
// there is a capacity, is acknowledged after its service time, and is
// delivered after the delivery delay to every subscription. A partition
// belongs to one consumer of a subscription.
//
// Exactly once, each producer groups its messages into transactions by time. When a
// transaction ends, all of its messages are acknowledged and then delivered, or all
// are refused; settings plant aborted transactions that are delivered all the same and
// transactions that are delivered in part.
//
// The line knows when each answer and delivery was due by its own schedule and reports
// how late it was (ReportLateness): this lateness is plimsoll's error, not the
// system's latency.
//
// Faults can be injected: the settings that begin with fault_ say what a fault does to
// messages. Whatever its kind and target, answers and deliveries wait until it is
// healed, unless messages are refused; the last messages acknowledged before it are
// lost, doubled, swapped or left without an answer.
//
// One goroutine, the line, does what is due when it is due: it answers and it
// delivers. Consumers are called on it, so a slow consumer slows the line.
package sim
