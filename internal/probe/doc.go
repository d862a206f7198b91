// Package probe tries a messaging system's capabilities on a live cluster: the distribution of
// messages to consumers, their order, repeated delivery, and the fate of a message that no
// consumer received.
//
// Each probe is written once, against system.Cluster. What only code for one system could try is
// not tried: the system's description states it with its source, and the finding says so. The
// answer is yes, no, or conditional with the
// condition, always with evidence: the messages sent and received. When the attempt itself
// fails, the answer is "unknown", with the error.
//
// It promises that every probe ends within its limit and deletes the topics that it created. It
// does not promise that a yes holds under every load: a probe sends some dozens of messages, and
// its answer is about these.
//
// A probe simulates a consumer's death by closing it, without time to finish, while it handles a
// message. The servers see its connections end, as after the death of a process. Machines that
// vanish from the network are not tried.
//
// observed.json has the results of the last `make probes`, for commands that only print them.
//
// "No" needs evidence: messages that showed it, a *system.NotSupported with the error of the server
// or the library, or a statement with its source. Any other error is "unknown".
package probe
