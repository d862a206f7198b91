// Package system is the contract between plimsoll and a messaging system, and
// the registry of the systems that fulfil it.
//
// A System describes itself and connects to a target, which gives a Cluster. A
// Cluster creates topics and opens producers and consumers. Each optional capability
// is a separate small interface, found by a type assertion. system/systemtest is the
// conformance suite that each system runs unchanged.
//
// The contract says nothing about time or counting. A system hands messages over and
// reports their results, and the engine measures.
//
// # Exactly once
//
// Exactly once means producers with transactions and readers that see committed messages only. The
// acknowledgement of a message is the commit of its transaction, so publish latency includes the
// wait for it. In Send the driver names the transaction of a message (Message.InTransaction). The
// number goes into the stamp, and the account compares the messages of each transaction with those
// that arrived.
//
// # Groups
//
// A consumer that gets its partitions only when all consumers of its subscription are
// open is an AssignmentWaiter. The engine waits for the assignment after everything is
// open and before the load.
//
// # Redelivery
//
// A system that redelivers messages by itself declares the longest time until a redelivery
// (Description.Redelivery). plimsoll claims nothing about duplicates or order beyond the time that
// a run observed.
//
// # Settings
//
// A system declares its settings in a table of kinds, defaults and ranges
// (MustSettings). An unknown setting or a wrong value is refused with its place in the
// file before anything starts. Every result contains every value.
package system
