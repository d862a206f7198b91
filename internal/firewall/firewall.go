package firewall

import "net/netip"

// Member is a server: the group that its processes run under, and the addresses that it
// listens on.
type Member struct {
	Group int
	Hosts []netip.Addr // IPv4, and of no other server
}

// block is a rule that drops packets of groups to addresses.
type block struct {
	groups []int
	others bool // drops packets of all groups but these
	to     []netip.Addr
}

// flow is one direction of a connection.
type flow struct{ from, to netip.AddrPort }

// separate returns the blocks that keep the sides from reaching one another.
func separate(sides [][]Member) []block {
	var all []block
	for i, from := range sides {
		for j, to := range sides {
			if i != j {
				all = append(all, block{groups: groupsOf(from), to: hostsOf(to)})
			}
		}
	}
	return all
}

func groupsOf(members []Member) (all []int) {
	for _, m := range members {
		all = append(all, m.Group)
	}
	return all
}

func hostsOf(members []Member) (all []netip.Addr) {
	seen := map[netip.Addr]bool{}
	for _, m := range members {
		for _, h := range m.Hosts {
			if !seen[h] {
				seen[h], all = true, append(all, h)
			}
		}
	}
	return all
}

// connection is an established connection as one of its ends sees it. A connection within
// this machine has two.
type connection struct {
	local, remote netip.AddrPort
	group         int // of the local end's owner; 0: none of the given groups
}

// across returns both directions of the connections between two sides.
func across(sides [][]Member, all []connection) []flow {
	sideOf := map[int]int{}
	for i, side := range sides {
		for _, g := range groupsOf(side) {
			sideOf[g] = i + 1
		}
	}
	return between(all, func(a, b int) bool {
		return sideOf[a] > 0 && sideOf[b] > 0 && sideOf[a] != sideOf[b]
	})
}

// outside returns both directions of the connections between members and processes that
// are in none of the groups.
func outside(members []Member, groups []int, all []connection) []flow {
	member, known := map[int]bool{}, map[int]bool{0: false}
	for _, g := range groupsOf(members) {
		member[g] = true
	}
	for _, g := range groups {
		known[g] = true
	}
	return between(all, func(a, b int) bool { return member[a] && !known[b] })
}

// between returns both directions of the connections whose two groups apart selects. Either
// order of the groups suffices.
func between(all []connection, apart func(a, b int) bool) []flow {
	type ends struct{ local, remote netip.AddrPort }
	groups := map[ends]int{}
	for _, c := range all {
		groups[ends{c.local, c.remote}] = c.group
	}
	var flows []flow
	seen := map[flow]bool{}
	for _, c := range all {
		if !apart(c.group, groups[ends{c.remote, c.local}]) {
			continue
		}
		for _, f := range []flow{{c.local, c.remote}, {c.remote, c.local}} {
			if !seen[f] {
				seen[f], flows = true, append(flows, f)
			}
		}
	}
	return flows
}
