// Package fault injects faults into the servers of a testbed: it kills, pauses and
// isolates servers, cuts their power, and slows or fills their disks. It undoes every
// fault, also when the testbed closes while a fault is under way.
//
// An Injector is a system.Injector. The caller decides when a fault begins and how
// long it lasts. Check reports, before anything starts, what cannot be done with a
// system, on this machine or by this user. Prepare says what a testbed needs
// beforehand, because servers that run cannot be given disks or groups.
//
// The words for the targets of a fault (one, leader, all, …) mean machines. A machine is the set of
// nodes that share a host, as several servers of one node may; if all nodes share a host, each
// node is a machine. A node's name means that process alone, except for faults that happen to
// machines: a partition, a cut from clients, a power cut and the steps of a rolling restart.
//
// docs/FAULTS.md lists the faults, and docs/FAULT-MODELS.md says what they model and what they do
// not. The package knows no system; of disks and packets it knows what internal/disk and
// internal/firewall offer.
//
// However a run ends, its faults are undone first. Faults of a killed process are undone from the
// testbed's directory (internal/testbed).
package fault
