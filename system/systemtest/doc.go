// Package systemtest is the conformance suite that every system runs
// unchanged: what the contract in package system promises, tried on a live
// cluster.
//
// It waits for events, each wait bounded by the harness, and never for a fixed
// time. It knows nothing of any system but its description; what a cluster
// needs to be reached is the harness's.
package systemtest
