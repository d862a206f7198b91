// Package systemtest is the conformance suite that every system runs unchanged. It tests
// the contract of package system on a live cluster.
//
// The suite waits for events, within bounds, and never for a fixed time. It knows only a
// system's description. The Harness supplies the options that connect to a cluster.
package systemtest
