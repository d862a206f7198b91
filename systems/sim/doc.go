// Package sim is a simulated messaging system whose truth is known. Its target sets its
// service time and capacity, and which messages it loses, duplicates, reorders and
// refuses, all from a seed. Tests and calibration of plimsoll use it. It does not imitate a
// broker, and stores nothing unless the setting retain is true.
//
// A partition is a queue of arrivals, and a subscription is a list of consumers. A message
// arrives, waits for its turn when there is a capacity, is acknowledged after its service
// time, and is delivered to every subscription after the delivery delay. A partition
// belongs to one consumer of a subscription, unless the setting shape is queue: then a message
// goes to any consumer that holds fewer than prefetch of them, and may be given back.
//
// With exactly once, each producer groups its messages into transactions by time. When a
// transaction ends, all of its messages are acknowledged and then delivered, or all are
// refused. Settings can plant aborted transactions that are delivered anyway, and transactions
// that are delivered in part.
//
// The simulator knows when each answer and delivery was due, and reports its own lateness
// (ReportLateness), which is plimsoll's error and not the system's latency.
//
// The settings that begin with fault_ determine the effect of an injected fault. For every
// kind and target of a fault, answers and deliveries wait until it is healed, unless
// messages are refused. The last messages acknowledged before the fault are lost,
// duplicated, reordered or left without an answer.
//
// One goroutine, the simulator, gives all answers and deliveries when they are due. It calls
// the consumers, so a slow consumer delays the simulator. Only the consumers of a queue have their
// own goroutines.
package sim
