// Package testbed starts and owns clusters: their data directories, their lives and
// their ends. Their servers are on this machine, or on Hosts, each of which has a testbed
// of its own for its part.
//
// Up starts a cluster that ends with Close, and so with this process. Detach starts a
// cluster that outlives this process: another process, which calls Own, starts the
// cluster, writes down how to reach it, and ends on request (Down) or when its
// directory vanishes. List returns the clusters that are up; Kill ends one server of
// such a testbed and Start brings it back. The system.Provisioner starts the servers
// of both kinds, so servers that live inside a process can stay up as well as servers
// that are processes.
//
// It promises that nothing survives Close and Down, that an interrupted Detach leaves
// nothing, and that the next Up, Detach, List or Down on the same base directory, and
// the next Sweep of any, removes what a killed owner left behind, and nothing else. It
// knows no system.
// system/process ends the servers of a killed owner.
//
// A base directory holds
//
//	.testbed/lock         held while directories are made or removed
//	.testbed/<id>/lock    held by the owner as long as it lives
//	.testbed/<id>/data    the servers' data
//
// where <id> is a number for testbeds of Up, and the name for those of Detach,
// which have besides
//
//	logs/        each server's log
//	owner.log    what the owner itself printed
//	state.json its owner, its phase and its servers
//	control      the socket at which the owner takes Kill and Start
//	target.yaml  the target that names it to plimsoll run, with absolute paths
//	secrets/ user and password, each in a file that only its owner may read
//
// The locks are flock(2)'s: the kernel drops them when their holder dies. Detach takes
// the lock of a testbed and passes it to the owner, so the testbed is locked at every
// moment. No process is sent a signal unless the lock shows that it is the owner.
//
// # Owners
//
// The process that starts a cluster owns it: plimsoll run itself, or, for testbed up
// and --keep, a supervisor process. A system whose servers come as a library runs each of
// them as a process of plimsoll itself (system.NodeServer), which reads its configuration
// from standard input.
//
// The owner starts a node that comes back (system.Restarter). Observers recognise a
// server by its command line, whoever started it, so a server that your own supervisor
// restarts is observed too.
//
// # A fault is always undone
//
// A fault's traces can be found without the process that injected it: mounts below the testbed's
// directory, a firewall table whose name is written there before the table is created, loop
// devices that detach themselves. Removing the directory removes them too (undo), so the next
// command removes what a killed owner left.
package testbed
