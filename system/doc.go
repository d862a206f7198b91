// Package system is the contract between plimsoll and a messaging system, and
// the registry of the systems that fulfil it.
//
// A System describes itself and connects to a target, which gives a Cluster; a
// Cluster creates topics and opens producers and consumers. What only some
// systems can do is a separate one-method interface, found by assertion.
// system/systemtest is the conformance suite that each system runs unchanged.
//
// The contract says nothing about time or counting: a system hands bytes over
// and says what became of them, and the engine does the measuring.
//
// # Exactly once
//
// Exactly once is the producer's transactions and readers that see committed messages
// only. The acknowledgement of a message is the commit of its transaction, so publish
// latency includes the wait for it. In Send the driver says which transaction a
// message is part of (Message.InTransaction). The number goes into the stamp, and the
// account compares the messages of each transaction with those received of it.
//
// # Groups
//
// A consumer that gets its partitions only when all consumers of its subscription are
// open is an AssignmentWaiter. The engine waits for the assignment after everything is
// open and before the load.
//
// # Delivering again
//
// A system that delivers a message again by itself declares how late that may be
// (Redeliverer). Nothing is claimed about duplicates or order beyond the time that was
// watched.
//
// # Settings
//
// A system declares its settings with kind and default, so an unknown setting or a bad
// value is refused with its place in the file before anything starts, and every value
// is echoed.
package system
