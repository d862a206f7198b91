// Package firewall keeps servers of this machine from reaching one another, or
// their clients from reaching them, though all of them share one loopback
// interface.
//
// What tells them apart: each member's processes run under a group of their own
// (process.Spec.Group), by which the kernel knows who sends, and listen on hosts
// of their own. Packets of one that are for another's hosts are dropped as they
// are sent. What a server answers on a connection that it accepted goes to
// whatever host its client has, mostly 127.0.0.1, so the connections that there
// are when a rule is made are found, and dropped both ways by their four
// numbers; new ones do not come about.
//
// The rules stand in an nftables table, which is put there and removed whole and
// has a name of the caller's, by which what a killed process left can be found.
// Nothing else of the machine's rules is read or changed. It takes root, and
// Linux; Check says what is missing.
package firewall
