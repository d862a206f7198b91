// Package testbed starts and owns a cluster on this machine: its data
// directory, its life and its end.
//
// It promises that nothing survives Close, and that what a killed owner left
// behind is removed by the next Up on the same base directory, and nothing
// else is. It knows no system; a system.Provisioner starts the servers.
//
// A base directory holds
//
//	.testbed/lock        held while directories are made or removed
//	.testbed/<id>/lock   held by the owner as long as it lives
//	.testbed/<id>/data   the servers' data
//
// The locks are flock(2)'s: the kernel drops them when their holder dies, however
// it dies.
package testbed
