// Package admission keeps peers that have not authenticated from occupying a server.
//
// A listener of Bound accepts every connection at once. Each connection is a stranger until the
// server calls Authenticated for it. Strangers are bounded in number, for each remote address and
// together with all others, and in time. Where a connection would exceed a number, the listener
// closes the oldest stranger, so a peer that authenticates without delay gets a place however many
// idle connections others hold. It closes the new connection only where every place belongs to an
// authenticated peer.
//
// A connection costs a timer until it is authenticated.
package admission
