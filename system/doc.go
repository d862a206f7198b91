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
package system
