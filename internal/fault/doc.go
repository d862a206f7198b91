// Package fault does to the servers of a testbed what machines do to servers:
// they end, stand still, lose their power, their disk or one another. It undoes
// it again, also when the testbed is closed in the middle of it.
//
// An Injector is a system.Injector. When a fault begins and how long it lasts is
// its caller's to say. Check says before anything starts what cannot be done with
// a system, on this machine or by this user; Prepare says what a testbed must be
// prepared for, because disks and groups cannot be given to servers that run.
//
// Target: a machine is the nodes that share a host, as several servers of
// one node may; each node is one where all share the same. The words for nodes mean
// machines. A node's name means that process alone, but for faults that happen to
// machines: a partition, a cut from clients and a loss of power.
//
// What each fault models, and what not, is in docs/FAULTS.md. The package knows no
// system; of disks and packets it knows what internal/disk and internal/firewall
// give it.
package fault
