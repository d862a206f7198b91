// Package zookeeper starts a ZooKeeper server beside the servers of a system that needs
// one, such as servers that elect their leader through it.
//
// It starts one server, which is a single point of failure: while it is down, its clients elect
// nothing. It syncs its log before it answers. Clients need no password: the server listens on a
// loopback address, and holds addresses and no messages.
package zookeeper
