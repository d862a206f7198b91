// Package driver is the kit that drivers of messaging systems are built with:
// what each of them would otherwise write again. It knows no system.
//
// # The servers
//
// A Servers starts a cluster of child processes on this machine. The driver
// gives it a build function, which describes one cluster with the methods of
// Cluster:
//
//	Add, AddHelper    a node: its name, its address, its folder, its log
//	Encrypt           certificates for the nodes, signed by an authority of the cluster
//	SetCredentials    what clients show
//	Furnish           a node's folder: configuration files, certificates, empty folders
//	Run               a program that must end before a server starts
//	Launch            one stage: servers that start together, and stop together
//	Await, AwaitEach  until the servers answer
//
// The kit guarantees what every provisioned cluster must keep:
//
//   - A server dies with its owner (see internal/process).
//   - A failed start leaves nothing but the logs, and its error quotes the end of
//     a log.
//   - A start is tried again when another process took an address.
//   - A node keeps all of its data in the folder of its name below the data
//     directory, so that the power of each node can be cut.
//   - A node that was killed starts again at its address, on its data.
//   - Passwords and keys are in files that only their owner may read. They are in no
//     argument and no environment.
//
// Java starts servers that run on the Java virtual machine. ServerSettings and
// AlreadyRunning treat the settings that shape such servers.
//
// # The clients
//
//	Clients, Closing   what a cluster has opened; each client closes once
//	Slots, Flight      a producer's messages in flight, bounded, until each was told its end
//	Batches            a producer's queue and the batches it is sent in, one under way at a time
//	Receiver           hands messages to a consumer's Receive until it is stopped
//	Groups, Shares     subscriptions, and which consumer has which partitions
//	Reading            facts that servers report, compared with the asked durability level
//	Dial               a connection, with TLS where the target asks for it
//	Peer, Outcome      what a refusal means, for a connection and for a message
//	API                servers that are asked over HTTP, in JSON
//	Until, Sleep       waiting that ends with its context
//
// A message costs no allocation and takes no lock but its producer's.
package driver
