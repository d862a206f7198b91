// Package firewall isolates servers on this machine from one another or from their
// clients, although all of them share one loopback interface.
//
// The processes of each member run under a group of their own (process.Spec.Group), so
// the kernel knows the sender, and listen on hosts of their own. A packet from one
// member to another's host is dropped when it is sent. An answer on an accepted
// connection goes to the client's host, mostly 127.0.0.1. So the connections that
// exist when a rule is made are found and dropped in both directions by their
// addresses and ports; new connections cannot be opened.
//
// The rules are in an nftables table that is added and removed as a whole. The caller chooses its
// name, so a table that a killed process left can be found. Nothing else of the machine's rules is
// read or changed. It needs root and Linux; Check says what is missing.
package firewall
