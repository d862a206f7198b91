// Package probe tries, on a live cluster, what a messaging system does that no figure
// shows: the distribution of messages to consumers, their order, repeated delivery,
// and the fate of a message that no consumer took.
//
// Each probe is written once, against system.Cluster and the capabilities of package
// system; the parts of a system stand in systems/NAME. Its answer is yes, no, or
// conditional with the condition, always with the evidence: what was sent and what
// came back. An error of the attempt itself is "unknown", with the error.
//
// It promises that every probe ends within its limit and deletes the topics it
// made. It does not promise that a yes holds under every load: a probe sees some
// dozens of messages, and what it saw is what it says.
//
// A consumer's death is tried as its closing without time to finish, over a
// message that it is handling. The servers see its connections end, as they do
// when a process dies; a machine that vanishes without a word is not tried.
//
// observed.json is what the last `make probes` saw, for those who only want to
// read.
//
// "No" needs evidence: a *system.NotSupported that holds the words of the server or
// the library or names what the protocol has instead, or messages that showed it. Any
// other error is "unknown".
package probe
