// Package driver is the kit for drivers of messaging systems. It holds the parts that
// several drivers share and knows no system.
//
// # The servers
//
// A Servers starts a cluster of child processes, on this machine or on the machines of a
// system.Site, which the driver does not see. The driver
// gives it a build function, which describes one cluster with the methods of
// Cluster:
//
//	Add, AddHelper    a node: its name, its address, its folder, its log
//	Encrypt           certificates for the nodes, signed by an authority of the cluster
//	RunAs             the user of servers that refuse to run as root
//	SetCredentials    the credentials of the clients
//	Secure            credentials and certificates, as the setting security asks for them
//	Furnish           a node's folder: configuration files, certificates, empty folders
//	Run               runs a program, which must end before a server starts
//	Launch            a stage: servers that start together and stop together
//	LaunchInTurn      a stage whose servers start one after another
//	KeyStore          a node's key and certificate for Java, in PKCS #12
//	Await, AwaitEach  until the servers answer
//	Once              what a client of the new servers does once
//	Addresses, Hosts, FreePorts, Secret, Random   in place of the driver's own
//
// BuildAt makes a build function for servers that only need addresses. Self and NodeConfig are for
// nodes that are processes of this program.
//
// Where a Site has several machines, each runs the same build function: so it may depend on its
// request and on these methods only, and takes the same steps everywhere (docs/design/lab.md).
//
// The kit guarantees of every provisioned cluster:
//
//   - A server dies with its owner (see system/process).
//   - A failed start leaves nothing but the logs, and its error quotes the end of
//     a log.
//   - A start is retried when another process took an address.
//   - A node keeps all of its data in the folder of its name below the data
//     directory, so that each node's power can be cut.
//   - A node that was killed restarts at its address, with its data.
//   - Passwords and keys are in files that only their owner may read, and in no
//     argument and no environment variable.
//
// Java starts servers that run on the Java virtual machine. ServerSettings, AlreadyRunning,
// CheckRanges, Copies and Problems treat the settings that shape servers.
//
// # The clients
//
//	Clients, Closing   the open clients of a cluster; each closes once
//	Slots, Flight      a producer's bounded messages in flight, each with one result
//	Batches            a producer's queue and its batches, one of which is under way
//	Lanes              a producer's Batches, if it sends to several servers or queues
//	Receiver           runs a consumer's loop, and hands its messages to Receive
//	Groups, Shares     subscriptions, and the partitions of each consumer
//	Made               what is made once, such as a subscription's groups
//	Reading            facts that servers report, compared with the durability level
//	Dial, DialAny      a connection, with TLS where the target asks for it
//	Peer, Outcome,     the meaning of a refusal, of a connection and of a message
//	Broken
//	AskAll, DoAll      a question to every server at once
//	API, GetPlain,     requests to servers over HTTP, in JSON
//	NewHTTPClient
//	Until, Retry,      retries that end with their context, or with a producer's life
//	Resend
//	Signal             wakes a goroutine, which looks by itself at what there is to do
package driver
